import Foundation

extension MockResponse {
  /// A failure with the given code, thrown like a transport does: with the phase that belongs to the code.
  ///
  /// ```swift
  /// Stub(.post, "/orders", .error(.networkConnectionLost))
  /// ```
  public static func error(_ code: URLError.Code) -> MockResponse {
    let phase = code == .timedOut ? .receiving : TransportError.Phase(of: code)
    return MockResponse(
      content: .failure(NetworkFault.Failure(urlErrorCode: code, phase: phase, message: "a stub failed the load.")))
  }

  /// A failure with the given error, thrown unchanged. If it is not a `URLError`, it reaches the app as the underlying
  /// error of one.
  public static func error(_ error: any Error) -> MockResponse {
    MockResponse(content: .error(error))
  }

  /// A network failure. A fault after the head follows an empty response with the status 200.
  public static func fault(_ fault: NetworkFault) -> MockResponse {
    MockResponse(content: .message(Message())).fault(fault)
  }

  /// No response, until the load is cancelled or times out.
  public static var never: MockResponse { MockResponse(content: .never) }

  /// The same response, failing: instead of arriving, or while its body arrives.
  public func fault(_ fault: NetworkFault) -> MockResponse {
    with { copy in
      copy.note(fault.defect.map { MockError(.invalidResponse, $0) })
      switch (fault.stage, fault.failure) {
      case (.head, let failure?): copy.content = .failure(failure)
      default: copy.bodyFault = fault
      }
    }
  }
}
