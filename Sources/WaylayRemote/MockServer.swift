#if InspectorServer
  public import Foundation
  import NIOCore
  import NIOHTTP1
  import WaylayCore
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
  /// On Linux a client that has closed its socket ends its request; on other systems one that waits for its response
  /// looks the same. The end waits for closures of stubs: one has to heed its cancellation.
  ///
  /// - Parameters:
  ///   - options: The response to unmatched requests, the clock of delays, and other settings of the mock.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  ///   - stubs: The stubs; later ones take precedence.
  ///   - body: Uses the server, whose URL it receives.
  /// - Throws: The errors of `body`; `WaylayError.cannotListen`, also in a release build, which has no server.
  public func withMockServer<Value>(
    _ options: MockInterceptor.Options = MockInterceptor.Options(unmatched: .status(501)),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    @StubBuilder _ stubs: () throws -> [Stub], body: (URL) async throws -> Value
  ) async throws -> Value {
    #if DEBUG
      let mock = try MockInterceptor(
        options, fileID: fileID, filePath: filePath, line: line, column: column, stubs)
      defer { mock.reportIssues() }
      return try await mock.serve(bodyLimit: options.bodyLimit, body)
    #else
      throw WaylayError(.cannotListen, "A release build has no server of mocks.")
    #endif
  }

  #if DEBUG
    extension MockInterceptor {
      /// Serves the stubs on the loopback address while `body` runs.
      func serve<Value>(bodyLimit: Int, _ body: (URL) async throws -> Value) async throws -> Value {
        var limits = ConnectionLimits()
        (limits.body, limits.takesBodies, limits.strangers, limits.requests) = (bodyLimit, true, .max, .max)
        // One load for all requests: with credentials, the next one continues the use of the stub that asked for them.
        let load = InterceptedRequest(.get, "http://127.0.0.1")
        // Closures of stubs run with the task-local values of the test.
        let context = TaskContext()
        context.begin()
        defer { context.end() }
        let listener = try await Listener(port: 0, token: nil, limits: limits) { request, responder in
          try? await context.run { try await request.answer(as: load, by: self, responder) }
        }
        async let _: Void = listener.run()
        return try await body(listener.url())
      }
    }

    extension ServerRequest {
      /// Answers with a mock. Without a response, or when its body fails, the connection ends early, and the mock's
      /// issues have the cause.
      fileprivate func answer(
        as load: InterceptedRequest, by mock: MockInterceptor, _ responder: Responder
      ) async throws {
        let authority = head.headers.first(name: "host") ?? "127.0.0.1"
        guard let url = URL(string: head.uri.hasPrefix("/") ? "http://\(authority)\(head.uri)" : head.uri),
          let method = HTTPRequest.Method(head.method.rawValue)
        else { return mock.note("A request to a mock's server has an invalid method or URL.") }
        var request = load
        (request.method, request.url, request.body) = (method, url, .data(Data(body.readableBytesView)))
        for (name, value) in head.headers {
          if let name = HTTPField.Name(name) { request.fields.append(HTTPField(name: name, value: value)) }
        }
        let end = InterceptorChain.Next { request in
          let error = WaylayError(
            .transportIncapable, "A mock's server cannot pass a request through to the network.", url: request.url)
          mock.note("\(request.method.rawValue) \(request.url.path): \(error.message)")
          throw error
        }
        let response = try await mock.startLoading(request, next: end)
        // The end of the connection is the end of a body for HTTP/1.0.
        let isChunked =
          response.fields[.contentLength] == nil && head.version != .http1_0
          && method != .head && ![204, 304].contains(response.status.code)
        var lines = ["HTTP/1.1 \(response.status.code) \(response.status.reasonPhrase)", "Connection: close"]
        let ownFields = ["transfer-encoding", "connection", "keep-alive"]
        lines += response.fields.filter { !ownFields.contains($0.name.canonicalName) }
          .map { "\($0.name.rawName): \($0.value)" }
        if isChunked { lines.append("Transfer-Encoding: chunked") }
        try await responder.send(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n"))
        for try await chunk in response.body where !chunk.isEmpty {
          var bytes = ByteBuffer(string: isChunked ? String(chunk.count, radix: 16) + "\r\n" : "")
          bytes.writeBytes(chunk)
          bytes.writeString(isChunked ? "\r\n" : "")
          try await responder.send(bytes)
        }
        if isChunked { try await responder.send(ByteBuffer(string: "0\r\n\r\n")) }
      }
    }
  #endif
#else
  /// The server of mocks, which requires the package trait `InspectorServer`.
  @available(*, unavailable, message: "Enable the trait InspectorServer of the package waylay.")
  public func withMockServer(_ stubs: () -> Any, body: (Any) -> Void) {}
#endif
