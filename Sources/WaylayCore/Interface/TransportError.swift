import Foundation

/// The error a transport throws when the network gives no response.
///
/// An interceptor that retries checks ``requestBytesSent``: at zero, nothing has left this machine, so that even a
/// `POST` may be sent again.
///
/// ```swift
/// do {
///   return try await next(request)
/// } catch let error as TransportError where error.requestBytesSent == 0 {
///   return try await next(request)
/// }
/// ```
///
/// The app receives a `URLError` with ``code``, and this error under `NSUnderlyingErrorKey`.
public struct TransportError: LoadError {
  /// How far the exchange had progressed. A struct, so that new phases can be added.
  public struct Phase: Hashable, Sendable, CustomStringConvertible {
    /// The phase's name.
    public let description: String

    /// Makes a phase with the given name.
    public init(_ description: String) {
      self.description = description
    }

    /// Resolving the host's addresses.
    public static let resolving = Phase("resolving")
    /// Opening the connection.
    public static let connecting = Phase("connecting")
    /// Performing the TLS handshake and verifying the certificate.
    public static let securing = Phase("securing")
    /// Sending the request.
    public static let sending = Phase("sending")
    /// Waiting for the response's head or reading its body.
    public static let receiving = Phase("receiving")
    /// The transport cannot tell.
    public static let unknown = Phase("unknown")
  }

  /// The `URLError` code that the app sees.
  public let code: URLError.Code
  /// Why there was no response.
  public let cause: Cause
  /// How far the exchange had progressed.
  public let phase: Phase
  /// The number of request bytes that left this machine; `nil` if the transport cannot tell.
  public let requestBytesSent: Int64?
  /// The dialed address, as `ip:port`, if known.
  public let address: String?
  /// What happened, in the transport's own words.
  public let message: String
  /// The underlying library's error.
  public let underlying: (any Error)?
  /// The URL of the failed request, set after the error has left the transport at the end of a chain.
  public internal(set) var url: URL?
  /// The load of that request, set at the same time.
  public internal(set) var requestID: InterceptedRequest.ID?

  /// Makes a transport error.
  ///
  /// - Parameters:
  ///   - code: The code that the app sees.
  ///   - cause: Why there was no response; derived from the code or an underlying `POSIXError` by default.
  ///   - phase: How far the exchange had progressed.
  ///   - requestBytesSent: The number of request bytes that left this machine; `nil` if unknown.
  ///   - address: The dialed address, as `ip:port`.
  ///   - message: What happened.
  ///   - underlying: The underlying library's error.
  public init(
    _ code: URLError.Code, cause: Cause? = nil, phase: Phase = .unknown, requestBytesSent: Int64? = nil,
    address: String? = nil,
    message: String, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.cause = cause ?? Cause(code, underlying: underlying)
    self.phase = phase
    self.requestBytesSent = requestBytesSent
    self.address = address
    self.message = message
    self.underlying = underlying
  }
}

extension TransportError {
  /// Cause, message, phase, address and code on one line, with the URL and the load if known. URLs appear without user
  /// info, query values and fragment.
  public var description: String {
    let place = [phase == .unknown ? nil : phase.description, address, "URLError \(code.rawValue)"]
    var text =
      "TransportError.\(cause): \(message.withRedactedURLs) [\(place.compactMap { $0 }.joined(separator: ", "))]"
    if let url { text += " [\(url.redacted)]" }
    if let requestID { text += " [load \(requestID)]" }
    return text
  }

  /// Whether the error is about the network rather than about the request or the app.
  public var isNetworkFailure: Bool { !Self.ofRequest.contains(code) }

  private static let ofRequest: Set<URLError.Code> = [
    .cancelled, .badURL, .unsupportedURL, .userCancelledAuthentication, .userAuthenticationRequired,
    .requestBodyStreamExhausted,
    .clientCertificateRejected, .clientCertificateRequired, .fileDoesNotExist, .noPermissionsToReadFile,
    .cannotOpenFile,
    .cannotWriteToFile, .cannotCreateFile, .dataLengthExceedsMaximum, .appTransportSecurityRequiresSecureConnection,
    .resourceUnavailable,
  ]
}
