import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Failures as a plain session has them", .timeLimit(.minutes(5)))
struct FailureTests {
  @Test("every error names the URL under both keys, in a session and in a direct load")
  func failingURL() async throws {
    let closed = try ClosedPort()
    let url = try #require(URL(string: "http://127.0.0.1:\(closed.port)/path"))
    let registry = InterceptorRegistry { Link.pass() }
    let refusing = InterceptorRegistry { Link { _, _ in throw URLError(.dataNotAllowed) } }
    let ended = InterceptorRegistry { Link.pass() }
    let endedSession = URLSession.intercepted(by: ended)
    ended.invalidate()
    let errors = [
      await failure { try await URLSession.intercepted(by: registry).data(from: url) },
      await failure { try await registry.data(for: URLRequest(url: url)) },
      await failure { try await URLSession.intercepted(by: refusing).data(from: url) },
      await failure { try await endedSession.data(from: url) },
    ]
    for error in errors {
      let userInfo = try #require((error as? URLError)?.userInfo)
      #expect(userInfo[NSURLErrorFailingURLErrorKey] as? URL == url)
      #expect(userInfo["NSErrorFailingURLStringKey"] as? String == url.absoluteString)
    }
  }

  @Test("an upload file that is missing has the code of a plain session")
  func missingFile() async throws {
    try await withOrigin { origin in
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      var request = URLRequest(url: origin.url("/hello"))
      request.httpMethod = "POST"
      let (copy, file) = (request, URL(fileURLWithPath: "/nonexistent/upload"))
      let ours = await failureCode { try await session.upload(for: copy, fromFile: file) }
      let plain = await failureCode {
        try await URLSession(configuration: .ephemeral).upload(for: copy, fromFile: file)
      }
      #expect(ours == .fileDoesNotExist && plain == ours)
    }
  }

  @Test("the idle timeout stands still while the app is asked about a redirect")
  func redirectDelegate() async throws {
    try await withOrigin { origin in
      let clock = ManualClock()
      let recorder = Recorder(redirect: { request in
        clock.advance(by: 100)
        return request
      })
      let registry = InterceptorRegistry(clock: clock.clock) { Link.pass() }
      let session = URLSession.intercepted(by: registry, delegate: recorder) { $0.timeoutIntervalForRequest = 10 }
      session.dataTask(with: origin.url("/redirect/302")).resume()
      await recorder.finished.wait()
      #expect(recorder.entries.last == .completed(nil))
    }
  }

  @Test("user and password of a URL are sent as Basic when they are asked for, and to that origin alone")
  func userInfo() async throws {
    try await withOrigin { origin in
      let other = try await TestOrigin.start()
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      var parts = try #require(URLComponents(url: origin.url("/basic/me/secret"), resolvingAgainstBaseURL: false))
      parts.user = "me"
      parts.password = "secret"
      let url = try #require(parts.url)
      _ = try await URLSession(configuration: .ephemeral).data(from: url)
      let plain = try #require(origin.requests.last?["Authorization"])
      #expect(plain == ["Basic \(Data("me:secret".utf8).base64EncodedString())"])
      let before = origin.requests.count
      _ = try await session.data(from: url)
      #expect(origin.requests[before...].map { $0["Authorization"] } == [[], plain])
      origin.reply(to: "/away") { _ in
        .text("", status: 302, fields: [("Location", other.url("/hello").absoluteString)])
      }
      parts.path = "/away"
      _ = try await session.data(from: try #require(parts.url))
      #expect(other.requests.last?["Authorization"] == [])
      // A password that is wrong is sent once.
      parts.path = "/basic/me/other"
      let wrong = try #require(parts.url)
      let sent = origin.requests.count
      let (_, response) = try await session.data(from: wrong)
      #expect((response as? HTTPURLResponse)?.statusCode == 401)
      #expect(origin.requests[sent...].map { $0["Authorization"] } == [[], plain])
      await other.stop()
    }
  }

  @Test(
    "a URL without a host is refused with what to do, and not sent to the host that its path begins with",
    arguments: ["http:///x", "https:///x", "http:x"])
  func withoutHost(text: String) async throws {
    let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
    let request = URLRequest(url: try #require(URL(string: text)))
    for error in [
      await failure { try await registry.data(for: request) },
      await failure { try await URLSession.intercepted(by: registry).data(for: request) },
    ] {
      let error = try #require(error as? URLError)
      #expect(error.code == .badURL && error.cause(as: WaylayError.self)?.code == .invalidRequest)
      #expect(error.localizedDescription == "the URL has no host: write it as in https://api.example.com/.")
    }
  }

  @Test("of a scheme that is left to URLSession, a direct load says so", arguments: ["ftp", "app"])
  func foreignScheme(scheme: String) async throws {
    let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
    let url = try #require(URL(string: "\(scheme)://127.0.0.1:1/x?token=pl4nted"))
    let error = try #require(await failure { try await registry.data(for: URLRequest(url: url)) } as? URLError)
    #expect(error.localizedDescription.contains("URLSession, to which URLs of the scheme \"\(scheme)\" are left"))
    #expect(!error.localizedDescription.contains("pl4nted"))
  }

  @Test("a direct load keeps the charset of a data: URL")
  func charset() async throws {
    let url = try #require(URL(string: "data:text/plain;charset=utf-8,hello"))
    let (_, head) = try await InterceptorRegistry().data(for: URLRequest(url: url))
    #expect(head.mimeType == "text/plain" && head.textEncodingName == "utf-8")
  }
}
