#if canImport(FoundationNetworking)
  internal import CWaylayCurl
  import Foundation

  /// The certificate authorities of a transport: the system's, and those of its options.
  ///
  /// As one file and no directory, because that is what libcurl (7.87) reads once and not for every connection: it
  /// takes tens of milliseconds on the one thread of the loop. Authorities of the options are in a file in memory
  /// beside the system's.
  final class CurlAuthorities: Sendable {
    /// The file; `nil` where libcurl finds its own, or there is no file in memory.
    let path: String?
    /// What there is no file for.
    let bytes: Data?
    private let descriptor: Int32

    init(with additional: [Data]) {
      let known = waylay_curl_load() ? waylay_curl_authorities().map { String(cString: $0) } : nil
      let system: String? = if let known, access(known, R_OK) == 0 { known } else { nil }
      guard !additional.isEmpty else {
        (path, bytes, descriptor) = (system, nil, -1)
        return
      }
      var all = system.flatMap { FileManager.default.contents(atPath: $0) } ?? Data()
      for authority in additional {
        all.append(UInt8(ascii: "\n"))
        all.append(authority)
      }
      descriptor = all.withUnsafeBytes { bytes in
        bytes.baseAddress.map { waylay_curl_memory_file($0, bytes.count) } ?? -1
      }
      (path, bytes) = descriptor >= 0 ? ("/proc/self/fd/\(descriptor)", nil) : (nil, all)
    }

    deinit {
      if descriptor >= 0 { close(descriptor) }
    }
  }
#endif
