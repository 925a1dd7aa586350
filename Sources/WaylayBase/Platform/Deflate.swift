/// Compression by the zlib that the loading system has loaded into the process: found by name, so that no package and
/// no header of it is needed to build.
package enum Deflate {
  /// The container of the compressed bytes, in zlib's encoding as a number of window bits.
  package enum Format: Int32, Sendable {
    /// None (RFC 1951); some servers call this `deflate`.
    case raw = -15
    /// RFC 1950: `deflate` in HTTP.
    case zlib = 15
    /// RFC 1952.
    case gzip = 31
  }

  /// `z_stream` of `zlib.h`.
  private struct Stream {
    var input: UnsafePointer<UInt8>?
    var inputCount: UInt32 = 0
    var inputTotal: UInt = 0
    var output: UnsafeMutablePointer<UInt8>?
    var outputCount: UInt32 = 0
    var outputTotal: UInt = 0
    var message: UnsafePointer<CChar>?
    var state, allocate, release, context: OpaquePointer?
    var kind: Int32 = 0
    var sum: UInt = 0
    var reserved: UInt = 0
  }

  private typealias Step = @convention(c) (UnsafeMutableRawPointer, Int32) -> Int32
  private typealias End = @convention(c) (UnsafeMutableRawPointer) -> Int32
  private typealias BeginDeflating =
    @convention(c) (UnsafeMutableRawPointer, Int32, Int32, Int32, Int32, Int32, UnsafePointer<CChar>, Int32) -> Int32
  private typealias BeginInflating =
    @convention(c) (UnsafeMutableRawPointer, Int32, UnsafePointer<CChar>, Int32) -> Int32

  private static let beginDeflating = function("deflateInit2_", BeginDeflating.self)
  private static let deflate = function("deflate", Step.self)
  private static let endDeflating = function("deflateEnd", End.self)
  private static let beginInflating = function("inflateInit2_", BeginInflating.self)
  private static let inflate = function("inflate", Step.self)
  private static let resetInflating = function("inflateReset", End.self)
  private static let endInflating = function("inflateEnd", End.self)

  private static func function<Function>(_ name: String, _: Function.Type) -> Function? {
    // Foundation has loaded the library, for gzip. Open it by name as well, in case its symbols are private.
    ([nil, "libz.so.1", "libz.so", "libz.dylib"] as [String?]).lazy.compactMap { dlsym(dlopen($0, RTLD_LAZY), name) }
      .first
      .map { unsafeBitCast($0, to: Function.self) }
  }

  private static let size = Int32(MemoryLayout<Stream>.size)

  /// Whether the process has zlib.
  package static var isAvailable: Bool { beginInflating != nil }

  /// The compressed bytes, if they fit into `room`.
  package static func compressed(_ bytes: Data, as format: Format = .zlib, room: Int? = nil) -> Data? {
    // Incompressible data grows by five bytes in sixteen thousand.
    let room = room ?? bytes.count + bytes.count / 1000 + 64
    var stream = Stream()
    guard let beginDeflating, let deflate, let endDeflating, let inputCount = UInt32(exactly: bytes.count),
      let outputCount = UInt32(exactly: room), beginDeflating(&stream, 6, 8, format.rawValue, 8, 0, "1", size) == 0
    else { return nil }
    defer { _ = endDeflating(&stream) }
    var result = Data(count: room)
    let status = result.withUnsafeMutableBytes { target in
      bytes.withUnsafeBytes { source in
        (stream.input, stream.inputCount) = (source.bindMemory(to: UInt8.self).baseAddress, inputCount)
        (stream.output, stream.outputCount) = (target.bindMemory(to: UInt8.self).baseAddress, outputCount)
        return deflate(&stream, 4)
      }
    }
    return status == 1 ? result.prefix(room - Int(stream.outputCount)) : nil
  }

  /// The decompressed bytes, if the data is complete and they do not exceed `limit`.
  package static func inflated(_ bytes: Data, as format: Format = .zlib, limit: Int) -> Data? {
    let inflater = Inflater(format)
    return inflater.next(bytes, limit: limit).flatMap { inflater.isOver ? $0 : nil }
  }

  /// Decompresses data piece by piece.
  package final class Inflater {
    /// Allocated, because zlib keeps the address.
    private let stream = UnsafeMutablePointer<Stream>.allocate(capacity: 1)
    private let format: Format
    /// Whether the compressed data so far is complete.
    package private(set) var isOver = false

    package init(_ format: Format) {
      self.format = format
      stream.initialize(to: Stream())
      _ = Deflate.beginInflating?(stream, format.rawValue, "1", Deflate.size)
    }

    deinit {
      _ = Deflate.endInflating?(stream)
      stream.deallocate()
    }

    /// Decompresses the next bytes; `nil` if they are damaged, or if the result exceeds `limit`.
    package func next(_ bytes: Data, limit: Int) -> Data? {
      guard let inflate = Deflate.inflate, let reset = Deflate.resetInflating, limit < Int(Int32.max),
        let inputCount = UInt32(exactly: bytes.count)
      else {
        return nil
      }
      var (result, count) = (Data(count: min(limit + 1, max(4 * bytes.count, 128 << 10))), 0)
      return bytes.withUnsafeBytes { source in
        (stream.pointee.input, stream.pointee.inputCount) = (source.bindMemory(to: UInt8.self).baseAddress, inputCount)
        while true {
          if isOver {
            // RFC 1952, section 2.2: members may follow each other.
            guard format == .gzip, stream.pointee.inputCount > 0, stream.pointee.input?.pointee == 0x1F else {
              return count <= limit ? result.prefix(count) : nil
            }
            guard reset(stream) == 0 else { return nil }
          }
          let status = result.withUnsafeMutableBytes { target in
            let rest = target.bindMemory(to: UInt8.self)[count...]
            (stream.pointee.output, stream.pointee.outputCount) = (
              UnsafeMutableBufferPointer(rebasing: rest).baseAddress, UInt32(rest.count)
            )
            return inflate(stream, 0)
          }
          count = result.count - Int(stream.pointee.outputCount)
          isOver = status == 1
          guard isOver || status == 0 || status == -5, count <= limit else { return nil }
          guard isOver || stream.pointee.outputCount == 0 else { return result.prefix(count) }
          if !isOver { result.count = min(limit + 1, 2 * count) }
        }
      }
    }
  }
}
