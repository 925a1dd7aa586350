public import WaylayCore

/// An interceptor that signs requests to certain hosts.
///
/// ```swift
/// RequestSigner(for: .host("api.example.com")) { request in
///   request.fields[.authorization] = try await vault.signature(of: request.body.collect(upTo: 1 << 20))
/// }
/// ```
///
/// The signer may read a body that is data, a file or a replayable stream; it is read again when it is sent. A body
/// that can be read only once cannot be signed, and its load fails with `WaylayError.bodyConsumed`.
///
/// Put it behind all interceptors that change requests, and behind `Retry`: each attempt is signed anew.
public struct RequestSigner: OrderedInterceptor {
  private let hosts: InterceptorChain.Scope
  private let sign: @Sendable (inout InterceptedRequest) async throws -> Void

  /// Makes an interceptor that signs.
  ///
  /// - Parameters:
  ///   - hosts: The requests that are signed.
  ///   - sign: Receives the request, and sets the fields that carry the signature.
  public init(
    for hosts: InterceptorChain.Scope,
    sign: @escaping @Sendable (_ request: inout InterceptedRequest) async throws -> Void
  ) {
    (self.hosts, self.sign) = (hosts, sign)
  }

  /// Signs the request, and passes it on.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    guard hosts.covers(request.url) else { return try await next(request) }
    guard request.body.isReplayable else {
      throw WaylayError(
        .bodyConsumed,
        "RequestSigner cannot sign a body that can be read once: pass data, a file, or a replayable stream.",
        interceptor: name, url: request.url, requestID: request.id)
    }
    var request = request
    try await sign(&request)
    return try await next(request)
  }

  /// Returns the invalid parts of the scope, and the interceptors that must precede this one but follow it.
  public func problems(in chain: InterceptorChain) -> [String] {
    hosts.problems.map { "has an invalid scope: \($0.message)" } + misplaced(in: chain)
  }
}
