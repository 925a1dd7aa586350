/// An address to which a request for a host may be sent, with its source.
public struct HostCandidate: Hashable, Sendable, CustomStringConvertible {
  /// The address.
  public let address: HostAddress
  /// The port to dial.
  public let port: Int
  /// The source of the address: `rule`, or a resolver.
  public let source: String
  /// The age of the resolver's answer; `nil` for an address from a rule.
  public let age: Duration?
  /// Whether the answer has expired, and is used because there is no newer one (RFC 8767).
  public let isStale: Bool

  /// Makes a candidate.
  public init(_ address: HostAddress, port: Int, source: String, age: Duration? = nil, isStale: Bool = false) {
    self.address = address
    self.port = port
    self.source = source
    self.age = age
    self.isStale = isStale
  }

  /// Address and port.
  public var description: String { endpoint.description }

  /// The address and the port, without the source.
  var endpoint: HostEndpoint { HostEndpoint(address, dialing: port) }
}

/// An attempt to get a response, from an address or by the system fallback.
///
/// Events and errors list them: see ``HostEvent`` and ``HostError/attempts``.
public struct HostAttempt: Sendable {
  /// The address; `nil` for the system fallback.
  public let candidate: HostCandidate?
  /// The outcome.
  public let outcome: OpenEnum<HostAttempt>
  /// The start, relative to the request's arrival at the rewriter.
  public let start: Duration
  /// The time until the outcome was known.
  public let duration: Duration
  /// The error, if any.
  public let error: (any Error)?

  /// Makes an attempt.
  public init(
    _ candidate: HostCandidate?, _ outcome: OpenEnum<HostAttempt>, start: Duration, duration: Duration,
    error: (any Error)? = nil
  ) {
    self.candidate = candidate
    self.outcome = outcome
    self.start = start
    self.duration = duration
    self.error = error
  }

  /// Whether the response looks like that of a server that the host's owner does not control.
  public var isSuspectedHijack: Bool { outcome.isSuspectedHijack }
}

extension HostAttempt: CustomStringConvertible {
  /// Address, source, outcome, time and the transport's message, on one line.
  public var description: String {
    let place = candidate.map { "\($0) (\($0.source))" } ?? "the system's resolver"
    let words = ((error as? TransportError)?.message ?? (error as? HostError)?.message).map { " (\($0))" } ?? ""
    return "\(place): \(outcome) after \(duration.milliseconds) ms\(words)"
  }
}

extension Duration {
  /// Milliseconds with one digit after the point, as tables and logs show them.
  var milliseconds: String {
    let tenths = components.seconds * 10_000 + components.attoseconds / 100_000_000_000_000
    return "\(tenths / 10).\(abs(tenths % 10))"
  }
}

extension OpenEnum where Domain == HostAttempt {
  /// Classifies an error as a fault of the address; `nil` if the request itself is at fault and no other address would
  /// help.
  init?(_ error: any Error) {
    guard let error = error as? TransportError else { return nil }
    switch error.code {
    case .refused: self = .refused
    case .unreachable, .hostNotFound: self = .unreachable
    case .timedOut: self = error.requestBytesSent == 0 ? .timedOut : .silent
    case .reset: self = .closed
    case let code where code.isCertificate:
      self = Self.trustFailures.contains(error.urlErrorCode) ? .certificateUntrusted : .certificateRefused
    case .handshakeFailed: self = .handshakeFailed
    case .notTLS, .protocolViolation: self = .protocolMismatch
    case .unknown where error.urlErrorCode == .unknown && (error.phase == .connecting || error.phase == .securing):
      self = .closed
    default: return nil
    }
  }

  /// The certificate failures that may be due to this machine: an authority that it does not know, or its clock.
  private static let trustFailures: Set<URLError.Code> = [
    .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
  ]
}

extension OpenEnum where Domain == HostAttempt {
  /// The attempt responded to the request.
  public static var responded: Self { Self("responded") }
  /// Another address connected first; nothing was sent to this one.
  public static var superseded: Self { Self("superseded") }
  /// A concurrent request found the address bad or late; nothing was sent to it.
  public static var skipped: Self { Self("skipped") }
  /// The connection was refused.
  public static var refused: Self { Self("refused") }
  /// There was no route to the address.
  public static var unreachable: Self { Self("unreachable") }
  /// The connection, TLS included, was not open in time.
  public static var timedOut: Self { Self("timed out") }
  /// The connection was closed or reset.
  public static var closed: Self { Self("closed") }
  /// The request was sent and nothing came back (plain `http` only).
  public static var silent: Self { Self("silent") }
  /// The TLS handshake failed.
  public static var handshakeFailed: Self { Self("TLS failed") }
  /// The certificate is not valid for this host.
  public static var certificateRefused: Self { Self("certificate refused") }
  /// The certificate cannot be verified here: its authority is not trusted, or it has expired or is not valid yet.
  static var certificateUntrusted: Self { Self("certificate not trusted") }
  /// The peer does not speak the protocol.
  public static var protocolMismatch: Self { Self("protocol mismatch") }
  /// The response check rejected the response.
  public static var responseRejected: Self { Self("response rejected") }
  /// The attempt was still in progress when the request's own timeout expired; see `HostError.timedOut`.
  public static var unfinished: Self { Self("not finished") }
  /// The attempt failed in a way that does not count against the address.
  public static var failed: Self { Self("failed") }

  /// Whether the outcome looks like the response of a server that the host's owner does not control.
  public var isSuspectedHijack: Bool {
    self == .certificateRefused || self == .protocolMismatch || self == .responseRejected
  }

  /// Whether the outcome concerns the address for every host.
  var isOfAddress: Bool { [.refused, .unreachable, .timedOut].contains(self) }

  /// Whether the outcome counts against the address.
  var isAddressFault: Bool { ![.responded, .superseded, .skipped, .unfinished, .failed].contains(self) }
}
