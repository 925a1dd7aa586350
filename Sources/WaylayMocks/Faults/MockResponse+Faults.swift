public import Foundation

extension MockResponse {
  /// A failure with that code, as a transport throws it: with the phase that belongs to the code.
  ///
  /// ```swift
  /// Stub(.post, "/orders") { .error(.networkConnectionLost) }
  /// ```
  public static func error(_ code: URLError.Code) -> MockResponse {
    MockResponse(.failure(MockFault.Failure(code: code, phase: .of(code), message: "a stub failed the load.")))
  }

  /// A failure with that error, thrown as it is. What is not a `URLError` reaches the app as the underlying error of
  /// one.
  public static func error(_ error: any Error) -> MockResponse {
    MockResponse(.error(error))
  }

  /// A failure of the network. One that comes after the head follows an empty answer with the status 200.
  public static func fault(_ fault: MockFault) -> MockResponse {
    MockResponse(.message(Message())).fault(fault)
  }

  /// No answer, until the load is cancelled or times out.
  public static var never: MockResponse { MockResponse(.never) }

  /// The same, failing: in place of the answer, or while its body comes.
  public func fault(_ fault: MockFault) -> MockResponse {
    with { copy in
      copy.note(fault.defect)
      switch (fault.stage, fault.failure) {
      case (.head, let failure?): copy.content = .failure(failure)
      default: copy.bodyFault = fault
      }
    }
  }
}

extension TransportError.Phase {
  /// How far an exchange has come that fails with `code`.
  fileprivate static func of(_ code: URLError.Code) -> TransportError.Phase {
    switch code {
    case .cannotFindHost, .dnsLookupFailed: .resolving
    case .notConnectedToInternet, .cannotConnectToHost, .internationalRoamingOff, .callIsActive, .dataNotAllowed:
      .connecting
    case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
      .serverCertificateHasUnknownRoot,
      .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired,
      .appTransportSecurityRequiresSecureConnection:
      .securing
    case .timedOut, .networkConnectionLost, .badServerResponse, .cannotParseResponse, .zeroByteResource,
      .cannotDecodeRawData,
      .cannotDecodeContentData:
      .receiving
    default: .unknown
    }
  }
}
