import Foundation

/// Where a request connects: one address to dial in place of those that the URL's host resolves to.
///
/// The URL stays unchanged, and with it the `Host` field, the TLS server name, the name that the certificate is
/// verified against, cookies, redirects and errors. A route determines only where the socket connects.
///
/// ```swift
/// struct Dial: RequestInterceptor {
///   let address: String
///
///   func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
///     var request = request
///     request.route = try Route(address)
///     return try await next(request)
///   }
/// }
/// ```
///
/// A route is bound to the host and port of the request's URL at the time you set it: if a later interceptor changed
/// the URL's host, the request would otherwise reach an address meant for another host. Such a request is not sent, and
/// fails with `WaylayError.routeMismatch`, unless the interceptor removes the route or sets another.
///
/// A transport without ``TransportCapabilities/routes`` fails a request with a route instead of dialing another
/// address. To try several addresses, call `next` with one after the other. A redirect starts without a route.
public struct Route: Sendable, Hashable, Changeable {
  /// The address to dial: an IPv4 or IPv6 literal, without brackets.
  public let address: String
  /// The port to dial; `nil` for the URL's.
  public let port: Int?
  /// The gate that lets one of several attempts through.
  package private(set) var gate: DialGate?
  /// How long opening the connection may take, TLS included, before the attempt fails with `timedOut` and nothing sent;
  /// `nil` uses the transport's own timeout. A connection that is already open takes no time.
  public let connectTimeout: Duration?
  /// Called when the connection is open and verified, on a thread of the transport, before the attempt claims the gate;
  /// without a gate it is not called.
  package var onConnected: (@Sendable () -> Void)?
  /// Called when the attempt takes a connection or begins to open one, on a thread of the transport: until then it waits
  /// for a free one. Transports with gates call it.
  package var onBegin: (@Sendable () -> Void)?
  /// The host and port that the route is bound to; `nil` until the route is set on a request.
  private(set) var owner: Owner?
  /// Whether the attempt opens a new connection instead of reusing one.
  package var opensNewConnection = false
  /// Called when this side ends the attempt. Returns whether the attempt's connection, which has received nothing, is
  /// presumed dead.
  package var isPresumedDead: (@Sendable () -> Bool)?

  /// Makes a route.
  ///
  /// - Throws: `WaylayError.invalidRequest` for text that is not an address literal, such as a name, and for an
  ///   invalid port.
  public init(_ address: String, port: Int? = nil, connectTimeout: Duration? = nil) throws {
    try self.init(address, port: port, gate: nil, connectTimeout: connectTimeout)
  }

  /// Makes a route with a gate.
  package init(_ address: String, port: Int? = nil, gate: DialGate?, connectTimeout: Duration? = nil) throws {
    var bytes = in6_addr()
    guard inet_pton(AF_INET, address, &bytes) == 1 || inet_pton(AF_INET6, address, &bytes) == 1 else {
      throw WaylayError(
        .invalidRequest,
        "\"\(address)\" is not an IP address: a route needs a literal such as 203.0.113.7 or 2001:db8::7.")
    }
    guard port.map({ (1...65535).contains($0) }) ?? true else {
      throw WaylayError(.invalidRequest, "\(port ?? 0) is not a port: use 1 to 65535.")
    }
    self.address = address
    self.port = port
    self.gate = gate
    self.connectTimeout = connectTimeout
  }

  /// Whether both routes lead to the same address and port, through the same gate, with the same timeout; the host they
  /// are bound to does not matter.
  public static func == (one: Route, other: Route) -> Bool {
    one.address == other.address && one.port == other.port && one.gate === other.gate
      && one.connectTimeout == other.connectTimeout
  }

  /// Hashes the address and port.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(address)
    hasher.combine(port)
  }
}

extension Route {
  /// A host and port, as the URL of a request names them.
  struct Owner: Sendable, Hashable, CustomStringConvertible {
    private let host: String
    private let port: Int?

    init(_ url: URL) {
      host = (url.host ?? "").lowercased()
      port = url.portOrDefault
    }

    var description: String { (host.contains(":") ? "[\(host)]" : host) + (port.map { ":\($0)" } ?? "") }
  }

  /// The same route without its gate, which the gate itself may hold.
  var withoutGate: Route { with { $0.gate = nil } }

  /// The same route for the host of a URL, whatever host it was for.
  func bound(to url: URL) -> Route { with { $0.owner = Owner(url) } }
}

/// A route is a note on a request: `request[Route.self]` is ``InterceptedRequest/route``.
extension Route: InterceptedRequest.Key {
  /// A request without a route dials the addresses that its host resolves to.
  public static let defaultValue: Route? = nil
}

extension InterceptedRequest {
  /// Where the request connects; `nil` for any address that the URL's host resolves to.
  ///
  /// Setting the route binds it to the host and port of the request's current URL.
  public var route: Route? {
    get { self[Route.self] }
    set { self[Route.self] = newValue }
  }
}

/// Lets one of several attempts send the request: the first whose connection is open and, with TLS, verified.
///
/// Give the routes of concurrent `next` calls the same gate. The first attempt to claim it sends the request; the
/// others end before they send a byte, with a ``TransportError`` whose ``TransportError/requestBytesSent`` is zero. An
/// attempt that fails before it has sent anything releases the gate; one that has sent something keeps it. A gate
/// serves the attempts of one request; use a new gate for the next request.
package final class DialGate: Sendable {
  /// The identity with which an attempt claims the gate. The gate retains it, so that no later attempt can have the
  /// same one.
  package final class Ticket: Sendable {
    let route: Route?

    package init(_ route: Route? = nil) {
      self.route = route?.withoutGate
    }
  }

  private struct Owner {
    let ticket: Ticket
    let isOnKeptConnection: Bool
  }

  private let owner = Locked<Owner?>(nil)

  /// Makes an unclaimed gate.
  package init() {}

  /// Whether an attempt has claimed the gate.
  package var isClaimed: Bool { owner.withLock { $0 != nil } }

  /// The route of the attempt that has claimed the gate, if any.
  package var claimedRoute: Route? { owner.withLock { $0 }?.ticket.route }

  /// Whether the attempt that has claimed the gate reuses a connection.
  package var isClaimedOnKeptConnection: Bool { owner.withLock { $0?.isOnKeptConnection ?? false } }

  /// Claims the gate. Returns `true` for the first ticket, also if it claims again.
  package func claim(_ ticket: Ticket, isOnKeptConnection: Bool = false) -> Bool {
    ticket.route?.onConnected?()
    return owner.withLock { owner in
      owner = owner ?? Owner(ticket: ticket, isOnKeptConnection: isOnKeptConnection)
      return owner?.ticket === ticket
    }
  }

  /// Releases the gate if this ticket has claimed it.
  package func release(_ ticket: Ticket) {
    owner.withLock { if $0?.ticket === ticket { $0 = nil } }
  }

  func isClaimed(by ticket: Ticket) -> Bool { owner.withLock { $0?.ticket === ticket } }

  package func lost(to route: Route?) -> TransportError {
    TransportError(
      .cancelled, phase: .connecting, requestBytesSent: 0, address: route?.address,
      message: "another attempt of the same request connected first: nothing was sent to this address.")
  }
}
