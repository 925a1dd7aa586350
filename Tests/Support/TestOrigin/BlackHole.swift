import Foundation
import NIOCore

/// An address and port that take the first packet of a connection and say nothing, as a firewall that drops does: a
/// listener whose queue is full.
///
/// On Linux only: other systems answer in other ways.
public final class BlackHole: Sendable {
  private let descriptors: [CInt]

  /// Opens a black hole; the port must be free on that address.
  public init(host: String, port: Int) throws {
    let address = try SocketAddress.makeAddressResolvingHost(host, port: port)
    var descriptors = [try ClosedPort.listener(host: host, port: port)]
    do {
      guard listen(descriptors[0], 0) == 0 else { throw IOError(errnoCode: errno, reason: "listen") }
      // Two connections more than the queue holds: those after them get no answer.
      for _ in 0..<3 {
        let descriptor = socket(address.protocol.rawValue, streamSocketType, 0)
        guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        descriptors.append(descriptor)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = address.withSockAddr { Foundation.connect(descriptor, $0, socklen_t($1)) }
      }
    } catch {
      for descriptor in descriptors { Foundation.close(descriptor) }
      throw error
    }
    self.descriptors = descriptors
  }

  deinit {
    for descriptor in descriptors { Foundation.close(descriptor) }
  }
}
