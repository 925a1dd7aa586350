public import WaylayCore

/// An interceptor that signs requests to certain hosts.
///
/// ```swift
/// RequestSigner(for: .host("api.example.com")) { request in
///   request.fields[.authorization] = try await vault.signature(of: request.body.collect(upTo: 1 << 20))
/// }
/// ```
///
/// The signer may read the body, which is read once more when it is sent: data, files and streams that can be made
/// again. One that can be read once cannot be signed, and its load fails with `WaylayError.bodyConsumed`.
///
/// Put it behind whatever changes requests, and behind `Retry`: each attempt is signed anew.
public struct RequestSigner: OrderedInterceptor {
  private let hosts: InterceptorChain.Scope
  private let sign: @Sendable (inout InterceptedRequest) async throws -> Void

  /// Makes an interceptor that signs.
  ///
  /// - Parameters:
  ///   - hosts: The requests that are signed.
  ///   - sign: Gets the request, and sets the fields that carry the signature.
  public init(
    for hosts: InterceptorChain.Scope,
    sign: @escaping @Sendable (_ request: inout InterceptedRequest) async throws -> Void
  ) {
    (self.hosts, self.sign) = (hosts, sign)
  }

  /// Signs, and passes the request on.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    guard hosts.covers(request.url) else { return try await next(request) }
    guard request.body.isReplayable else {
      throw WaylayError(
        .bodyConsumed,
        "RequestSigner cannot sign a body that can be read once: pass data, a file, or a stream that is made anew.",
        interceptor: name, url: request.url, requestID: request.id)
    }
    var request = request
    try await sign(&request)
    return try await next(request)
  }

  /// What of the scope cannot be read, and what stands behind it that belongs before it.
  public func problems(in chain: InterceptorChain) -> [String] {
    hosts.problems.map { "does not cover what was intended: \($0.message)" } + misplaced(in: chain)
  }
}
