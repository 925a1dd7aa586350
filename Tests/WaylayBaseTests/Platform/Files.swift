import Foundation

/// An access control list of Linux, by which a user may read a file.
struct AccessList: Equatable {
  private let bytes: [UInt8]

  init(user: UInt32) {
    func entry(_ tag: UInt16, _ rights: UInt16, _ id: UInt32 = .max) -> [UInt8] {
      withUnsafeBytes(of: tag.littleEndian) { Array($0) } + withUnsafeBytes(of: rights.littleEndian) { Array($0) }
        + withUnsafeBytes(of: id.littleEndian) { Array($0) }
    }
    // The version; owner, user, group, mask, others.
    bytes = [2, 0, 0, 0] + entry(1, 6) + entry(2, 4, user) + entry(4, 4) + entry(0x10, 4) + entry(0x20, 0)
  }

  #if os(Linux)
    /// The list of a file, if it has one.
    init?(of path: String) {
      var bytes = [UInt8](repeating: 0, count: 1000)
      let count = getAttribute(path, "system.posix_acl_access", &bytes, bytes.count)
      guard count >= 0 else { return nil }
      self.bytes = Array(bytes.prefix(count))
    }

    static let isSupported: Bool = {
      guard let folder = try? Folder() else { return false }
      return AccessList(user: 1).set(folder.path)
    }()

    @discardableResult
    func set(_ path: String) -> Bool { setAttribute(path, "system.posix_acl_access", bytes, bytes.count, 0) == 0 }

    /// Has files that are made in a folder begin with the list.
    func setDefault(_ path: String) { _ = setAttribute(path, "system.posix_acl_default", bytes, bytes.count, 0) }
  #else
    init?(of path: String) { nil }

    static let isSupported = false

    @discardableResult
    func set(_ path: String) -> Bool { false }

    func setDefault(_ path: String) {}
  #endif
}

#if os(Linux)
  // <sys/xattr.h>, which the module of the C library leaves out.
  @_silgen_name("getxattr")
  private func getAttribute(
    _ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>, _ value: UnsafeMutableRawPointer, _ size: Int
  ) -> Int
  @_silgen_name("setxattr")
  private func setAttribute(
    _ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>, _ value: UnsafeRawPointer, _ size: Int, _ flags: Int32
  ) -> Int32
#endif

extension Folder {
  /// Makes a socket with a name, and returns its descriptor.
  static func socket(_ path: String) -> Int32 {
    #if canImport(Darwin)
      let socket = Foundation.socket(AF_UNIX, SOCK_STREAM, 0)
    #else
      let socket = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return socket
  }
}
