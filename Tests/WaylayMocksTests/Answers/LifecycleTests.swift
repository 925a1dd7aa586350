import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore
import WaylayMocks

@Suite("Redirects, challenges and live answers", .timeLimit(.minutes(5))) struct LifecycleTests {
  @Test(
    "a redirect is followed through the mock, with the method that belongs to it",
    arguments: [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
  func redirects(status: Int, method: String) async throws {
    let response = Answering { request in
      request.url.path == "/new"
        ? .text("\(request.request.method) \(request.body.count)") : .redirect(to: "/new", status: status)
    }
    let answer = try await response.answer(to: .mocked("POST", body: "abc"))
    #expect(answer.status == 200)
    #expect(answer.text == (method == "POST" ? "POST 3" : "GET 0"))
    #expect(answer.head.url?.absoluteString == "http://api.example.com/new")
  }

  @Test(
    "an upload to a mock is reported as sent, whole, before its end: to the delegate, and by the task",
    arguments: [true, false])
  func uploads(isInline: Bool) async throws {
    let log = Recorder(recordsUploads: true)
    let mock = MockInterceptor {
      if isInline { Stub("/x", .text("ok")) } else { Stub("/x") { _ in .text("ok") } }
    }
    let session = URLSession(
      configuration: .ephemeral.intercepted(by: InterceptorRegistry { mock }), delegate: log, delegateQueue: nil)
    defer { session.invalidateAndCancel() }
    var request = URLRequest(url: try #require(URL(string: "https://a.test/x")))
    request.httpMethod = "PUT"
    let task = session.uploadTask(with: request, from: Data(repeating: 1, count: 100_000))
    task.resume()
    let entries = await log.completed()
    #expect(entries.count { $0 == .sent(100_000, of: 100_000) } == 1 && entries.last == .completed(nil))
    // An answer that is there at once comes in one with what is told of it.
    if !isInline { #expect(entries.first == .sent(100_000, of: 100_000)) }
    #expect(task.countOfBytesSent == 100_000 && task.progress.fractionCompleted == 1)
  }

  @Test("a Basic challenge is answered offline by the delegate's credential")
  func basicByDelegate() async throws {
    let answering = Answering(.text("secret").requiringBasic(user: "ada", password: "päss:word", realm: "a \"b\""))
    let log = Recorder(credential: URLCredential(user: "ada", password: "päss:word", persistence: .none))
    let session = answering.session(delegate: log)
    defer { session.invalidateAndCancel() }
    session.dataTask(with: .mocked).resume()
    #expect(await log.completed() == [.response(200), .data("secret"), .completed(nil)])
    #expect(answering.calls.withLock { $0 } == 2)
  }

  @Test(
    "without right credentials the app gets the 401 and its challenge",
    arguments: [nil, URLCredential(user: "eve", password: "x", persistence: .none)])
  func basicRefused(credential: URLCredential?) async throws {
    let log = Recorder(credential: credential)
    let session = Answering(.text("secret").requiringBasic(user: "ada", password: "pl4nted")).session(delegate: log)
    defer { session.invalidateAndCancel() }
    session.dataTask(with: .mocked).resume()
    #expect(await log.completed() == [.response(401), .completed(nil)])
  }

  @Test("credentials in the request need no challenge; other schemes do")
  func preemptive() async throws {
    let response = MockResponse.text("secret").requiringBasic(user: "ada", password: "pl4nted")
    let field = "basic " + Data("ada:pl4nted".utf8).base64EncodedString()
    #expect(try await response.direct(to: .mocked("GET", ["Authorization": field])).status == .ok)
    for wrong in ["Bearer x", "Basic", "Basic !!", "Basic " + Data("ada:".utf8).base64EncodedString()] {
      let refusal = try await response.direct(to: .mocked("GET", ["Authorization": wrong]))
      #expect(refusal.status == .unauthorized)
      #expect(refusal.fields[.wwwAuthenticate] == "Basic realm=\"mock\", charset=\"UTF-8\"")
    }
  }

  @Test("the live answer is called and changed: status, header fields, JSON")
  func live() async throws {
    let next = InterceptorChain.Next { request in
      InterceptedResponse(
        to: request, fields: [.contentType: "application/json", .eTag: "\"1\"", .contentLength: "60"],
        body: .text(#"{"name": "Ada", "plan": "free", "big": 12345678901234567890, "old": 1}"#), source: .network)
    }
    let response = try await MockResponse.passThrough.status(203).field("X-Patched", "1").mergingJSON(
      ["plan": "premium", "old": nil] as [String: String?]
    )
    .direct(next: next)
    #expect(response.status.code == 203)
    #expect(response.fields[.eTag] == nil)
    #expect(response.source == .network)
    let text = try await response.text
    #expect(text == #"{"name":"Ada","plan":"premium","big":12345678901234567890}"#)
    #expect(response.fields[values: .contentLength] == ["\(text.utf8.count)"])
    let mistake = await #expect(throws: MockError.self) {
      try await MockResponse.passThrough.mergingJSON(parsing: "{}").direct(
        next: InterceptorChain.Next { InterceptedResponse(to: $0, body: .text("<html>")) })
    }
    #expect(mistake?.code == .invalidJSON)
  }

  @Test("a live answer comes from the network, request body included")
  func network() async throws {
    let origin = try await TestOrigin.start()
    defer { Task { await origin.stop() } }
    var request = URLRequest(url: origin.url("/echo"))
    request.httpMethod = "POST"
    request.httpBody = Data("payload".utf8)
    let answer = try await MockResponse.passThrough.field("X-Patched", "1").answer(to: request)
    #expect(answer.field("X-Patched") == "1")
    #expect(answer.text.contains("payload"))
  }

  @Test("a change of one's own sees answer and request")
  func changed() async throws {
    let response = try await MockResponse.text("a").changed { response, request in
      var response = response
      response.body = .text("\(try await response.text)\(request.index)")
      response.fields[.contentLength] = nil
      return response
    }.answer()
    #expect(response.text == "a0")
  }
}
