#if CORELIBS_FOUNDATION
  internal import CWaylayCurl
  import Foundation
  import HTTPTypes

  /// Parses the head of a response from the lines that libcurl delivers, including interim responses and trailers, and
  /// enforces limits.
  struct ResponseHead {
    private(set) var status = 0
    /// Whether the head of the final response is complete.
    private(set) var isComplete = false
    private let limits: MessageLimits
    private var head = FieldSection()
    private var end = FieldSection()
    private var interimCount = 0
    private var interimBytes = 0

    init(limits: MessageLimits = MessageLimits()) {
      self.limits = limits
    }

    /// The number of received bytes of heads.
    var bytesReceived: Int { interimBytes + head.bytes }
    var fields: HTTPFields { head.fields }
    var trailers: HTTPFields { end.fields }

    /// Adds the next line, including its line break.
    ///
    /// - Throws: An error that names the exceeded limit.
    mutating func add(_ bytes: UnsafeRawBufferPointer) throws(TransportError) {
      var line = bytes[...]
      while let last = line.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { line = line.dropLast() }
      if isComplete {
        try end.add(line, of: bytes.count, limits, "the trailer section of the response")
      } else if line.starts(with: "HTTP/".utf8) {
        // An interim response, such as 103, is followed by another head.
        if status != 0 { try leaveInterim() }
        head = FieldSection(bytes: bytes.count)
        let code = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: true).dropFirst()
          .first
        status = code.flatMap { Int(String(decoding: $0, as: UTF8.self)) }.map { min(max($0, 0), 999) } ?? 0
      } else if line.isEmpty {
        isComplete = status >= 200 || status == 101
      } else {
        try head.add(line, of: bytes.count, limits, "the head of the response")
      }
    }

    private mutating func leaveInterim() throws(TransportError) {
      interimCount += 1
      interimBytes += head.bytes
      guard interimCount <= limits.interimResponseCount else {
        throw limits.excess(.interimResponseCount, of: "the response")
      }
      guard interimBytes <= limits.fieldBytes else {
        throw limits.excess(.fieldBytes, of: "the head of the interim responses")
      }
    }

    /// Whether a response to a method has no body, whatever its fields say (RFC 9110, section 6.4.1).
    func hasNoBody(for method: HTTPRequest.Method) -> Bool {
      method == .head || status == 204 || status == 304 || length == 0
    }

    /// Content codings that libcurl may decode, and the feature bit that says whether it does.
    private static let codings: [String: Int32] = ["gzip": 3, "x-gzip": 3, "deflate": 3, "br": 23, "zstd": 26]

    /// Whether the body has a content coding that this libcurl, which has `features`, does not decode: libcurl fails
    /// such a response.
    func hasUnknownCoding(features: Int32) -> Bool {
      fields[values: .contentEncoding].flatMap { $0.split(separator: ",") }.contains { coding in
        let name = coding.trimmingBlanks.lowercased()
        guard !name.isEmpty, name != "identity" else { return false }
        return Self.codings[name].map { features & (1 << $0) == 0 } ?? true
      }
    }

    /// The number of body bytes that the reader gets: `nil` if libcurl decodes the body, or if the head is
    /// contradictory.
    var length: Int64? {
      // If both are present, the transfer coding takes precedence (RFC 9112, section 6.3).
      guard fields[.contentEncoding] == nil, fields[.transferEncoding] == nil else { return nil }
      let lengths = fields[values: .contentLength]
      guard let first = lengths.first, lengths.allSatisfy({ $0 == first }) else { return nil }
      return Int64(decimal: first)
    }
  }

  extension ResponseHead {
    /// The defect in the message's framing; `nil` if the framing is valid or irrelevant.
    ///
    /// An invalid length makes the end of the message unknown: the response and its connection are discarded (RFC 9112,
    /// section 6.3, item 5). libcurl would use the leading digits, or read until the connection closes.
    func framingFault(for method: HTTPRequest.Method) -> String? {
      // These responses have no body, whatever their fields say.
      guard method != .head, status != 204, status != 304 else { return nil }
      // If both are present, the transfer coding takes precedence.
      let codings = fields[values: .transferEncoding]
      guard codings.isEmpty else { return Self.codingFault(codings) }
      let values = fields[values: .contentLength]
      guard !values.isEmpty else { return nil }
      var lengths: Set<Int64> = []
      for value in values {
        // The same length repeated, in one field or in several, is valid.
        for text in value.split(separator: ",", omittingEmptySubsequences: false) {
          let digits = text.trimmingBlanks
          guard let length = Int64(decimal: digits) else {
            return "the Content-Length \"\(value.prefix(40))\" is not a length"
          }
          lengths.insert(length)
        }
      }
      return lengths.count > 1
        ? "it has several lengths, \(lengths.sorted().prefix(4).map(String.init).joined(separator: ", "))" : nil
    }

    /// Transfer codings that libcurl decodes.
    private static let transferCodings: Set<String> = ["chunked", "gzip", "x-gzip", "deflate", "identity"]

    /// Describes a transfer coding that libcurl does not decode, and would deliver as part of the body.
    private static func codingFault(_ values: [String]) -> String? {
      for value in values {
        for text in value.split(separator: ",") {
          let coding = text.prefix { $0 != ";" }.trimmingBlanks.lowercased()
          if !coding.isEmpty, !transferCodings.contains(coding) {
            return "the transfer coding \"\(coding.prefix(40))\" is not known"
          }
        }
      }
      return nil
    }
  }

  /// A body with a content coding whose end only the end of the connection marks. libcurl accepts any end of the
  /// connection, so the body is decoded here, which shows whether it is complete.
  struct UnframedBody {
    private let coding: String
    private var inflater: Deflate.Inflater?

    /// Makes one if the response has such a body.
    init?(_ head: ResponseHead, of method: HTTPRequest.Method) {
      guard !head.hasNoBody(for: method), head.fields[.contentLength] == nil, head.fields[.transferEncoding] == nil,
        let coding = head.fields[.contentEncoding]?.lowercased(), !coding.isEmpty, coding != "identity"
      else { return nil }
      self.coding = coding
    }

    /// Whether the end of the coding was seen.
    var isWhole: Bool { inflater?.isOver ?? false }

    var canDecode: Bool { ["gzip", "x-gzip", "deflate"].contains(coding) && Deflate.isAvailable }

    /// Decodes the next bytes; `nil` if they do not have the coding.
    mutating func decode(_ bytes: Data) -> Data? {
      if inflater == nil {
        // Some servers send a raw stream as `deflate`: the first byte then lacks the method 8 of a zlib header.
        inflater = .init(coding != "deflate" ? .gzip : bytes.first.map { $0 & 15 } == 8 ? .zlib : .raw)
      }
      return inflater?.next(bytes, limit: 64 << 20)
    }
  }

  extension LoadMetrics {
    /// The values that libcurl has measured so far.
    init(easy: UnsafeMutableRawPointer, isOver: Bool) {
      self.init()
      func time(_ info: Int32) -> Duration? {
        let microseconds = waylay_curl_get_size(easy, info)
        return microseconds > 0 ? .microseconds(microseconds) : nil
      }
      nameLookup = time(CurlInfo.lookupTime)
      connect = time(CurlInfo.connectTime)
      secureConnection = time(CurlInfo.secureTime)
      firstByte = time(CurlInfo.startTransferTime)
      if isOver { total = time(CurlInfo.totalTime) }
      requestBodyBytes = waylay_curl_get_size(easy, CurlInfo.uploaded)
      if isOver { responseBodyBytes = waylay_curl_get_size(easy, CurlInfo.downloaded) }
      address = Self.address(of: easy)
      isConnectionReused = waylay_curl_get_number(easy, CurlInfo.connectCount) == 0
      switch waylay_curl_get_number(easy, CurlInfo.httpVersion) {
      case 1: protocolName = "http/1.0"
      case 2: protocolName = "http/1.1"
      case 3: protocolName = "h2"
      case 30: protocolName = "h3"
      default: break
      }
    }

    /// The dialled address, as `ip:port`.
    static func address(of easy: UnsafeMutableRawPointer) -> String? {
      guard let address = waylay_curl_get_text(easy, CurlInfo.primaryAddress).map({ String(cString: $0) }),
        !address.isEmpty
      else {
        return nil
      }
      let port = waylay_curl_get_number(easy, CurlInfo.primaryPort)
      return address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
  }

  extension TransportError {
    /// Translates a result code of libcurl into the `URLError` code that Apple uses
    /// (https://curl.se/libcurl/c/libcurl-errors.html).
    init(
      curl code: Int32, message: String, easy: UnsafeMutableRawPointer?, head: ResponseHead, headBytesSent: Int,
      isSecure: Bool
    ) {
      let name = String(cString: waylay_curl_message(code))
      // The message of libcurl for an unknown or refusing host contains the name.
      let text = message.isEmpty ? name : code == 6 || code == 7 ? message : "\(name): \(message)"
      let sent = headBytesSent + (easy.map { Int(clamping: waylay_curl_get_size($0, CurlInfo.uploaded)) } ?? 0)
      let verification = easy.map { waylay_curl_get_number($0, CurlInfo.verifyResult) } ?? 0
      let address = easy.flatMap(LoadMetrics.address)
      if let excess = Self.excess(code, head, sent: sent) {
        let error = WaylayError(.limitExceeded, "\(excess) (\(text)).")
        self.init(
          .dataLengthExceedsMaximum, phase: .receiving, requestBytesSent: Int64(sent), address: address,
          message: error.message,
          underlying: error)
        return
      }
      let system = code == 7 ? Self.systemError(easy) : nil
      let isLocal = system.map { Self.isLocal($0.code, dialing: address ?? message) } ?? false
      let urlErrorCode: URLError.Code =
        isLocal ? .resourceUnavailable : Self.code(code, sent: sent, verification: verification)
      let hint =
        isLocal
        ? " This machine has no descriptor, port or memory left."
        : urlErrorCode == .serverCertificateHasUnknownRoot
          ? " If a private authority has signed it, add that one to CurlTransport.Options.additionalAuthorities." : ""
      self.init(
        urlErrorCode, code: Self.cause(code, verification: verification, tlsReason: Self.tlsReason(in: message)),
        phase: Self.phase(code, easy: easy, hasHead: head.status > 0, sent: sent, isSecure: isSecure),
        requestBytesSent: Int64(sent), address: address, message: "\(text) (libcurl \(code)).\(hint)",
        underlying: system)
    }

    /// The limit of libcurl that was exceeded: for one line, for the whole head (8.3 and later), or for the buffered
    /// body of a paused transfer.
    private static func excess(_ code: Int32, _ head: ResponseHead, sent: Int) -> String? {
      // 27 also means "out of memory", which a response does not cause otherwise; 100 exists since 8.6. Exceeding the
      // limit of 300 KiB for the whole head gives 56, as a lost connection does; after a lost connection, less of the
      // head has been received.
      guard sent > 0, [27, 100].contains(code) || code == 56 && !head.isComplete && head.bytesReceived > 200 * 1024
      else { return nil }
      guard head.isComplete else {
        return "the head of the response is too large for libcurl: have the server send less"
      }
      let coding = head.fields[.contentEncoding] ?? "identity"
      return
        "a part of the body, coded as \(coding.prefix(40)), decodes to more than the 64 MiB that libcurl buffers: "
        + "have the server code it once, or not at all"
    }

    /// The cause, if the code of the `URLError` is not specific enough.
    private static func cause(_ code: Int32, verification: Int, tlsReason: UInt32?) -> ErrorCode<TransportError>? {
      switch code {
      case 51: .certificateNameMismatch
      // The certificate is valid, but not for this name.
      case 60 where verification == 0: .certificateNameMismatch
      case 90: .pinMismatch
      case 35: tlsReason.map(notTLS.contains) == true ? .notTLS : .handshakeFailed
      // Ciphers, a TLS engine or a file of authorities that cannot be used: not the server's fault.
      case 59, 66, 77: .unknown
      default: nil
      }
    }

    /// OpenSSL's reasons (SSL_R_…) for data that is not TLS: HTTPS_PROXY_REQUEST, HTTP_REQUEST, PACKET_LENGTH_TOO_LONG,
    /// UNKNOWN_PROTOCOL, WRONG_VERSION_NUMBER, RECORD_LENGTH_MISMATCH, RECORD_TOO_SMALL.
    /// https://github.com/openssl/openssl/blob/master/include/openssl/sslerr.h
    private static let notTLS: Set<UInt32> = [155, 156, 198, 252, 267, 213, 298]

    /// The reason in an OpenSSL error code, which libcurl reports only in its message, as `error:0A00010B:…`: the last
    /// 12 bits.
    private static func tlsReason(in message: String) -> UInt32? {
      guard let start = message.range(of: "error:") else { return nil }
      return UInt32(message[start.upperBound...].prefix { $0.isHexDigit }, radix: 16).map { $0 & 0xFFF }
    }

    /// The system error for which a connection could not be opened: refused, no route, or no socket.
    private static func systemError(_ easy: UnsafeMutableRawPointer?) -> POSIXError? {
      let number = easy.map { Int32(truncatingIfNeeded: waylay_curl_get_number($0, CurlInfo.systemError)) } ?? 0
      return POSIXErrorCode(rawValue: number == 0 ? waylay_curl_socket_error() : number).map { POSIXError($0) }
    }

    private static func code(_ code: Int32, sent: Int, verification: Int) -> URLError.Code {
      switch code {
      // 1 also means a response that is not HTTP/1 or later.
      case 1: sent > 0 ? .badServerResponse : .unsupportedURL
      case 3: .badURL
      case 5, 6: .cannotFindHost
      case 7: .cannotConnectToHost
      case 8, 16: .badServerResponse
      case 18, 52, 55, 56, 92: .networkConnectionLost
      // An invalid chunk or content coding.
      case 23: .cannotDecodeContentData
      case 26, 65: .requestBodyStreamExhausted
      // A line that exceeds libcurl's buffer.
      case 27: sent > 0 ? .badServerResponse : .resourceUnavailable
      case 28: .timedOut
      case 35, 59, 66, 77, 83, 91: .secureConnectionFailed
      case 42: .cancelled
      case 51, 60: certificate(verification)
      case 58: .clientCertificateRejected
      case 61: .cannotDecodeContentData
      case 90: .serverCertificateUntrusted
      case 98: .clientCertificateRequired
      default: .unknown
      }
    }

    /// The code for OpenSSL's verification result (X509_V_ERR_…): zero means that the certificate is valid, but for
    /// another name.
    private static func certificate(_ verification: Int) -> URLError.Code {
      switch verification {
      case 9: .serverCertificateNotYetValid
      case 10: .serverCertificateHasBadDate
      case 2, 18...21, 27: .serverCertificateHasUnknownRoot
      default: .serverCertificateUntrusted
      }
    }

    private static func phase(
      _ code: Int32, easy: UnsafeMutableRawPointer?, hasHead: Bool, sent: Int, isSecure: Bool
    ) -> Phase {
      guard let easy else { return .unknown }
      if hasHead || sent > 0 { return code == 55 || code == 26 || code == 65 ? .sending : .receiving }
      switch code {
      case 5, 6: return .resolving
      case 7: return .connecting
      case 35, 51, 58, 59, 60, 66, 77, 83, 90, 91, 98: return .securing
      default: break
      }
      if waylay_curl_get_size(easy, CurlInfo.lookupTime) == 0 { return .resolving }
      if waylay_curl_get_size(easy, CurlInfo.connectTime) == 0 { return .connecting }
      if isSecure, waylay_curl_get_size(easy, CurlInfo.secureTime) == 0 { return .securing }
      return .sending
    }
  }
#endif
