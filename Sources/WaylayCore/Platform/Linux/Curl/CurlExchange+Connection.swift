#if CORELIBS_FOUNDATION
  internal import CWaylayCurl
  import Foundation

  /// What is known of the connection that an exchange is on.
  struct CurlConnectionState {
    var connection: CurlConnection?
    /// Our end of it; zero where libcurl does not say.
    var localPort: Int32?
    /// Whether it was open before.
    var isKept = false
    /// When the request began on it.
    var beganAt: ContinuousClock.Instant?
    /// Connections on which libcurl has begun the request.
    var attempts = 0
    /// What libcurl counts as sent though it is not of the request: the head of a CONNECT to a proxy. `nil` until a
    /// connection is open.
    var foreignBytes: Int?
    /// The kept connection had bytes that belong to no response: nothing of the request is on it, and it has been shut
    /// down. libcurl may read less than has come after the end of a response, and would take the rest for the response to
    /// the next request.
    var isSpoilt = false
    /// The request's stream with HTTP/2, as far as libcurl has said it.
    var stream: Int?
    /// The server has said that it has not looked at the request, and will not.
    var isRefused = false
  }

  // All of it on the loop's thread.
  extension CurlExchange {
    /// libcurl opens a connection. Where the request had begun on a kept one that has turned out dead, nobody may share
    /// that any more.
    func isConnecting(from port: Int32) {
      loop.connections.opening(from: port)
      guard case .connected(_, let old) = position, old != port else { return }
      loop.queue.reconnecting(self)
    }

    /// A connection is open, verified, and nothing of the request is on it (U10).
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
      // libcurl tries again when a kept connection turns out dead. What may have been acted on must not be sent twice
      // (RFC 9110, section 9.2.2).
      return request.isIdempotent || connectionState.isRefused || headBytesSent(easy) == 0
    }

    /// libcurl says something of the exchange: which stream it is on, which was the last one that a server that goes
    /// away has looked at, that it has refused this one (RFC 9113, sections 6.8 and 8.7). It has no other way to tell; what
    /// another version says in other words counts for nothing.
    func remarked(_ text: String) {
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

    /// Bytes of the request's head that were sent. An old libcurl does not say when the connection is open; then all
    /// counts, a CONNECT too.
    func headBytesSent(_ easy: UnsafeMutableRawPointer) -> Int {
      guard CurlTransport.hasPrerequest else { return waylay_curl_get_number(easy, CurlInfo.requestSize) }
      return connectionState.foreignBytes.map { max(0, waylay_curl_get_number(easy, CurlInfo.requestSize) - $0) } ?? 0
    }

    /// Has the connection close with its transfer, which is ended before all of the response has come: an older libcurl may
    /// lose a part of what is left of it, and would then read the next response from the wrong place (U21).
    func closeConnection() {
      guard !CurlTransport.canMultiplex, let easy else { return }
      _ = waylay_curl_set_number(easy, CurlOption.forbidReuse, 1)
    }

    /// Ends the transfer from one of its callbacks.
    func breakOff() -> Int {
      closeConnection()
      return CurlReturn.writeError
    }

    /// How often a request is taken to another connection.
    private static let mostDepartures = 3

    /// Whether a connection that was kept, or on which the server has refused the request, has ended before a byte of the
    /// response, and the request may go out on another one: it is nobody's fault when a server closes a connection that is old, or has carried enough, while a request
    /// is on its way. libcurl sees to it with HTTP/1, and leaves it to us where a connection of HTTP/2 ends.
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

    /// Whether no kept connection is to be tried any more.
    var needsFreshConnection: Bool { departures == Self.mostDepartures }

    /// The connection of an exchange that is ended, where nothing has come on it, for anybody, for half as long as this
    /// one was to wait.
    ///
    /// - Parameter code: libcurl's; `nil` when it is ended from our side, by a timeout of the load for example.
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
