#if canImport(FoundationNetworking)
  internal import CWaylayCurl
  import Foundation

  // On the loop's thread.
  extension CurlExchange {
    /// Tells libcurl everything about the request.
    func begin(_ easy: UnsafeMutableRawPointer, _ sockets: UnsafeMutableRawPointer) -> Bool {
      guard !isCancelled else { return false }
      self.easy = easy
      if !decodes { _ = waylay_curl_set_number(easy, CurlOption.contentDecoding, 0) }
      _ = waylay_curl_set_context(easy, Unmanaged.passUnretained(self).toOpaque())
      _ = waylay_curl_set_error_buffer(easy, message)
      let setUp = CurlRequest(
        easy: easy, options: transport.options, authorities: transport.authorities,
        isLoadsOwnTimeout: request.observer?.watchesTimeout ?? false)
      guard setUp.apply(to: request, url: url, upload: upload) else { return false }
      guard let list = setUp.list(fields) else { return false }
      lists.append(list)
      _ = waylay_curl_set_list(easy, CurlOption.httpHeader, list)
      if let route = request.route {
        // Whoever gives an address means that one: a proxy of the environment would be another, and be taken for it
        // when it fails.
        _ = waylay_curl_set_text(easy, CurlOption.proxy, "")
        guard let target = setUp.list([route.connectTo]) else { return false }
        lists.append(target)
        _ = waylay_curl_set_list(easy, CurlOption.connectTo, target)
      }
      if request.route?.isFresh == true || needsFreshConnection {
        _ = waylay_curl_set_number(easy, CurlOption.freshConnect, 1)
      }
      guard waylay_curl_set_sockets(easy, sockets) == 0 else { return false }
      return waylay_curl_set_callbacks(
        easy,
        { bytes, size, count, context in CurlExchange.from(context).receivedHead(bytes, size * count) },
        { bytes, size, count, context in CurlExchange.from(context).received(bytes, size * count) },
        { bytes, size, count, context in CurlExchange.from(context).send(into: bytes, size * count) },
        { context, offset, origin in
          CurlExchange.from(context).seek(to: offset, origin: origin) ? 0 : CurlAnswer.cannotSeek
        },
        CurlTransport.hasPrerequest
          ? { context, _, _, _, port in CurlExchange.from(context).mayBegin(from: port) ? 0 : CurlAnswer.prerequestAbort
          } : nil) == 0
    }

    /// Safe: the loop keeps an exchange for as long as libcurl has its handle.
    private static func from(_ context: UnsafeMutableRawPointer?) -> CurlExchange {
      guard let context else { preconditionFailure("libcurl called back without a context") }
      return Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue()
    }
  }
#endif
