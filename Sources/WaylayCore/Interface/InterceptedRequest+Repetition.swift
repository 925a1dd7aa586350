import HTTPTypes

extension InterceptedRequest {
  /// Whether its method asks for nothing to be changed, so that two servers may have it at once (RFC 9110, section 9.2.1).
  package var isSafe: Bool { [.get, .head, .options, .trace].contains(method) }

  /// Whether its method may be sent again though it may have been acted on (RFC 9110, section 9.2.2).
  package var isIdempotent: Bool { isSafe || [.put, .delete].contains(method) }
}
