import Foundation

/// Compression by the zlib that the loading system has loaded into the process (RFC 1950): found by name, so that no
/// package and no header of it is needed to build.
enum Deflate {
  private typealias Compress =
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt>?, UnsafeRawPointer?, UInt, Int32
    ) -> Int32
  private typealias Uncompress =
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt>?, UnsafeRawPointer?, UInt
    ) -> Int32

  private static let functions: (compress: Compress, uncompress: Uncompress)? = {
    // Foundation's own reading of gzip needs the library; by name in case the linker kept it private.
    for library in [nil, "libz.so.1", "libz.dylib"] as [String?] {
      guard let handle = dlopen(library, RTLD_LAZY), let compress = dlsym(handle, "compress2"),
        let uncompress = dlsym(handle, "uncompress")
      else { continue }
      return (unsafeBitCast(compress, to: Compress.self), unsafeBitCast(uncompress, to: Uncompress.self))
    }
    return nil
  }()

  /// Whether the process has zlib.
  static var isAvailable: Bool { functions != nil }

  /// The compressed form, when it is shorter by an eighth at least.
  static func compressed(_ bytes: Data) -> Data? {
    guard let functions, bytes.count >= 64 else { return nil }
    let room = bytes.count - bytes.count / 8
    var result = Data(count: room)
    var length = UInt(room)
    let status = result.withUnsafeMutableBytes { target in
      bytes.withUnsafeBytes { source in
        functions.compress(target.baseAddress, &length, source.baseAddress, UInt(source.count), 6)
      }
    }
    // Anything but success is lack of room: it is not worth it.
    guard status == 0 else { return nil }
    return result.prefix(Int(length))
  }

  /// The original, when it has exactly `length` bytes.
  static func inflated(_ bytes: Data, length: Int) -> Data? {
    guard let functions, length > 0 else { return nil }
    var result = Data(count: length)
    var written = UInt(length)
    let status = result.withUnsafeMutableBytes { target in
      bytes.withUnsafeBytes { source in
        functions.uncompress(target.baseAddress, &written, source.baseAddress, UInt(source.count))
      }
    }
    return status == 0 && written == UInt(length) ? result : nil
  }
}
