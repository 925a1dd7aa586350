import Foundation
import TestOrigin
import Testing

@Suite("The connections of a test server", .timeLimit(.minutes(1)))
struct DescriptorTests {
  @Test("are not passed on to processes that are started later, which would keep them open")
  func closeOnExec() async throws {
    let origin = try await TestOrigin.start()
    // SOCK_STREAM, which is an enumeration in some C libraries.
    let client = socket(AF_INET, 1, 0)
    var address = Self.loopback(origin.port)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(result == 0)
    await origin.until { $0.openConnectionCount == 1 }
    let port = Self.name(of: client, getsockname)
    let names = try FileManager.default.contentsOfDirectory(atPath: "/dev/fd")
    let server = names.compactMap { CInt($0) }.first { $0 != client && Self.name(of: $0, getpeername) == port }
    let flags = fcntl(try #require(server), F_GETFD)
    #expect(flags & FD_CLOEXEC != 0)
    close(client)
    await origin.stop()
  }

  private static func loopback(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  /// The port at one end of a connection.
  private static func name(
    of descriptor: CInt, _ look: (CInt, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
  ) -> in_port_t? {
    var (address, size) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { look(descriptor, $0, &size) }
    }
    return result == 0 && address.sin_family == AF_INET ? address.sin_port : nil
  }
}
