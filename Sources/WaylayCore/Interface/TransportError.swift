import Foundation

/// What a transport throws when the network did not give an answer.
///
/// An interceptor that retries looks at ``requestBytesSent``: at zero nothing has left this machine, so even a `POST`
/// may go out again.
///
/// ```swift
/// do {
///   return try await next(request)
/// } catch let error as TransportError where error.requestBytesSent == 0 {
///   return try await next(request)
/// }
/// ```
///
/// It reaches the app as a `URLError` with ``code``, and itself under `NSUnderlyingErrorKey`.
public struct TransportError: LoadError {
  /// How far the exchange had come. A struct, so that phases may be added.
  public struct Phase: Hashable, Sendable, CustomStringConvertible {
    /// The phase's name.
    public let description: String

    /// Makes a phase of that name.
    public init(_ description: String) {
      self.description = description
    }

    /// Looking up the host's addresses.
    public static let resolving = Phase("resolving")
    /// Opening the connection.
    public static let connecting = Phase("connecting")
    /// Agreeing on TLS and verifying the certificate.
    public static let securing = Phase("securing")
    /// Sending the request.
    public static let sending = Phase("sending")
    /// Waiting for the response's head or reading its body.
    public static let receiving = Phase("receiving")
    /// The transport cannot tell.
    public static let unknown = Phase("unknown")
  }

  /// The `URLError` code that an app sees.
  public let code: URLError.Code
  /// Why there was no answer.
  public let cause: Cause
  /// How far the exchange had come.
  public let phase: Phase
  /// Bytes of the request that left this machine; `nil` when the transport cannot tell.
  public let requestBytesSent: Int64?
  /// The address that was dialled, as `ip:port`, where it is known.
  public let address: String?
  /// What happened, in the transport's own words.
  public let message: String
  /// The error of the library beneath.
  public let underlying: (any Error)?
  /// The URL of the request that got no answer; known once the error has left the transport at the end of a chain.
  public internal(set) var url: URL?
  /// The load of that request, as well.
  public internal(set) var requestID: InterceptedRequest.ID?

  /// Makes a transport error.
  ///
  /// - Parameters:
  ///   - code: What an app sees.
  ///   - cause: Why there was no answer; what the code says, or a `POSIXError` beneath, unless told otherwise.
  ///   - phase: How far the exchange had come.
  ///   - requestBytesSent: Bytes of the request that left this machine; `nil` when that is not known.
  ///   - address: The address that was dialled, as `ip:port`.
  ///   - message: What happened.
  ///   - underlying: The error of the library beneath.
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
  /// Cause, message, phase, address and code on one line, with the URL and the load where they are known. URLs are
  /// shown without user info, query values and fragment.
  public var description: String {
    let place = [phase == .unknown ? nil : phase.description, address, "URLError \(code.rawValue)"]
    var text =
      "TransportError.\(cause): \(message.withRedactedURLs) [\(place.compactMap { $0 }.joined(separator: ", "))]"
    if let url { text += " [\(url.redacted)]" }
    if let requestID { text += " [load \(requestID)]" }
    return text
  }

  /// Unless it is about the request, or about the app, rather than the network.
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
