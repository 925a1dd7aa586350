// What WaylayInspectorServer uses of FlyingSocks, which has a layer of its own for each system and so none that Linux has built for Apple's.
// The declarations are those of the package.

public import Darwin

public protocol AsyncBufferedSequence<Element>: AsyncSequence, Sendable
where AsyncIterator: AsyncBufferedIteratorProtocol, Element: Sendable {}

public protocol AsyncBufferedIteratorProtocol<Element>: AsyncIteratorProtocol {
  associatedtype Buffer: Collection where Buffer.Element == Element

  mutating func nextBuffer(suggested count: Int) async throws -> Buffer?
}

public protocol SocketAddress: Sendable {}

extension sockaddr_in: SocketAddress {}

extension SocketAddress where Self == sockaddr_in {
  public static func inet(ip4: String, port: UInt16) throws -> Self { fatalError() }
}

public struct Socket: Sendable, Hashable {
  public enum Address: Sendable, Hashable {
    case ip4(String, port: UInt16)
    case ip6(String, port: UInt16)
    case unix(String)
  }
}

public protocol Logging: Sendable {}

public struct DisabledLogger: Logging {}

extension Logging where Self == DisabledLogger {
  public static var disabled: Self { DisabledLogger() }
}
