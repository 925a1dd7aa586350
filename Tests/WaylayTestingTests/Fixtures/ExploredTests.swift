import Foundation
import Testing
import WaylayTesting

/// Clients with one mistake each, and clients without: only in the process that `ExplorationTests` starts.
@Suite("Explored", .enabled(if: Fixtures.areEnabled), .serialized)
struct ExploredTests {
  @Suite("Wrong", .exploringFaults(limit: 200))
  struct Wrong {
    @Test("sends an order again after a reset", .mocked { Stub(.post, "/orders", .status(201)).optional })
    func doublePost() async throws {
      let client = ExploredClient()
      do { _ = try await client.ok(client.request("POST", "/orders", body: "tea")) } catch is URLError {
        _ = try await client.ok(client.request("POST", "/orders", body: "tea"))
      }
    }

    @Test(
      "refreshes its token once for each request",
      .mocked {
        Stub(.get, "/a/*", .text("x")); Stub(.post, "/token", .text("new")).optional
      })
    func stampede() async throws {
      let client = ExploredClient()
      // All are refused before the first one refreshes, on a busy machine too.
      let refused = try await withThrowingTaskGroup(of: Int?.self) { group in
        for number in 0..<3 {
          group.addTask {
            try await client.send(client.request("GET", "/a/\(number)", token: "old")).status == 401 ? number : nil
          }
        }
        return try await group.reduce(into: []) { numbers, number in numbers += [number].compactMap(\.self) }
      }
      for number in refused {
        let token = try await client.ok(client.request("POST", "/token", body: "refresh"))
        _ = try await client.ok(client.request("GET", "/a/\(number)", token: token))
      }
    }

    @Test("asks again and again without a pause", .mocked { Stub(.get, "/a", .text("x")) })
    func storm() async throws {
      let client = ExploredClient()
      while try await client.send(client.request("GET", "/a")).status != 200 { try Task.checkCancellation() }
    }

    @Test("swallows a cancellation and tries again", .mocked { Stub(.get, "/a", .text("x")) })
    func swallowed() async throws {
      let client = ExploredClient()
      for _ in 0..<4 {
        if let text = try? await client.ok(client.request("GET", "/a")) { return #expect(text == "x") }
        try? await client.clock.sleep(for: .seconds(1))
      }
    }

    @Test("takes half a list for all of it", .mocked { Stub(.get, "/list", .text("[1,2,3,4,5,6]")) })
    func halfJSON() async throws {
      let client = ExploredClient()
      var text = ""
      do {
        for try await chunk in try await client.chunks("/list") { text += String(decoding: chunk, as: UTF8.self) }
      } catch  where !text.isEmpty {}
      #expect(text.split { !$0.isNumber }.count == 6)
    }

    @Test(
      "loses events that come together, or in parts",
      .mocked { Stub(.get, "/events", .events([.init("a"), .init("b")])) })
    func lostEvent() async throws {
      #expect(try await Events.byChunk(ExploredClient().chunks("/events")) == ["a", "b"])
    }

    @Test(
      "resumes a byte too late",
      .mocked { Stub(.get, "/file", .data(Data("0123456789".utf8)).field("ETag", "\"1\"").servingRanges()) })
    func wrongOffset() async throws {
      let client = ExploredClient()
      var received = Data()
      for _ in 0..<3 {
        var request = client.request("GET", "/file")
        if !received.isEmpty { request.setValue("bytes=\(received.count + 1)-", forHTTPHeaderField: "Range") }
        do {
          let response = try await client.registry!.load(request)
          guard response.status.code < 300 else { throw ExploredClient.Failed() }
          for try await chunk in response.body { received += chunk }
          return #expect(received == Data("0123456789".utf8))
        } catch is CancellationError { throw CancellationError() } catch  where !received.isEmpty {}
      }
    }

    @Test("waits for ever for what has failed", .mocked { Stub(.get, "/a", .text("x")) })
    func leakedContinuation() async throws {
      let client = ExploredClient()
      let text = await withUnsafeContinuation { continuation in
        client.session.dataTask(with: client.request("GET", "/a")) { data, _, error in
          if error == nil { continuation.resume(returning: data.map { String(decoding: $0, as: UTF8.self) }) }
        }.resume()
      }
      #expect(text == "x")
    }

    @Test("waits for any number of seconds", .mocked { Stub(.get, "/a", .text("x")) })
    func endlessTimeout() async throws {
      let client = ExploredClient()
      var request = client.request("GET", "/a")
      request.timeoutInterval = .greatestFiniteMagnitude
      _ = try? await client.ok(request)
    }

    @Test("gives up waiting, and leaves the load behind", .mocked { Stub(.get, "/a", .text("x")) })
    func abandoned() async throws {
      let client = ExploredClient()
      let load = Task { try await client.ok(client.request("GET", "/a")) }
      let text: String? = await withTaskGroup(of: String?.self) { group in
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Task { if let text = try? await load.value { continuation.yield(text) } }
        group.addTask { await stream.first { _ in true } }
        group.addTask {
          try? await client.clock.sleep(for: .seconds(5))
          return nil
        }
        defer { group.cancelAll() }
        return await group.next() ?? nil
      }
      #expect(text == "x")
    }

    @Test(
      "keeps its turn when it fails",
      .mocked {
        Stub(.get, "/a", .text("x")); Stub(.get, "/b", .text("y"))
      })
    func keptTurn() async throws {
      let (client, turn) = (ExploredClient(), Turn())
      func get(_ path: String) async throws -> String {
        await turn.take()
        let text = try await client.ok(client.request("GET", path))
        await turn.pass()
        return text
      }
      let first = try? await get("/a")
      let second = try? await get("/b")
      #expect(first == "x" && second == "y")
    }

    @Test("reads text chunk by chunk", .mocked { Stub(.get, "/text", .text("Grüße aus Köln")) })
    func brokenText() async throws {
      var text = ""
      for try await chunk in try await ExploredClient().chunks("/text") {
        text += String(decoding: chunk, as: UTF8.self)
      }
      #expect(text == "Grüße aus Köln")
    }

    @Test(
      "refreshes its token for ever",
      .mocked {
        Stub(.get, "/a", .text("x")); Stub(.post, "/token", .text("new")).optional
      })
    func endlessRefresh() async throws {
      let client = ExploredClient()
      var token = "old"
      while true {
        try Task.checkCancellation()
        let (_, status) = try await client.send(client.request("GET", "/a", token: token))
        guard status == 401 else { return }
        token = try await client.ok(client.request("POST", "/token", body: "refresh"))
      }
    }

    @Test(
      "sends what it tells nobody about after the test",
      .mocked {
        Stub(.get, "/a", .text("x")); Stub(.get, "/seen", .status(204)).optional
      })
    func fireAndForget() async throws {
      let client = ExploredClient()
      _ = try await client.ok(client.request("GET", "/a"))
      let seen = Task { _ = try? await client.ok(client.request("GET", "/seen")) }
      try await client.clock.sleep(for: .seconds(1))
      _ = seen
    }

    @Test(
      "begins again from the order when the receipt fails",
      .mocked {
        Stub(.post, "/orders", .status(201)).optional
        Stub(.get, "/receipt", .text("paid")).optional
      })
    func wholeAgain() async throws {
      let client = ExploredClient()
      let text = try await client.patiently(2) {
        _ = try await client.ok(client.request("POST", "/orders", body: "tea"))
        return try await client.ok(client.request("GET", "/receipt"))
      }
      #expect(text == "paid")
    }

    @Test("polls without a pause while nothing is new", .mocked { Stub(.get, "/job", .text("done")) })
    func polling() async throws {
      let client = ExploredClient()
      var text = ""
      while text.isEmpty {
        try Task.checkCancellation()
        text = (try? await client.send(client.request("GET", "/job")))?.text ?? ""
      }
      #expect(text == "done")
    }
  }

  private static let events = Stub(.get, "/events", .events([.init("a", id: "1"), .init("b", id: "2")]))

  @Suite("Streams", .exploringFaults())
  struct Streams {
    @Test("takes a stream that was cut for one that has ended", .mocked { ExploredTests.events })
    func cut() async throws {
      var chunks = try await ExploredClient().chunks("/events").makeAsyncIterator()
      var data = Data()
      while let chunk = try? await chunks.next() { data += chunk }
      #expect(Events.parsed(&data).map(\.data) == ["a", "b"])
    }

    @Test("shows events again when it connects again", .mocked { ExploredTests.events })
    func again() async throws {
      #expect(try await ExploredClient().events("/events", isResuming: false) == ["a", "b"])
    }

    @Test("connects again from the last event on", .mocked { ExploredTests.events })
    func resuming() async throws {
      #expect(try await ExploredClient().events("/events", isResuming: true) == ["a", "b"])
    }
  }

  @Suite("Limits")
  struct Limits {
    @Test("has no mock", .exploringFaults())
    func unmocked() {}

    @Test("has a seed of another test", .mocked { Stub(.get, "/a", .text("x")) }, .exploringFaults(seed: 9999))
    func seed() async throws { _ = try await ExploredClient().ok(ExploredClient().request("GET", "/a")) }

    @Test("has more faults than runs", .mocked { Stub(.get, "/a", .text("x")) }, .exploringFaults(limit: 5))
    func limit() async throws { _ = try await ExploredClient().ok(ExploredClient().request("GET", "/a")) }

    @Test("waits in real time", .mocked { Stub(.get, "/a", .text("x")) }, .exploringFaults(seed: 0))
    func realTime() async throws {
      let client = ExploredClient()
      do { _ = try await client.ok(client.request("GET", "/a")) } catch is URLError {
        // What this test is about.
        try await Task.sleep(for: .seconds(2))
        _ = try await client.ok(client.request("GET", "/a"))
      }
    }
  }

  @Suite("Right", .exploringFaults(limit: 200))
  struct Right {
    @Test("plain", .mocked { Stub(.get, "/a", .text("x")) })
    func plain() async throws { #expect(try await ExploredClient().ok(ExploredClient().request("GET", "/a")) == "x") }

    @Test("tells the status", .mocked { Stub(.get, "/a", .text("x")) })
    func status() async throws {
      #expect(try await ExploredClient().send(ExploredClient().request("GET", "/a")).status == 200)
    }

    @Test("falls back to nothing", .mocked { Stub(.get, "/users/1", .text("Ada")) })
    func fallback() async { #expect(await UserClient(session: .mocked).nameIfAny(of: 1) == "Ada") }

    @Test("falls back to what it knows", .mocked { Stub(.get, "/a", .text("x")) })
    func offlineFirst() async {
      let client = ExploredClient()
      let text = (try? await client.ok(client.request("GET", "/a"))) ?? "known"
      #expect(text == "x")
    }

    @Test("posts once", .mocked { Stub(.post, "/orders", .status(201)).optional })
    func post() async throws {
      _ = try await ExploredClient().ok(ExploredClient().request("POST", "/orders", body: "tea"))
    }

    @Test("posts again with a key", .mocked { Stub(.post, "/orders", .status(201)).optional })
    func postWithKey() async throws {
      let client = ExploredClient()
      var request = client.request("POST", "/orders", body: "tea")
      request.setValue("7", forHTTPHeaderField: "Idempotency-Key")
      _ = try await client.patiently { [request] in try await client.ok(request) }
    }

    @Test("posts again when it was refused", .mocked { Stub(.post, "/orders", .status(201)).optional })
    func postAfter503() async throws {
      let client = ExploredClient()
      for _ in 0..<3 {
        let (_, status) = try await client.send(client.request("POST", "/orders", body: "tea"))
        guard status == 503 || status == 429 else { return #expect(status == 201) }
        try await client.clock.sleep(for: .seconds(2))
      }
    }

    @Test("puts again", .mocked { Stub(.put, "/orders/1", .status(204)).optional })
    func put() async throws {
      let client = ExploredClient()
      _ = try await client.patiently { try await client.ok(client.request("PUT", "/orders/1", body: "tea")) }
    }

    @Test("tries again patiently", .mocked { Stub(.get, "/a", .text("x")) })
    func patient() async throws {
      let client = ExploredClient()
      #expect(try await client.patiently(8) { try await client.ok(client.request("GET", "/a")) } == "x")
    }

    @Test("tries again three times at once", .mocked { Stub(.get, "/a", .text("x")) })
    func thrice() async throws {
      let client = ExploredClient()
      for _ in 0..<2 {
        do { return #expect(try await client.ok(client.request("GET", "/a")) == "x") } catch let error as URLError {
          guard error.code != .cancelled else { throw error }
        }
      }
      #expect(try await client.ok(client.request("GET", "/a")) == "x")
    }

    @Test(
      "refreshes its token once for all",
      .mocked {
        Stub(.get, "/a/*", .text("x")); Stub(.post, "/token", .text("new")).optional
      })
    func singleFlight() async throws {
      let (client, tokens) = (ExploredClient(), Tokens())
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<3 {
          group.addTask {
            let token = await tokens.token
            let (_, status) = try await client.send(client.request("GET", "/a/\(number)", token: token))
            guard status == 401 else { return }
            let new = try await tokens.refreshed(token) {
              try await client.ok(client.request("POST", "/token", body: "refresh"))
            }
            _ = try await client.ok(client.request("GET", "/a/\(number)", token: new))
          }
        }
        try await group.waitForAll()
      }
    }

    @Test(
      "signs in and in again",
      .mocked {
        Stub(.get, "/a", .text("x")); Stub(.post, "/token", .text("new")).optional
      })
    func signsIn() async throws {
      let client = ExploredClient()
      var token = try await client.ok(client.request("POST", "/token", body: "login"))
      if try await client.send(client.request("GET", "/a", token: token)).status == 401 {
        token = try await client.ok(client.request("POST", "/token", body: "login"))
        _ = try await client.ok(client.request("GET", "/a", token: token))
      }
    }

    @Test("parses events wherever they are cut", .mocked { Stub(.get, "/events", .events([.init("a"), .init("b")])) })
    func events() async throws { #expect(try await Events.parsed(ExploredClient().chunks("/events")) == ["a", "b"]) }

    @Test(
      "shows events as they come, and stops when they do",
      .mocked { Stub(.get, "/events", .events([.init("a"), .init("b")])) })
    func quietEvents() async throws {
      var size = 0
      do { for try await chunk in try await ExploredClient().chunks("/events") { size += chunk.count } } catch {}
      #expect(size > 10)
    }

    @Test(
      "resumes where it stopped",
      .mocked { Stub(.get, "/file", .data(Data("0123456789".utf8)).field("ETag", "\"1\"").servingRanges()) })
    func resumes() async throws {
      let client = ExploredClient()
      var received = Data()
      for _ in 0..<4 {
        var request = client.request("GET", "/file")
        if !received.isEmpty { request.setValue("bytes=\(received.count)-", forHTTPHeaderField: "Range") }
        do {
          let response = try await client.registry!.load(request)
          guard response.status.code < 300 else { throw ExploredClient.Failed() }
          for try await chunk in response.body { received += chunk }
          return #expect(received == Data("0123456789".utf8))
        } catch is CancellationError { throw CancellationError() } catch  where !received.isEmpty {
          try Task.checkCancellation()
        }
      }
      throw ExploredClient.Failed()
    }

    @Test("gives up in time", .mocked { Stub(.get, "/a", .text("x")) })
    func timesOut() async throws {
      let client = ExploredClient()
      let text = try await withThrowingTaskGroup(of: String.self) { group in
        group.addTask { try await client.ok(client.request("GET", "/a")) }
        group.addTask {
          try await client.clock.sleep(for: .seconds(5))
          throw ExploredClient.Failed()
        }
        defer { group.cancelAll() }
        return try await group.next() ?? ""
      }
      #expect(text == "x")
    }

    @Test(
      "takes turns",
      .mocked {
        Stub(.get, "/a", .text("x")); Stub(.get, "/b", .text("y")).optional
      })
    func turns() async throws {
      let (client, turn) = (ExploredClient(), Turn())
      func get(_ path: String) async throws -> String {
        await turn.take()
        do {
          let text = try await client.ok(client.request("GET", path))
          await turn.pass()
          return text
        } catch {
          await turn.pass()
          throw error
        }
      }
      let first = try await get("/a")
      let second = try await get("/b")
      #expect(first + second == "xy")
    }

    @Test(
      "reads page after page",
      .mocked { Stub(.get, "/pages/*") { .text($0.url.lastPathComponent == "3" ? "end" : "more") } })
    func pages() async throws {
      let client = ExploredClient()
      var page = 1
      while try await client.ok(client.request("GET", "/pages/\(page)")) == "more" { page += 1 }
      #expect(page == 3)
    }

    @Test(
      "polls with pauses",
      .mocked {
        Stub(.get, "/job", .text("done"))
        Stub(.get, "/job", .text("running")).times(2)
      })
    func polls() async throws {
      let client = ExploredClient()
      var text = ""
      for _ in 0..<40 where text != "done" {
        text = try await client.ok(client.request("GET", "/job"))
        if text != "done" { try await client.clock.sleep(for: .seconds(10)) }
      }
      #expect(text == "done")
    }

    @Test("waits for what takes its time", .mocked { Stub(.get, "/slow", .text("x").delay(.seconds(30))) })
    func slow() async throws { #expect(try await ExploredClient().ok(ExploredClient().request("GET", "/slow")) == "x") }
  }
}
