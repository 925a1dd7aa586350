#if CORELIBS_FOUNDATION
  internal import CWaylayCurl
  import Foundation

  // Used on the loop's thread only.
  extension CurlExchange {
    /// Sets all options of the request on a handle.
    func begin(_ easy: UnsafeMutableRawPointer, _ loop: UnsafeMutableRawPointer) -> Bool {
      guard !isCancelled else { return false }
      self.easy = easy
      if !decodes { _ = waylay_curl_set_number(easy, CurlOption.contentDecoding, 0) }
      _ = waylay_curl_set_context(easy, Unmanaged.passUnretained(self).toOpaque())
      _ = waylay_curl_set_error_buffer(easy, message)
      let setUp = CurlRequest(
        easy: easy, options: transport.options, isSecured: transport.isSecured, authorities: transport.authorities,
        isSecure: destination.scheme == "https",
        isLoadsOwnTimeout: request.observer?.watchesTimeout ?? false)
      guard setUp.apply(to: request, url: url, upload: upload) else { return false }
      guard let list = setUp.list(fields) else { return false }
      lists.append(list)
      _ = waylay_curl_set_list(easy, CurlOption.httpHeader, list)
      if let route = request.route {
        // A route names one address. A proxy from the environment would be another one, and its failure would count as
        // that of the address.
        _ = waylay_curl_set_text(easy, CurlOption.proxy, "")
        guard let target = setUp.list([route.connectTo]) else { return false }
        lists.append(target)
        _ = waylay_curl_set_list(easy, CurlOption.connectTo, target)
      }
      if request.route?.opensNewConnection == true || needsFreshConnection {
        _ = waylay_curl_set_number(easy, CurlOption.freshConnect, 1)
      }
      if !request.isIdempotent, destination.scheme == "https" {
        _ = waylay_curl_set_remarks(easy) { _, kind, text, count, context in
          guard kind == 0 else { return 0 }
          let bytes = UnsafeRawBufferPointer(start: text, count: count)
          CurlExchange.from(context).parseDebugMessage(String(decoding: bytes, as: UTF8.self))
          return 0
        }
      }
      guard waylay_curl_set_sockets(easy, loop) == 0 else { return false }
      return waylay_curl_set_callbacks(
        easy,
        { bytes, size, count, context in CurlExchange.from(context).receivedHead(bytes, size * count) },
        { bytes, size, count, context in CurlExchange.from(context).received(bytes, size * count) },
        { bytes, size, count, context in CurlExchange.from(context).send(into: bytes, size * count) },
        { context, offset, origin in
          CurlExchange.from(context).seek(to: offset, origin: origin) ? 0 : CurlReturn.cannotSeek
        },
        CurlTransport.hasPrerequest
          ? { context, address, _, _, port in
            guard let address, CurlExchange.from(context).mayBegin(from: port, to: address) else {
              return CurlReturn.prerequestAbort
            }
            return 0
          } : nil) == 0
    }
  }

  /// A request in the form of libcurl's options.
  struct CurlRequest {
    let easy: UnsafeMutableRawPointer
    let options: CurlTransport.Options
    let isSecured: Bool
    let authorities: CurlAuthorities
    /// Whether its connection has TLS.
    let isSecure: Bool
    /// Whether the load itself enforces the timeout of the request.
    let isLoadsOwnTimeout: Bool

    func apply(to request: InterceptedRequest, url: URL, upload: CurlUpload) -> Bool {
      number(CurlOption.noSignal, 1)
      // The end of a transfer must not wait for a pending name lookup (libcurl 7.87; older versions wait, and block
      // other transfers).
      number(CurlOption.quickExit, 1)
      // Only http and https, whatever a proxy or a URL says.
      number(CurlOption.protocols, CurlValue.http | CurlValue.https)
      number(CurlOption.suppressConnectHeaders, 1)
      // HTTP/2 if TLS negotiates it. Transfers do not wait inside libcurl for a connection that is being opened: the
      // queue decides that.
      number(CurlOption.httpVersion, CurlValue.http2OverTLS)
      // What one read inflates to must stay below the 64 MiB that libcurl buffers for a paused transfer.
      number(CurlOption.bufferSize, 16 * 1024)
      text(CurlOption.acceptEncoding, "")
      guard text(CurlOption.url, url.absoluteString) else { return false }
      guard method(of: request, upload: upload) else { return false }
      // An old libcurl retries on another connection without asking.
      if !CurlTransport.hasPrerequest, !request.isIdempotent { number(CurlOption.freshConnect, 1) }
      timeouts(of: request)
      guard isSecure else { return true }
      return security() && (!isSecured || demands(for: url))
    }

    private func method(of request: InterceptedRequest, upload: CurlUpload) -> Bool {
      let method = request.method
      if method == .head {
        // Also for a HEAD request with a body: libcurl would otherwise wait for the body of the response.
        number(CurlOption.noBody, 1)
        return true
      }
      if !upload.isEmpty {
        number(CurlOption.upload, 1)
        _ = waylay_curl_set_size(easy, CurlOption.inFileSize, upload.length ?? -1)
      }
      return method == .get && upload.isEmpty || text(CurlOption.customRequest, method.rawValue)
    }

    /// The core enforces the timeouts of a load. These are for an attempt with a timeout set by an interceptor, and for
    /// callers that use the transport without the core.
    private func timeouts(of request: InterceptedRequest) {
      let wanted = request.route?.connectTimeout.map { $0 / .seconds(1) } ?? options.connectTimeout
      if isLoadsOwnTimeout {
        // A day: the default of libcurl, five minutes, would be an additional limit.
        return number(CurlOption.connectTimeout, Self.milliseconds(wanted) ?? 86_400_000)
      }
      let idle = request.idleTimeout
      let connect = wanted ?? idle
      number(CurlOption.connectTimeout, Self.milliseconds(connect) ?? 86_400_000)
      // NaN means no limit: comparisons with it are false.
      if idle > 0, idle < 1e6 {
        number(CurlOption.lowSpeedLimit, 1)
        number(CurlOption.lowSpeedTime, max(1, Int(idle.rounded(.up))))
      }
    }

    /// Converts seconds; `nil` for values that mean "no timeout": zero, negative, and more than a day.
    private static func milliseconds(_ seconds: TimeInterval?) -> Int? {
      guard let seconds, seconds > 0, seconds < 86_400 else { return nil }
      return max(1, Int(seconds * 1000))
    }

    /// The length of a streamed body that the app has declared by a header field.
    static func declaredLength(of request: InterceptedRequest) -> Int64? {
      request.fields[.contentLength].flatMap { Int64(decimal: $0) }
    }

    private func security() -> Bool {
      // TLS 1.2 and later.
      number(CurlOption.sslVersion, CurlValue.tls12)
      if let path = authorities.path {
        // Without a directory of authorities, which libcurl would read for every connection.
        _ = waylay_curl_set_text(easy, CurlOption.authorityFolder, nil)
        return text(CurlOption.authorityFile, path)
      }
      return authorities.bytes.map { blob(CurlOption.authorities, $0) } ?? true
    }

    /// Sets pins and a client certificate. If libcurl refuses them, the transfer fails before it begins.
    private func demands(for url: URL) -> Bool {
      guard let demands = options.security.demands(for: url) else { return true }
      if let pins = demands.pins {
        let list = pins.map { "sha256//\($0.base64EncodedString())" }.joined(separator: ";")
        guard text(CurlOption.pinnedPublicKey, list) else { return false }
      }
      if demands.reported != nil { number(CurlOption.certificateInfo, 1) }
      switch demands.certificate?.form {
      case nil: return true
      case .pem(let certificate, let key):
        return text(CurlOption.certificateType, "PEM") && text(CurlOption.keyType, "PEM")
          && blob(CurlOption.certificate, certificate) && blob(CurlOption.key, key)
      case .pkcs12(let data, let passphrase):
        return text(CurlOption.certificateType, "P12") && text(CurlOption.keyPassword, passphrase)
          && blob(CurlOption.certificate, data)
      }
    }

    private func blob(_ option: Int32, _ data: Data) -> Bool {
      data.withUnsafeBytes { bytes in
        bytes.baseAddress.map { waylay_curl_set_blob(easy, option, $0, bytes.count) == 0 } ?? false
      }
    }

    private func number(_ option: Int32, _ value: Int) {
      _ = waylay_curl_set_number(easy, option, value)
    }

    @discardableResult
    private func text(_ option: Int32, _ value: String) -> Bool {
      waylay_curl_set_text(easy, option, value) == 0
    }

    /// A list that libcurl reads; the caller frees it.
    func list(_ lines: [String]) -> UnsafeMutableRawPointer? {
      var list: UnsafeMutableRawPointer?
      var last: UnsafeMutableRawPointer?
      for line in lines {
        guard let longer = waylay_curl_list_append(last, line) else {
          waylay_curl_list_free(list)
          return nil
        }
        list = list ?? longer
        last = longer
      }
      return list
    }

    /// The same value as that of `URLSession`, so that servers see no difference.
    private static let userAgent =
      "User-Agent: \(ProcessInfo.processInfo.processName) (unknown version) curl/\(CurlTransport.libraryVersion ?? "")"

    private static let language = Locale.current.language.languageCode?.identifier

    /// The header fields as lines. They contain no line breaks: that has been checked.
    ///
    /// - Parameter isApps: Whether the app made the request, rather than an interceptor.
    static func fields(of request: InterceptedRequest, isApps: Bool = false) -> [String] {
      let names = Set(request.fields.map(\.name.canonicalName))
      // The length and the framing of the body are set below.
      var lines = request.fields.filter { $0.name != .contentLength && $0.name != .transferEncoding }
        .map { (request.context.spelling(of: $0.name.rawName, with: $0.value), $0.value) }
        // libcurl interprets a blank value as an instruction to omit the field, including its own.
        .map { $0.1.utf8.allSatisfy(\.isBlank) ? "\($0.0);" : "\($0.0): \($0.1)" }
      if !names.contains("user-agent") { lines.append(userAgent) }
      // As `URLSession` does: the language of the app, and a media type for a body that has none.
      if isApps, !names.contains("accept-language"), let language { lines.append("Accept-Language: \(language)") }
      if !names.contains("content-type"), request.method == .post, !request.body.isEmpty, !request[UploadedBody.self] {
        lines.append("Content-Type: application/x-www-form-urlencoded")
      }
      // Do not wait for a 100 response, which hardly any server sends.
      if !request.body.isEmpty, request.method != .head { lines.append("Expect:") }
      if request.body.isEmpty, [.post, .put, .patch].contains(request.method) { lines.append("Content-Length: 0") }
      return lines
    }
  }

  extension Route {
    /// The form that libcurl takes: any host and port of the URL, connected to this address. The route has been
    /// compared with the URL; comparing hosts here could miss a host that libcurl spells differently, and would dial it
    /// without the route.
    var connectTo: String {
      let host = address.contains(":") ? "[\(address)]" : address
      return "::\(host):\(port.map { "\($0)" } ?? "")"
    }
  }

  // Constants of libcurl's ABI, which never change: https://curl.se/libcurl/c/symbols-in-versions.html

  enum CurlOption {
    static let lowSpeedLimit: Int32 = 19
    static let lowSpeedTime: Int32 = 20
    static let sslVersion: Int32 = 32
    static let noBody: Int32 = 44
    static let upload: Int32 = 46
    static let freshConnect: Int32 = 74
    static let forbidReuse: Int32 = 75
    static let httpVersion: Int32 = 84
    static let bufferSize: Int32 = 98
    static let noSignal: Int32 = 99
    static let connectTimeout: Int32 = 156
    static let contentDecoding: Int32 = 158
    static let certificateInfo: Int32 = 172
    static let protocols: Int32 = 181
    static let suppressConnectHeaders: Int32 = 265
    static let quickExit: Int32 = 322
    static let url: Int32 = 10002
    static let proxy: Int32 = 10004
    static let httpHeader: Int32 = 10023
    static let keyPassword: Int32 = 10026
    static let customRequest: Int32 = 10036
    static let authorityFile: Int32 = 10065
    static let certificateType: Int32 = 10086
    static let keyType: Int32 = 10088
    static let authorityFolder: Int32 = 10097
    static let acceptEncoding: Int32 = 10102
    static let pinnedPublicKey: Int32 = 10230
    static let connectTo: Int32 = 10243
    static let inFileSize: Int32 = 30115
    static let certificate: Int32 = 40291
    static let key: Int32 = 40292
    static let authorities: Int32 = 40309
  }

  enum CurlValue {
    static let http = 1
    static let https = 2
    static let http2OverTLS = 4
    static let tls12 = 6
  }

  enum CurlMultiOption {
    /// The option is called PIPELINING, after its first purpose.
    static let multiplexing: Int32 = 3
    static let maxConnects: Int32 = 6
  }

  enum CurlInfo {
    static let primaryAddress: Int32 = 0x100000 + 32
    static let requestSize: Int32 = 0x200000 + 12
    static let verifyResult: Int32 = 0x200000 + 13
    static let systemError: Int32 = 0x200000 + 25
    static let connectCount: Int32 = 0x200000 + 26
    static let primaryPort: Int32 = 0x200000 + 40
    static let httpVersion: Int32 = 0x200000 + 46
    static let uploaded: Int32 = 0x600000 + 7
    static let downloaded: Int32 = 0x600000 + 8
    static let totalTime: Int32 = 0x600000 + 50
    static let lookupTime: Int32 = 0x600000 + 51
    static let connectTime: Int32 = 0x600000 + 52
    static let startTransferTime: Int32 = 0x600000 + 54
    static let secureTime: Int32 = 0x600000 + 56
  }

  /// Result codes that Waylay sets or examines; `TransportError` translates the others.
  enum CurlCode {
    static let failedToBegin: Int32 = 2
    static let outOfMemory: Int32 = 27
    static let timedOut: Int32 = 28
    static let abortedByCallback: Int32 = 42
    static let receiveFailed: Int32 = 56
    /// The connection was lost: with HTTP/2, during the response, without a response, while sending, or while
    /// receiving.
    static let lostConnection: Set<Int32> = [16, 18, 52, 55, 56]
  }

  /// The values that callbacks return in place of a byte count.
  enum CurlReturn {
    static let abort = 0x1000_0000
    static let pause = 0x1000_0001
    static let writeError = 0xFFFF_FFFF
    /// Seeking is impossible.
    static let cannotSeek: Int32 = 2
    static let prerequestAbort: Int32 = 1
  }

  enum CurlPause {
    static let receiving: Int32 = 1
    static let sending: Int32 = 4
  }
#endif
