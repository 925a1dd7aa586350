#if InspectorServer
  public import Foundation
  import NIOCore
  import NIOHTTP1
  import WaylayCore
  import WaylayInspectorServer
  public import WaylayMocks

  /// Runs a server on the loopback address that answers with stubs, for code that cannot be intercepted: another
  /// process, or another client.
  ///
  /// ```swift
  /// try await withMockServer {
  ///   Stub(.get, "/orders", .json([]))
  /// } body: { url in
  ///   try run("curl", "\(url)orders")
  /// }
  /// ```
  ///
  /// The stubs are those of a `MockInterceptor`, with its responses, faults, reports and issues, which are reported at
  /// the end. The URL of a request has the `Host` that the client sent. A failure is a connection that ends without a
  /// response, or within its body; a response for an unmatched request has the status 501 and the report as its body.
  ///
  /// - Parameters:
  ///   - options: The response to unmatched requests, the clock of delays, and other settings of the mock.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  ///   - stubs: The stubs; later ones take precedence.
  ///   - body: Uses the server, whose URL it receives.
  /// - Throws: The errors of `body`; system errors; `WaylayError.cannotListen` in a release build, which has no server.
  public func withMockServer<Value>(
    _ options: MockInterceptor.Options = MockInterceptor.Options(unmatched: .status(501)),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    @StubBuilder _ stubs: () throws -> [Stub], body: (URL) async throws -> Value
  ) async throws -> Value {
    #if DEBUG
      let mock = try MockInterceptor(
        options, fileID: fileID, filePath: filePath, line: line, column: column, stubs)
      let server = try await MockServer(mock, bodyLimit: options.bodyLimit)
      let result: Result<Value, any Error>
      do { result = .success(try await body(server.url)) } catch { result = .failure(error) }
      await server.stop()
      mock.reportIssues()
      return try result.get()
    #else
      throw WaylayError(.cannotListen, "A release build has no server of mocks.")
    #endif
  }

  #if DEBUG
    /// A server that answers with a mock, until it is stopped.
    struct MockServer {
      let url: URL
      private let task: Task<Void, Never>

      init(_ mock: MockInterceptor, bodyLimit: Int) async throws {
        var limits = ConnectionLimits()
        (limits.body, limits.takesBodies) = (bodyLimit, true)
        let listener = try await Listener(port: 0, token: nil, limits: limits) { await $0.answer(by: mock, $1) }
        guard let url = URL(string: "http://127.0.0.1:\(listener.port)/") else {
          preconditionFailure("a port makes a URL")
        }
        self.url = url
        task = Task { await listener.run() }
      }

      func stop() async {
        task.cancel()
        await task.value
      }
    }

    extension ServerRequest {
      /// Answers with a mock. Without a response, or when its body fails, the connection ends early.
      fileprivate func answer(by mock: MockInterceptor, _ responder: Responder) async {
        let authority = head.headers.first(name: "host") ?? "127.0.0.1"
        guard let url = URL(string: head.uri.hasPrefix("/") ? "http://\(authority)\(head.uri)" : head.uri),
          let method = HTTPRequest.Method(head.method.rawValue)
        else { return mock.note("A request to a mock's server has an invalid method or URL.") }
        var fields = HTTPFields()
        for (name, value) in head.headers {
          if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        let request = InterceptedRequest(method, url, fields: fields, body: .data(Data(body.readableBytesView)))
        let end = InterceptorChain.Next { request in
          let error = WaylayError(
            .transportIncapable, "A mock's server cannot pass a request through to the network.", url: request.url)
          mock.note("\(request.method.rawValue) \(request.url.path): \(error.message)")
          throw error
        }
        do {
          let response = try await mock.startLoading(request, next: end)
          let isBare = method == .head || [204, 304].contains(response.status.code)
          // The end of the connection is the end of a body for HTTP/1.0.
          let isChunked = !isBare && response.fields[.contentLength] == nil && head.version != .http1_0
          var lines = ["HTTP/1.1 \(response.status.code) \(response.status.reasonPhrase)", "Connection: close"]
          let ownFields = ["transfer-encoding", "connection", "keep-alive"]
          lines += response.fields.filter { !ownFields.contains($0.name.canonicalName) }
            .map { "\($0.name.rawName): \($0.value)" }
          if isChunked { lines.append("Transfer-Encoding: chunked") }
          try await responder.send(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n"))
          for try await chunk in response.body where !chunk.isEmpty && !isBare {
            let size = isChunked ? String(chunk.count, radix: 16) + "\r\n" : ""
            try await responder.send(ByteBuffer(string: size))
            try await responder.send(ByteBuffer(bytes: chunk))
            if isChunked { try await responder.send(ByteBuffer(string: "\r\n")) }
          }
          if isChunked { try await responder.send(ByteBuffer(string: "0\r\n\r\n")) }
        } catch {
          // The client sees the failure as an early end; the mock's issues have its cause.
        }
      }
    }
  #endif
#else
  /// The server of mocks, which requires the package trait `InspectorServer`.
  @available(*, unavailable, message: "Enable the trait InspectorServer of the package waylay.")
  public func withMockServer(_ stubs: () -> Any, body: (Any) -> Void) {}
#endif
