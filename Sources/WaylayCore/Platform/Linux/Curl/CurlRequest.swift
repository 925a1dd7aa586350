#if canImport(FoundationNetworking)
  internal import CWaylayCurl
  import Foundation

  /// A request as libcurl is told it.
  struct CurlRequest {
    let easy: UnsafeMutableRawPointer
    let options: CurlTransport.Options
    let authorities: CurlAuthorities
    /// Whether the load that the request belongs to watches over its timeout.
    let isLoadsOwnTimeout: Bool

    func apply(to request: InterceptedRequest, url: URL, upload: CurlUpload) -> Bool {
      number(CurlOption.noSignal, 1)
      // Ending a transfer must not wait for a name lookup that goes on (libcurl 7.87; an older one waits, and the
      // other transfers with it).
      number(CurlOption.quickExit, 1)
      // http and https alone, whatever a proxy or a URL might say.
      number(CurlOption.protocols, 3)
      number(CurlOption.suppressConnectHeaders, 1)
      // HTTP/2 where TLS agrees on it. Nobody waits inside libcurl for a connection that is being opened: that is the
      // queue's business.
      number(CurlOption.httpVersion, 4)
      // What one read may inflate to has to stay below the 64 MiB that libcurl keeps for a paused transfer.
      number(CurlOption.bufferSize, 16 * 1024)
      text(CurlOption.acceptEncoding, "")
      guard text(CurlOption.url, url.absoluteString) else { return false }
      guard method(of: request, upload: upload) else { return false }
      // An old libcurl does not ask before it tries again on another connection.
      if !CurlTransport.hasPrerequest, !request.isIdempotent { number(CurlOption.freshConnect, 1) }
      timeouts(of: request)
      return security()
    }

    private func method(of request: InterceptedRequest, upload: CurlUpload) -> Bool {
      let method = request.method
      if method == .head {
        // Whatever body the request has: its answer could not be told from that of a GET.
        number(CurlOption.noBody, 1)
        return true
      }
      if !upload.isEmpty {
        number(CurlOption.upload, 1)
        _ = waylay_curl_set_size(easy, CurlOption.inFileSize, upload.length ?? -1)
      }
      return method == .get && upload.isEmpty || text(CurlOption.customRequest, method.rawValue)
    }

    /// The core keeps the timeouts of a load; these are for an attempt that an interceptor has given another, and for
    /// whoever uses the transport without the core.
    private func timeouts(of request: InterceptedRequest) {
      let wanted = request.route?.connectTimeout.map { $0 / .seconds(1) } ?? options.connectTimeout
      if isLoadsOwnTimeout {
        // A day, because libcurl's own limit for a connection, five minutes, would be one more.
        return number(CurlOption.connectTimeout, Self.milliseconds(wanted) ?? 86_400_000)
      }
      let idle = request.idleTimeout
      let connect = wanted ?? idle
      number(CurlOption.connectTimeout, Self.milliseconds(connect) ?? 86_400_000)
      // Without a number there is no limit: a comparison with it is false.
      if idle > 0, idle < 1e6 {
        number(CurlOption.lowSpeedLimit, 1)
        number(CurlOption.lowSpeedTime, max(1, Int(idle.rounded(.up))))
      }
    }

    /// `nil` for what means "no timeout": zero, less, and more than a day.
    private static func milliseconds(_ seconds: TimeInterval?) -> Int? {
      guard let seconds, seconds > 0, seconds < 86_400 else { return nil }
      return max(1, Int(seconds * 1000))
    }

    /// The length that the app gives a stream, by the field that says so.
    static func declaredLength(of request: InterceptedRequest) -> Int64? {
      request.fields[.contentLength].flatMap { Int64(decimal: $0) }
    }

    private func security() -> Bool {
      // TLS 1.2 and later.
      number(CurlOption.sslVersion, 6)
      if let path = authorities.path {
        // Without a directory, or it is read for every connection.
        _ = waylay_curl_set_text(easy, CurlOption.authorityFolder, nil)
        return text(CurlOption.authorityFile, path)
      }
      guard let bytes = authorities.bytes else { return true }
      return bytes.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return false }
        return waylay_curl_set_blob(easy, CurlOption.authorities, start, bytes.count) == 0
      }
    }

    private func number(_ option: Int32, _ value: Int) {
      _ = waylay_curl_set_number(easy, option, value)
    }

    @discardableResult
    private func text(_ option: Int32, _ value: String) -> Bool {
      waylay_curl_set_text(easy, option, value) == 0
    }

    /// A list that libcurl reads; whoever has it frees it.
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

    /// What `URLSession` says of itself, so that servers see no difference.
    private static let userAgent =
      "User-Agent: \(ProcessInfo.processInfo.processName) (unknown version) curl/\(CurlTransport.libraryVersion ?? "")"

    private static let language = Locale.current.language.languageCode?.identifier

    /// The header fields as lines; that none of them breaks out of its line has been seen to.
    ///
    /// - Parameter isApps: Whether it is a request of the app, rather than one that somebody in between makes.
    static func fields(of request: InterceptedRequest, isApps: Bool = false) -> [String] {
      let names = Set(request.fields.map(\.name.canonicalName))
      var lines = request.fields.filter { $0.name != .contentLength }
        .map { (request.context.spelling(of: $0.name.rawName, with: $0.value), $0.value) }
        // libcurl takes a value of nothing but blanks for the wish to leave the field out, its own one included.
        .map { $0.1.utf8.allSatisfy(\.isBlank) ? "\($0.0);" : "\($0.0): \($0.1)" }
      if !names.contains("user-agent") { lines.append(userAgent) }
      // As URLSession does: the language it is set to, and a type for what is in the request itself and of which nobody
      // says what it is.
      if isApps, !names.contains("accept-language"), let language { lines.append("Accept-Language: \(language)") }
      if !names.contains("content-type"), request.method == .post, !request.body.isEmpty, !request[UploadedBody.self] {
        lines.append("Content-Type: application/x-www-form-urlencoded")
      }
      // Nothing waits for a 100 that hardly any server sends.
      if !request.body.isEmpty, request.method != .head { lines.append("Expect:") }
      if request.body.isEmpty, [.post, .put, .patch].contains(request.method) { lines.append("Content-Length: 0") }
      return lines
    }
  }

  extension Route {
    /// In libcurl's form: any host and port of the URL, led to this address. That the URL's is the one the route was
    /// made for has been seen to, where a host that libcurl writes in other letters would be dialled past the route.
    var connectTo: String {
      let host = address.contains(":") ? "[\(address)]" : address
      return "::\(host):\(port.map { "\($0)" } ?? "")"
    }
  }
#endif
