#if AsyncHTTPClient
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  import NIOHTTPCompression
  import NIOPosix
  import NIOSSL

  extension TransportError {
    /// Maps an error of AsyncHTTPClient or SwiftNIO to a `TransportError`.
    static func of(_ error: any Error, in request: InterceptedRequest, hasHead: Bool) -> any Error {
      switch error {
      case is TransportError, is WaylayError: error
      case let error as HTTPClientError where error == .bodyLengthMismatch:
        WaylayError(
          .bodyUnreadable,
          "the request's body has another length than was declared. Declare the actual length, or none.",
          url: request.url, requestID: request.id)
      case let error as HTTPClientError where error.isOfRequest:
        // Omit the error itself: it repeats field values.
        WaylayError(
          .invalidRequest, "AsyncHTTPClient does not send the request: \(error.shortDescription.lowercased()).",
          url: request.url, requestID: request.id)
      default: Meaning(error, hasHead: hasHead).error(error)
      }
    }
  }

  extension HTTPClientError {
    fileprivate var isOfRequest: Bool {
      self == .traceRequestWithBody
        || ["Invalid header field names", "Invalid header field values"].contains(shortDescription)
    }
  }

  /// The properties of a failure.
  private struct Meaning {
    var urlErrorCode = URLError.Code.networkConnectionLost
    var code: ErrorCode<TransportError>?
    var phase = TransportError.Phase.receiving
    /// Whether certainly no byte was sent.
    var isUnsent = false

    init(_ error: any Error, hasHead: Bool) {
      if !hasHead { phase = .unknown }
      switch error {
      case let error as HTTPClientError: take(error)
      case let error as NIOConnectionError:
        if let failure = error.connectionErrors.last?.error {
          self = Meaning(failure, hasHead: false)
          if urlErrorCode != .timedOut { urlErrorCode = .cannotConnectToHost }
          set(urlErrorCode, .connecting, code, isUnsent: true)
        } else {
          set(.cannotFindHost, .resolving, isUnsent: true)
        }
      case ChannelError.connectTimeout: set(.timedOut, .connecting, isUnsent: true)
      case let error as IOError: take(error.errnoCode)
      case let error as NIOSSLExtraError:
        set(
          .serverCertificateUntrusted, .securing, error == .failedToValidateHostname ? .certificateNameMismatch : nil,
          isUnsent: true)
      case NIOSSLError.handshakeFailed(let reason): take(handshake: "\(reason)")
      case let error as BoringSSLError where !hasHead: take(handshake: "\(error)")
      case HTTPParserError.invalidEOFState: phase = .receiving
      case is HTTPParserError: set(.badServerResponse, .receiving)
      case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
        set(.cannotDecodeContentData, .receiving)
      default: break
      }
    }

    private mutating func set(
      _ urlErrorCode: URLError.Code, _ phase: TransportError.Phase, _ code: ErrorCode<TransportError>? = nil,
      isUnsent: Bool = false
    ) {
      (self.urlErrorCode, self.phase, self.code, self.isUnsent) = (urlErrorCode, phase, code, isUnsent)
    }

    private mutating func take(_ error: HTTPClientError) {
      switch error {
      case .invalidURL, .emptyHost, .emptyScheme: set(.badURL, .unknown, isUnsent: true)
      case .readTimeout: set(.timedOut, .receiving)
      case .writeTimeout: set(.timedOut, .sending)
      case .deadlineExceeded: set(.timedOut, phase)
      case .connectTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout, .getConnectionFromPoolTimeout:
        set(.timedOut, .connecting, isUnsent: true)
      case .tlsHandshakeTimeout: set(.timedOut, .securing, isUnsent: true)
      case .invalidProxyResponse, .proxyAuthenticationRequired: set(.cannotConnectToHost, .connecting, isUnsent: true)
      case .alreadyShutdown: set(.resourceUnavailable, .unknown, isUnsent: true)
      default: break
      }
    }

    private mutating func take(_ number: CInt) {
      switch POSIXErrorCode(rawValue: number) {
      // An open connection is never refused.
      case .ECONNREFUSED: set(.cannotConnectToHost, .connecting, .refused, isUnsent: true)
      case .EHOSTUNREACH, .ENETUNREACH, .ENETDOWN, .EADDRNOTAVAIL: set(.cannotConnectToHost, phase, .unreachable)
      case .ETIMEDOUT: set(.timedOut, phase)
      default: break
      }
    }

    /// Maps the names of BoringSSL's errors: the numbers are not public.
    private mutating func take(handshake reason: String) {
      func says(_ words: String...) -> Bool { words.contains { reason.contains($0) } }
      if says("CERTIFICATE_VERIFY_FAILED") {
        set(.serverCertificateUntrusted, .securing, isUnsent: true)
      } else if says("CERTIFICATE_REQUIRED") {
        set(.clientCertificateRequired, .securing)
      } else {
        let isPlain = says("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "UNKNOWN_PROTOCOL")
        set(.secureConnectionFailed, .securing, isPlain ? .notTLS : .handshakeFailed, isUnsent: true)
      }
    }

    func error(_ error: any Error) -> TransportError {
      TransportError(
        urlErrorCode, code: code, phase: phase, requestBytesSent: isUnsent ? 0 : nil,
        message: (error as? HTTPClientError).map { "AsyncHTTPClient: \($0.shortDescription)." } ?? "\(error)",
        underlying: error)
    }
  }
#endif
