package import Foundation

/// Compression by the zlib that the loading system has loaded into the process: found by name, so that no package and
/// no header of it is needed to build.
package enum Deflate {
  /// What stands round the compressed bytes, as zlib's number of bits for its window says it.
  package enum Format: Int32, Sendable {
    /// Nothing (RFC 1951): what some call `deflate`.
    case raw = -15
    /// RFC 1950: what HTTP calls `deflate`.
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
    var state: OpaquePointer?
    var allocate: OpaquePointer?
    var release: OpaquePointer?
    var context: OpaquePointer?
    var kind: Int32 = 0
    var sum: UInt = 0
    var reserved: UInt = 0
  }

  private typealias Step = @convention(c) (UnsafeMutableRawPointer, Int32) -> Int32
  private typealias End = @convention(c) (UnsafeMutableRawPointer) -> Int32

  private struct Functions {
    let beginDeflating:
      @convention(c) (
        UnsafeMutableRawPointer, Int32, Int32, Int32, Int32, Int32, UnsafePointer<CChar>, Int32
      ) -> Int32
    let deflate: Step
    let endDeflating: End
    let beginInflating: @convention(c) (UnsafeMutableRawPointer, Int32, UnsafePointer<CChar>, Int32) -> Int32
    let inflate: Step
    let resetInflating: End
    let endInflating: End

    init?(of library: String?) {
      guard let handle = dlopen(library, RTLD_LAZY), let beginDeflating = dlsym(handle, "deflateInit2_"),
        let deflate = dlsym(handle, "deflate"), let endDeflating = dlsym(handle, "deflateEnd"),
        let beginInflating = dlsym(handle, "inflateInit2_"), let inflate = dlsym(handle, "inflate"),
        let resetInflating = dlsym(handle, "inflateReset"), let endInflating = dlsym(handle, "inflateEnd")
      else { return nil }
      self.beginDeflating = unsafeBitCast(beginDeflating, to: type(of: self.beginDeflating))
      self.deflate = unsafeBitCast(deflate, to: Step.self)
      self.endDeflating = unsafeBitCast(endDeflating, to: End.self)
      self.beginInflating = unsafeBitCast(beginInflating, to: type(of: self.beginInflating))
      self.inflate = unsafeBitCast(inflate, to: Step.self)
      self.resetInflating = unsafeBitCast(resetInflating, to: End.self)
      self.endInflating = unsafeBitCast(endInflating, to: End.self)
    }
  }

  // Foundation's own reading of gzip needs the library; by name in case the linker kept it private.
  private static let functions =
    ([nil, "libz.so.1", "libz.dylib"] as [String?]).lazy.compactMap { Functions(of: $0) }.first
  private static let size = Int32(MemoryLayout<Stream>.size)

  /// Whether the process has zlib.
  package static var isAvailable: Bool { functions != nil }

  /// The compressed form, if it has no more than so many bytes.
  package static func compressed(_ bytes: Data, as format: Format = .zlib, room: Int? = nil) -> Data? {
    // What cannot be compressed grows by five bytes in sixteen thousand.
    let room = room ?? bytes.count + bytes.count / 1000 + 64
    var stream = Stream()
    guard let functions, let inputCount = UInt32(exactly: bytes.count), let outputCount = UInt32(exactly: room),
      functions.beginDeflating(&stream, 6, 8, format.rawValue, 8, 0, "1", size) == 0
    else { return nil }
    defer { _ = functions.endDeflating(&stream) }
    var result = Data(count: room)
    let status = result.withUnsafeMutableBytes { target in
      bytes.withUnsafeBytes { source in
        (stream.input, stream.inputCount) = (source.bindMemory(to: UInt8.self).baseAddress, inputCount)
        (stream.output, stream.outputCount) = (target.bindMemory(to: UInt8.self).baseAddress, outputCount)
        return functions.deflate(&stream, 4)
      }
    }
    return status == 1 ? result.prefix(room - Int(stream.outputCount)) : nil
  }

  /// The original, if it is whole and has no more than so many bytes.
  package static func inflated(_ bytes: Data, as format: Format = .zlib, limit: Int) -> Data? {
    var stream = Stream()
    guard let functions, let inputCount = UInt32(exactly: bytes.count), limit < Int(Int32.max),
      functions.beginInflating(&stream, format.rawValue, "1", size) == 0
    else { return nil }
    defer { _ = functions.endInflating(&stream) }
    var (result, count) = (Data(count: min(limit + 1, max(4 * bytes.count, 128 << 10))), 0)
    return bytes.withUnsafeBytes { source in
      (stream.input, stream.inputCount) = (source.bindMemory(to: UInt8.self).baseAddress, inputCount)
      while true {
        let status = result.withUnsafeMutableBytes { target in
          let rest = target.bindMemory(to: UInt8.self)[count...]
          (stream.output, stream.outputCount) = (
            UnsafeMutableBufferPointer(rebasing: rest).baseAddress, UInt32(rest.count)
          )
          return functions.inflate(&stream, 0)
        }
        count = result.count - Int(stream.outputCount)
        if status == 1 {
          // RFC 1952, section 2.2: members may follow each other.
          guard format == .gzip, stream.inputCount > 0, stream.input?.pointee == 0x1F else {
            return count <= limit ? result.prefix(count) : nil
          }
          guard functions.resetInflating(&stream) == 0 else { return nil }
        } else {
          guard status == 0 || status == -5, stream.outputCount == 0, count <= limit else { return nil }
          result.count = min(limit + 1, 2 * count)
        }
      }
    }
  }
}
