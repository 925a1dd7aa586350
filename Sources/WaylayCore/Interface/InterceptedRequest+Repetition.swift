import HTTPTypes

extension InterceptedRequest {
  /// Whether its method asks for nothing to be changed, so that two servers may have it at once (RFC 9110, section
  /// 9.2.1): GET, HEAD, OPTIONS and TRACE.
  public var isSafe: Bool { [.get, .head, .options, .trace].contains(method) }

  /// Whether its method may be sent again though it may have been acted on (RFC 9110, section 9.2.2): the safe ones,
  /// PUT and DELETE.
  ///
  /// Whether its body can be sent again says ``MessageBody/isReplayable``.
  public var isIdempotent: Bool { isSafe || [.put, .delete].contains(method) }
}
