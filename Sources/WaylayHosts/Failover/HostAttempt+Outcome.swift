extension HostAttempt.Outcome {
  /// What an error says about the address that it came from; `nil` when it is the request's own fault and no other
  /// address would help.
  init?(_ error: any Error) {
    guard let error = error as? TransportError else { return nil }
    switch error.cause {
    case .refused: self = .refused
    case .unreachable, .hostNotFound: self = .unreachable
    case .timedOut: self = error.requestBytesSent == 0 ? .timedOut : .silent
    case .reset: self = .closed
    case let cause where cause.isCertificate: self = .certificateRefused
    case .handshakeFailed: self = .handshakeFailed
    case .notTLS, .protocolViolation: self = .notUnderstood
    case .unknown where error.code == .unknown && (error.phase == .connecting || error.phase == .securing):
      self = .closed
    default: return nil
    }
  }
}
