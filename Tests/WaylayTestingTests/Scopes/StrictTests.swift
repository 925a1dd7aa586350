import TestOrigin
import TestSupport
import Testing
import WaylayTesting

@Suite("A scope lets nothing out", .timeLimit(.minutes(5)))
struct StrictTests {
  @Test(
    "whatever the scheme: it is refused, written down and reported",
    arguments: ["ftp", "ws", "wss", "myapp", "HTTP", "file"])
  func schemes(_ scheme: String) async throws {
    let origin = try await TestOrigin.start()
    let url = try #require(
      URL(string: scheme == "file" ? "file:///etc/hostname" : "\(scheme)://127.0.0.1:\(origin.port)/x"))
    let reports = await collectReports {
      await withMock {
      } operation: {
        var request = URLRequest(url: url)
        request.timeoutInterval = 240
        let error = await failure { try await URLSession.mocked.data(for: request) }
        #expect(error is URLError)
        let mock = MockInterceptor.current
        #expect(mock.requests.map(\.url) == [url])
        #expect(mock.issues.map(\.kind) == [.unmatched])
        #expect(mock.issues.first?.message.contains(url.absoluteString) == true)
      }
    }
    #expect(reports.count == 1 && reports.first?.text.contains("No stub") == true)
    #expect(origin.connectionCount == 0)
    await origin.stop()
  }

  @Test("and a stub can answer what is no http", .mocked { Stub(.get, "myapp://settings/theme", .text("dark")) })
  func answered() async throws {
    let (data, _) = try await URLSession.mocked.data(from: #require(URL(string: "myapp://settings/theme")))
    #expect(data == Data("dark".utf8))
  }

  @Test("a WebSocket task opens no connection")
  func webSocketTask() async throws {
    let origin = try await TestOrigin.start()
    let url = try #require(URL(string: "ws://127.0.0.1:\(origin.port)/socket"))
    // A libcurl without WebSockets fails it by itself, and nobody is asked; with them the scope is, and says so.
    let reports = await collectReports {
      await withMock {
      } operation: {
        let task = URLSession.mocked.webSocketTask(with: url)
        task.resume()
        #expect(await failure { try await task.receive() } != nil)
      }
    }
    #expect(reports.allSatisfy { $0.text.contains("WebSocket") })
    #expect(origin.connectionCount == 0)
    await origin.stop()
  }

  @Test("outside of a scope and after its end neither")
  func outside() async throws {
    let url = try #require(URL(string: "myapp://127.0.0.1/x"))
    var left: URLSession?
    withMock {
    } operation: {
      left = .mocked
    }
    let session = try #require(left)
    await #expect(throws: URLError.self) { try await session.data(from: url) }
  }
}
