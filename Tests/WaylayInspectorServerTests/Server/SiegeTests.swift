#if InspectorServer
  import Foundation
  import NIOCore
  import TestSupport
  import Testing
  import WaylayHAR
  import WaylayInspector

  @testable import WaylayInspectorServer

  @Suite("The server of a page, when somebody means it no good", .heavy, .timeLimit(.minutes(10)))
  struct SiegeTests {
    /// Gives a server with limits that suit a test, and stops it.
    private func withServer(
      _ inspector: Inspector = Inspector(), listeners: Int = 8, _ change: (inout ConnectionLimits) -> Void = { _ in },
      _ body: (URL) async throws -> Void
    ) async throws {
      var limits = ConnectionLimits()
      change(&limits)
      var options = InspectorServer.Options()
      (options.logger, options.maximumListeners) = (nil, listeners)
      let server = InspectorServer(inspector, options: options, limits: limits)
      let url = try await server.start()
      do {
        try await body(url)
        await server.stop()
      } catch {
        await server.stop()
        throw error
      }
    }

    private func head(_ url: URL, _ path: String = "/", _ fields: String = "") -> String {
      "GET \(url.path)\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(url.port ?? 0)\r\n\(fields)\r\n"
    }

    /// Expects the page to be served.
    private func expectPage(_ url: URL, sourceLocation: SourceLocation = #_sourceLocation) async throws {
      let client = try await RawClient(url)
      defer { client.close() }
      try await client.send(head(url))
      let text = await client.text()
      #expect(text.hasPrefix("HTTP/1.1 200"), sourceLocation: sourceLocation)
      #expect(text.hasSuffix("</html>") || text.hasSuffix("</html>\n"), sourceLocation: sourceLocation)
    }

    @Test(
      "five hundred connections that say nothing, or say it slowly, keep nobody from the page, and few of them stay")
    func crowd() async throws {
      try await withServer { url in
        var crowd: [RawClient] = []
        for number in 0..<500 {
          let client = try await RawClient(url)
          // Whoever was closed meanwhile cannot send any more.
          if number % 2 == 0 { try? await client.send("GET /") }
          crowd.append(client)
        }
        try await expectPage(url)
        for client in crowd { try? await client.send("x") }
        try await expectPage(url)
        // The oldest had to go.
        for client in crowd.prefix(430) { #expect(await client.text().isEmpty) }
        for client in crowd { client.close() }
      }
    }

    @Test("a head that is not there in time ends its connection")
    func slowHeads() async throws {
      try await withServer(Inspector(), { $0.headTime = .seconds(1) }) { url in
        var slow: [RawClient] = []
        for text in ["", "GET", "GET \(url.path)/ HTTP/1.1\r\n", String(head(url).dropLast(2))] {
          let client = try await RawClient(url)
          // On a busy machine its time may be over by then.
          try? await client.send(text)
          slow.append(client)
        }
        // One letter after the other does not give it more time. A pause between them, for no more than a head may have.
        let drip = Task { [client = slow[2]] in
          try await client.send("X-A: ")
          while !Task.isCancelled {
            try await client.send("a")
            try await Task.sleep(for: .milliseconds(20))
          }
        }
        for client in slow { #expect(await client.text().isEmpty) }
        drip.cancel()
      }
    }

    @Test(
      "lines, fields, heads and bodies that have no end are refused at their limit",
      arguments: [
        (beginning: "GET /", more: "a", status: 431),
        ("GET", "a", 400),
        ("GET / HTTP/1.1\r\n", "X-A: b\r\n", 431),
        ("GET / HTTP/1.1\r\nX-A: ", "b", 431),
        ("GET / HTTP/1.1\r\n", "a", 431),
        ("GET / HTTP/1.1\r\nX: y\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", "a", 403),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n", 403),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;", "a", 403),
        ("\r\n", "\r\n", 0),
      ])
    func endless(beginning: String, more: String, status: Int) async throws {
      let piece = String(repeating: more, count: (64 << 10) / more.utf8.count)
      try await withServer(Inspector(), { ($0.headTime, $0.closeTime) = (.seconds(2), .milliseconds(200)) }) { url in
        let client = try await RawClient(url)
        // Whoever goes on all the same is cut off.
        try? await client.send(beginning)
        while client.isOpen, (try? await client.send(piece)) != nil {}
        let answer = await client.text()
        #expect(status == 0 ? answer.isEmpty : answer.isEmpty || answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer)")
      }
      // Who stops sending is told why, however long a busy machine takes to read what was sent.
      try await withServer(Inspector(), { ($0.headTime, $0.closeTime) = (.minutes(10), .minutes(10)) }) { url in
        try await expectPage(url)
        let polite = try await RawClient(url)
        try await polite.send(beginning + piece)
        if status != 0 { #expect(await polite.text().hasPrefix("HTTP/1.1 \(status)")) }
        polite.close()
      }
    }

    @Test("a body is refused by its length, even of a request with the token")
    func bodies() async throws {
      try await withServer { url in
        for (field, status) in [
          ("Content-Length: 10", 404), ("Content-Length: 65537", 413), ("Transfer-Encoding: chunked", 413),
          ("Content-Length: 99999999999999999999", 400), ("Content-Length: 3\r\nContent-Length: 5", 400),
        ] {
          let client = try await RawClient(url)
          try await client.send(head(url, "/x", "\(field)\r\n"))
          #expect(await client.text().hasPrefix("HTTP/1.1 \(status)"), "\(field)")
        }
      }
    }

    @Test("a page that takes nothing holds up nobody, is waited for, and is given up at last")
    func stalled() async throws {
      let inspector = Inspector()
      let body = String(repeating: "a", count: 60_000)
      for number in 0..<120 { inspector.add(Traffic.exchange(number, "https://a.test/\(number)", body: body)) }
      try await withServer(inspector, listeners: 1, { $0.stallTime = .seconds(2) }) { url in
        let client = try await RawClient(url, isReading: false)
        try await client.send(head(url, "/events"))
        try await expectPage(url)
        // Its place is free when it has been given up.
        var text = ""
        while !text.contains("event: hello"), !Task.isCancelled {
          let other = try await RawClient(url)
          try await other.send(head(url, "/events"))
          text = await other.text(until: "event: ")
          other.close()
        }
        #expect(text.contains("event: hello"))
        client.close()
      }
    }

    @Test("more requests with the token than may be at once are told so, and those that may are answered")
    func requests() async throws {
      try await withServer(Inspector(), listeners: 100, { $0.requests = 10 }) { url in
        var open: [RawClient] = []
        for _ in 0..<10 {
          let client = try await RawClient(url)
          try await client.send(head(url, "/events"))
          #expect(await client.text(until: "event: hello").contains("event: hello"))
          open.append(client)
        }
        let client = try await RawClient(url)
        try await client.send(head(url))
        #expect(await client.text().hasPrefix("HTTP/1.1 503"))
        open[0].close()
        var text = ""
        while !text.hasPrefix("HTTP/1.1 200"), !Task.isCancelled {
          let client = try await RawClient(url)
          try await client.send(head(url))
          text = await client.text()
        }
        #expect(text.hasPrefix("HTTP/1.1 200"))
        for client in open { client.close() }
      }
    }

    @Test("who ends its half of the connection gets its answer")
    func halfClosed() async throws {
      try await withServer { url in
        let client = try await RawClient(url)
        try await client.send(head(url))
        client.endSending()
        #expect(await client.text().hasPrefix("HTTP/1.1 200"))
      }
    }

    #if os(Linux)
      @Test(
        "another user of the machine gets nothing, though it has the token",
        .enabled(
          if: geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")
            && FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"),
          "only root can be another user, by setpriv, and ask, by curl"))
      func otherUser() async throws {
        try await withServer { url in
          let ask = [
            "/usr/bin/curl", "-s", "--max-time", "20", "-o", "/dev/null", "-w", "%{http_code}", url.absoluteString,
          ]
          let other = try await Program(path: "/usr/bin/setpriv").run(
            ["--reuid", "65534", "--regid", "65534", "--clear-groups"] + ask)
          #expect(other.output == "403")
          #expect(try await Program(path: ask[0]).run(Array(ask.dropFirst())).output == "200")
        }
      }

      @Test("who nobody can be asked about gets nothing, though it has the token", .exitTest)
      func unknownUser() async throws {
        await #expect(processExitsWith: .success) {
          Process.limit()
          var options = InspectorServer.Options()
          options.logger = nil
          let server = InspectorServer(Inspector(), options: options)
          let url = try await server.start()
          let head = "GET \(url.path)/ HTTP/1.1\r\nHost: 127.0.0.1:\(url.port ?? 0)\r\n\r\n"
          let known = try await RawClient(url)
          try await known.send(head)
          let page = await known.text()
          Process.require(page.hasPrefix("HTTP/1.1 200"), page)
          let unknown = try await RawClient(url)
          try await unknown.send("GET ")
          // The server has accepted it when it has accepted the next one. Then no descriptor is left to ask with.
          let next = try await RawClient(url)
          try await next.send(head)
          _ = await next.text()
          var taken: [CInt] = []
          while case let copy = dup(0), copy >= 0 { taken.append(copy) }
          try await unknown.send(String(head.dropFirst(4)))
          let text = await unknown.text()
          for descriptor in taken { close(descriptor) }
          Process.require(text.hasPrefix("HTTP/1.1 403"), text)
          await server.stop()
        }
      }

      @Test("nothing is left when it has stopped: no descriptor, no thread, whatever was open", .exitTest)
      func nothingLeft() async throws {
        await #expect(processExitsWith: .success) {
          Process.limit()
          func threads() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count }
          let inspector = Inspector()
          for number in 0..<20 {
            inspector.add(Traffic.exchange(number, "https://a.test/", body: String(repeating: "a", count: 60_000)))
          }
          var before = (descriptors: 0, threads: 0)
          for round in 0..<7 {
            var options = InspectorServer.Options()
            options.logger = nil
            let server = InspectorServer(inspector, options: options)
            let url = try await server.start()
            let ask = "GET \(url.path)/events HTTP/1.1\r\nHost: 127.0.0.1:\(url.port ?? 0)\r\n\r\n"
            let clients = [
              try await RawClient(url), try await RawClient(url), try await RawClient(url, isReading: false),
            ]
            try await clients[0].send("GET /")
            try await clients[1].send(ask)
            try await clients[2].send(ask)
            _ = await clients[1].text(until: "event: complete")
            await server.stop()
            Process.require(await clients[1].text().contains("event: end"), "the page is told of the end")
            _ = await clients[0].text()
            for client in clients { try await client.closed() }
            let now = (descriptors: try Process.openDescriptors, threads: try threads())
            // The first rounds make what the process keeps: the client's loops, Dispatch's threads.
            if round == 3 { before = now }
            Process.require(
              round < 4 || now.descriptors <= before.descriptors && now.threads <= before.threads + 1,
              "\(round): \(before), then \(now)")
          }
        }
      }
    #endif
  }
#endif
