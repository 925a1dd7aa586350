import Foundation
import WaylayCore
import WaylayHAR
import WaylayInspector

/// One connection of a client: its request, and what is done with it.
struct ProxyConnection {
  private let wire: Wire
  private let proxy: ForwardProxy

  init(_ wire: Wire, _ proxy: ForwardProxy) {
    (self.wire, self.proxy) = (wire, proxy)
  }

  func serve() async {
    do {
      guard let head = try await ProxyHead.read(from: wire, within: ForwardProxy.headTime) else { return }
      if head.method == "CONNECT" { try await tunnel(head) } else { try await relay(head) }
    } catch let refusal as ProxyHead.Refusal {
      await refuse(refusal.status, refusal.reason)
    } catch {
      // The client has gone, or nothing was heard of it: there is nobody to tell.
    }
  }

  /// Gives an answer of our own.
  func refuse(_ status: Int, _ reason: String) async {
    let phrases = [
      400: "Bad Request", 431: "Request Header Fields Too Large", 502: "Bad Gateway", 503: "Service Unavailable",
      505: "HTTP Version Not Supported", 508: "Loop Detected",
    ]
    let lines = [
      "HTTP/1.1 \(status) \(phrases[status] ?? "")", "Content-Type: text/plain; charset=utf-8",
      "Content-Length: \(reason.utf8.count + 1)", "Connection: close", "", "\(reason)\n",
    ]
    try? await wire.write(Data(lines.joined(separator: "\r\n").utf8))
    await wire.linger()
  }

  // MARK: Plain requests

  private func relay(_ head: ProxyHead) async throws {
    let request = try request(for: head)
    var body: MessageBody?
    if head.framing != .none {
      let source = ProxyBody(head, wire)
      var length: Int64?
      if case .length(let known) = head.framing { length = known }
      body = .stream(Chunks(body: source), length: length)
    }
    let response: InterceptedResponse
    do {
      response = try await proxy.registry.load(request, body: body)
    } catch {
      throw ProxyHead.Refusal(status: 502, reason: ToolFailure(error).message)
    }
    try await pass(response, to: head)
    await wire.linger()
  }

  /// The pieces of a request's body, for one reading.
  private struct Chunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let body: ProxyBody

    func makeAsyncIterator() -> Chunks { self }

    func next() async throws -> Data? { try await body.next() }
  }

  private func request(for head: ProxyHead) throws -> URLRequest {
    guard head.target.lowercased().hasPrefix("http://"), let url = URL(string: head.target), let host = url.host,
      !host.isEmpty
    else {
      throw ProxyHead.Refusal(
        status: 400,
        reason:
          "This is an HTTP proxy: send it absolute URLs that begin with http://, or CONNECT for a tunnel.")
    }
    let own =
      ["127.0.0.1", "localhost", "0.0.0.0", "::1", "[::1]"].contains(host.lowercased()) || host.hasPrefix("127.")
    let via = head.fields.filter { $0.name.lowercased() == "via" }.map(\.value)
    guard !(own && url.port == Int(proxy.port)), !via.contains(where: { $0.contains(proxy.name) }) else {
      throw ProxyHead.Refusal(
        status: 508, reason: "The request leads back to this proxy. Is http_proxy set where waylay runs?")
    }
    var request = URLRequest(url: url)
    request.httpMethod = head.method
    let named = ProxyHead.named(by: head.fields.filter { $0.name.lowercased() == "connection" }.map(\.value))
    // `Host` follows from the URL (RFC 9112, section 3.2.2), the length from the body; the codings are ours to undo.
    let left: Set<String> = ["host", "content-length", "expect", "accept-encoding", "via"]
    for (name, value) in head.fields where !ProxyHead.isHopByHop(name, named) && !left.contains(name.lowercased()) {
      request.addValue(value, forHTTPHeaderField: name)
    }
    // Bodies are shown as text: they are asked for as they are.
    request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    let hop = "\(head.isModern ? "1.1" : "1.0") \(proxy.name)"
    request.setValue((via + [hop]).joined(separator: ", "), forHTTPHeaderField: "Via")
    return request
  }

  /// Writes an answer as its bytes come.
  private func pass(_ response: InterceptedResponse, to head: ProxyHead) async throws {
    let codings = ProxyHead.named(by: response.fields[values: .contentEncoding]).filter { $0 != "identity" }
    guard codings.allSatisfy({ ["gzip", "x-gzip", "deflate"].contains($0) }) else {
      throw ProxyHead.Refusal(
        status: 502,
        reason: "The server encoded its response as \(codings.joined(separator: ", ")) although it was asked not to.")
    }
    let status = response.status.code
    let hasBody = head.method != "HEAD" && status != 204 && status != 304
    let named = ProxyHead.named(by: response.fields[values: .connection])
    var lines = ["HTTP/1.1 \(status) \(response.status.reasonPhrase)"]
    for field in response.fields where !ProxyHead.isHopByHop(field.name.rawName, named) {
      let name = field.name.canonicalName
      // What was coded has been undone. A length is known by what comes.
      if !codings.isEmpty, name == "content-encoding" || name == "content-length" { continue }
      if hasBody, name == "content-length" { continue }
      lines.append("\(field.name == RedirectsAside.aside ? "Location" : field.name.rawName): \(field.value)")
    }
    let length = response.body.length
    let isChunked = hasBody && length == nil && head.isModern
    if hasBody, let length { lines.append("Content-Length: \(length)") }
    if isChunked { lines.append("Transfer-Encoding: chunked") }
    lines += ["Via: 1.1 \(proxy.name)", "Connection: close", "", ""]
    try await wire.write(Data(lines.joined(separator: "\r\n").utf8))
    guard hasBody else { return await response.body.discard() }
    for try await chunk in response.body where !chunk.isEmpty {
      guard isChunked else {
        try await wire.write(chunk)
        continue
      }
      try await wire.write(Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8))
    }
    if isChunked { try await wire.write(Data("0\r\n\r\n".utf8)) }
  }

  // MARK: Tunnels

  private func tunnel(_ head: ProxyHead) async throws {
    guard let authority = Authority(head.target) else {
      throw ProxyHead.Refusal(status: 400, reason: "CONNECT needs a host and a port: example.com:443.")
    }
    let record = TunnelRecord(head, authority)
    let id = proxy.inspector.add(record.entry(state: "open"))
    let port = proxy.port
    let connected = await onThread { Result { try authority.connect(except: port) } }
    let origin: (wire: Wire, address: String)
    switch connected {
    case .success(let made): origin = made
    case .failure(let error):
      let failure = error as? Authority.Failure ?? Authority.Failure(status: 502, reason: "\(error)")
      proxy.inspector.update(id, to: record.entry(state: "failed", error: failure.reason))
      throw ProxyHead.Refusal(status: failure.status, reason: failure.reason)
    }
    let connect = record.began.duration(to: .now)
    proxy.inspector.update(id, to: record.entry(state: "open", address: origin.address, connect: connect))
    defer { origin.wire.close() }
    do {
      try await wire.write(Data("HTTP/1.1 200 Connection Established\r\n\r\n".utf8))
    } catch {
      proxy.inspector.update(id, to: record.entry(state: "failed", error: "the client has gone"))
      throw error
    }
    let wire = wire
    let count = await withTaskCancellationHandler {
      await onThread { Tunnel.run(wire, origin.wire) }
    } onCancel: {
      origin.wire.abort()
    }
    proxy.inspector.update(
      id, to: record.entry(state: "finished", address: origin.address, connect: connect, count: count))
  }

  /// Runs what waits on a thread of its own: those of tasks are few.
  private func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: work()) }
    }
  }
}

/// A tunnel as an entry of an archive.
struct TunnelRecord {
  let began = ContinuousClock.now
  private let started = Date()
  private let head: ProxyHead
  private let authority: Authority

  init(_ head: ProxyHead, _ authority: Authority) {
    (self.head, self.authority) = (head, authority)
  }

  /// What is known of it. Of its bytes, how many there were.
  func entry(
    state: String, address: String? = nil, connect: Duration? = nil, count: Tunnel.Count? = nil, error: String? = nil
  ) -> HAR.Entry {
    let all = began.duration(to: .now) / .milliseconds(1)
    let host = authority.host.contains(":") ? "[\(authority.host)]" : authority.host
    let (sent, received) = (Int(clamping: count?.sent ?? 0), Int(clamping: count?.received ?? 0))
    var request = HAR.Request(
      method: "CONNECT", url: "https://\(host):\(authority.port)",
      headers: head.fields.map { HAR.Field($0.name, $0.value) },
      body: sent > 0 ? HAR.Body(size: sent) : nil)
    request.bodySize = sent
    let isUp = address != nil
    var response = HAR.Response(
      status: isUp ? 200 : 0, statusText: isUp ? "Connection Established" : "", body: HAR.Body(size: received))
    response.bodySize = received
    let connecting = connect.map { $0 / .milliseconds(1) }
    var entry = HAR.Entry(
      started: started, request: request, response: response,
      timings: HAR.Timings(connect: connecting, receive: max(0, all - (connecting ?? 0))))
    entry.serverAddress = address
    if let count {
      entry.comment =
        "\(count.isTLS ? "encrypted" : "a tunnel"): not seen; \(count.sent) bytes sent, \(count.received) received"
    } else if isUp {
      entry.comment = "a tunnel: what goes through it is not seen"
    }
    entry.extensions = ["_state": .string(state), "_source": "tunnel"]
    if let error { entry.extensions["_error"] = .string(error) }
    return entry
  }
}
