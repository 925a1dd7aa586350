#if CORELIBS_FOUNDATION
  internal import CWaylayCurl
  import Foundation

  /// The state of the connection that an exchange uses.
  struct CurlConnectionState {
    var connection: CurlConnection?
    /// The local port; zero if libcurl does not report it.
    var localPort: Int32?
    /// Whether the connection was open before the exchange.
    var isKept = false
    /// When the request began on this connection.
    var beganAt: ContinuousClock.Instant?
    /// The number of connections on which libcurl began the request.
    var attempts = 0
    /// Bytes that libcurl counts as sent although they are not part of the request: the head of a CONNECT to a proxy.
    /// `nil` until a connection is open.
    var foreignBytes: Int?
    /// The kept connection had unread bytes that belong to no response, and was shut down before the request was sent.
    /// libcurl may leave bytes behind the end of a response unread, and would take them for the beginning of the next
    /// response.
    var isSpoilt = false
    /// The HTTP/2 stream of the request, once libcurl has reported it.
    var stream: Int?
    /// The server has refused the request without processing it.
    var isRefused = false
  }

  // Used on the loop's thread only.
  extension CurlExchange {
    /// Handles the start of a connection attempt by libcurl. If the request had begun on a kept connection that turned
    /// out to be dead, no other exchange may use that connection.
    func noteConnecting(from port: Int32) {
      loop.connections.opening(from: port)
      guard case .connected(_, let old) = position, old != port else { return }
      loop.queue.reconnecting(self)
    }

    /// Handles an open and verified connection, before anything of the request is sent on it (U10). Returns whether the
    /// request may be sent.
    func mayBegin(from port: Int32, to address: UnsafePointer<CChar>) -> Bool {
      guard !isCancelled else { return false }
      guard !loop.hasUnread(easy, from: port, to: address) else {
        connectionState.isSpoilt = true
        return false
      }
      connectionState.attempts += 1
      if connectionState.foreignBytes == nil {
        connectionState.foreignBytes = easy.map { waylay_curl_get_number($0, CurlInfo.requestSize) }
      }
      connectionState.localPort = port
      connectionState.connection = loop.noteBegun(self, from: port)
      connectionState.beganAt = .now
      connectionState.isKept = easy.map { waylay_curl_get_number($0, CurlInfo.connectCount) == 0 } ?? false
      if let gate = request.route?.gate, !gate.claim(ticket, isOnKeptConnection: connectionState.isKept) {
        return false
      }
      defer { (connectionState.stream, connectionState.isRefused) = (nil, false) }
      guard connectionState.attempts > 1, let easy else { return true }
      // libcurl retries when a kept connection is dead. A request that the server may have processed must not be sent
      // twice (RFC 9110, section 9.2.2).
      return request.isIdempotent || connectionState.isRefused || headBytesSent(easy) == 0
    }

    /// Parses libcurl's debug messages for the stream of the exchange, the last stream that a GOAWAY covers, and a
    /// refusal (RFC 9113, sections 6.8 and 8.7): libcurl reports these in no other way. Messages in the words of
    /// another version are ignored.
    func parseDebugMessage(_ text: String) {
      func number(after words: String) -> Int? {
        text.range(of: words).flatMap { Int(text[$0.upperBound...].prefix { $0.isASCII && $0.isNumber }) }
      }
      if let stream = number(after: "Using Stream ID: ") ?? number(after: "[HTTP/2] [") {
        connectionState.stream = connectionState.stream ?? stream
      } else if let last = number(after: "GOAWAY, error=0, last_stream="), let stream = connectionState.stream {
        connectionState.isRefused = stream > last
      } else if text.hasPrefix("REFUSED_STREAM") {
        connectionState.isRefused = true
      }
    }

    /// The number of bytes of the request's head that were sent. An old libcurl does not report when the connection
    /// opens; then all bytes count, including a CONNECT.
    func headBytesSent(_ easy: UnsafeMutableRawPointer) -> Int {
      guard CurlTransport.hasPrerequest else { return waylay_curl_get_number(easy, CurlInfo.requestSize) }
      return connectionState.foreignBytes.map { max(0, waylay_curl_get_number(easy, CurlInfo.requestSize) - $0) } ?? 0
    }

    /// Closes the connection with its transfer, which ends before the whole response has arrived: an old libcurl may
    /// lose a part of the rest, and would then read the next response from the wrong offset (U21).
    func closeConnection() {
      guard !CurlTransport.canMultiplex, let easy else { return }
      _ = waylay_curl_set_number(easy, CurlOption.forbidReuse, 1)
    }

    /// Ends the transfer from one of its callbacks.
    func breakOff() -> Int {
      closeConnection()
      return CurlReturn.writeError
    }

    /// The maximum number of times that a request moves to another connection.
    private static let mostDepartures = 3

    /// Whether the request may be sent on another connection: its kept connection, or one on which the server refused
    /// it, ended before a byte of the response. Servers close old connections while a request is on its way. libcurl
    /// handles this for HTTP/1, but not for HTTP/2.
    func shouldDepart(_ code: Int32, _ easy: UnsafeMutableRawPointer) -> Bool {
      guard connectionState.isKept || connectionState.isRefused, departures < Self.mostDepartures,
        CurlCode.lostConnection.contains(code)
      else { return false }
      guard !hasEnded, !isDelivered, head.status == 0, refusal == nil, upload.failure == nil, !isCancelled else {
        return false
      }
      let isUnsent = headBytesSent(easy) == 0 && waylay_curl_get_size(easy, CurlInfo.uploaded) == 0
      return isUnsent
        || (request.isIdempotent || connectionState.isRefused) && (upload.isEmpty || upload.canSeek)
    }

    /// Whether the request must not use a kept connection again.
    var needsFreshConnection: Bool { departures == Self.mostDepartures }

    /// The connection of an exchange that is being ended, if nothing has arrived on it, for any exchange, during half
    /// of this exchange's timeout.
    ///
    /// - Parameter code: The code of libcurl; `nil` if the exchange is ended by Waylay, for example by a timeout.
    func deadConnection(
      _ code: Int32?, _ easy: UnsafeMutableRawPointer
    ) -> (address: String, port: Int32, localPort: Int32)? {
      guard code == nil || code == CurlCode.timedOut, let connection = connectionState.connection,
        let beganAt = connectionState.beganAt,
        let localPort = connectionState.localPort, localPort > 0, !isHeldBack
      else { return nil }
      let silence = max(beganAt, connection.lastActivity).duration(to: .now)
      let timeout = request.idleTimeout
      let isTooLong = timeout > 0 && timeout < 1e6 && silence >= .seconds(timeout / 2)
      guard isTooLong || connection.lastActivity <= beganAt && request.route?.isPresumedDead?() == true else {
        return nil
      }
      guard let address = waylay_curl_get_text(easy, CurlInfo.primaryAddress).map({ String(cString: $0) }) else {
        return nil
      }
      return (address, Int32(truncatingIfNeeded: waylay_curl_get_number(easy, CurlInfo.primaryPort)), localPort)
    }
  }
#endif
