import HTTPTypes

extension InterceptedRequest {
  /// Whether the request's method is safe, so that two servers may receive it at once (RFC 9110, section 9.2.1): GET,
  /// HEAD, OPTIONS and TRACE.
  public var isSafe: Bool { [.get, .head, .options, .trace].contains(method) }

  /// Whether the request may be sent again even if the server may have processed it (RFC 9110, section 9.2.2): the safe
  /// methods, PUT and DELETE.
  ///
  /// ``MessageBody/isReplayable`` tells whether the body can be sent again.
  public var isIdempotent: Bool { isSafe || [.put, .delete].contains(method) }
}
