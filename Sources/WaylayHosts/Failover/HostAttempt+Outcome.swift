extension HostAttempt.Outcome {
  /// What an error says about the address that it came from; `nil` when it is the request's own fault and no other address would help.
  init?(_ error: any Error) {
    guard let error = error as? TransportError else { return nil }
    switch error.code {
    case .cannotConnectToHost: self = error.isRefusal ? .refused : .unreachable
    case .timedOut: self = error.requestBytesSent == 0 ? .timedOut : .silent
    case .networkConnectionLost: self = .closed
    case .notConnectedToInternet, .cannotFindHost, .dnsLookupFailed: self = .unreachable
    case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate, .serverCertificateNotYetValid:
      self = .certificateRefused
    case .secureConnectionFailed: self = error.isForeignProtocol ? .notUnderstood : .handshakeFailed
    case .badServerResponse: self = .notUnderstood
    case .unknown where error.phase == .connecting || error.phase == .securing: self = .closed
    default: return nil
    }
  }
}

extension TransportError {
  /// Whether somebody has refused, rather than nobody been reached.
  fileprivate var isRefusal: Bool { (underlying as? POSIXError)?.code == .ECONNREFUSED || message.contains("refused") }

  /// What answers in TLS's place is not TLS: in the words of OpenSSL and its kin.
  fileprivate var isForeignProtocol: Bool {
    ["wrong version number", "unknown protocol", "http request", "packet length", "record too"].contains { message.contains($0) }
  }
}
