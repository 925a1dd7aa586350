import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Redirects", .timeLimit(.minutes(5)))
struct RedirectTests {
  @Test(
    "a redirect is a new hop through the chain, and the last response is the app's (rule 4)",
    arguments: [301, 302, 303, 307, 308])
  func followed(status: Int) async throws {
    try await withOrigin { origin in
      let hops = Log<String>()
      let registry = InterceptorRegistry {
        Link { request, next in
          hops.add("\(request.hop) \(request.url.path)")
          return try await next(request)
        }
      }
      let (data, response) = try await URLSession.intercepted(by: registry).data(
        from: origin.url("/redirect/\(status)?to=/hello"))
      #expect(String(decoding: data, as: UTF8.self) == "hello")
      #expect(response.url?.path == "/hello")
      #expect(hops.all == ["0 /redirect/\(status)", "1 /hello"])
    }
  }

  @Test(
    "method and body: 301 and 302 turn POST into GET, 303 anything, 307 and 308 nothing",
    arguments: [
      (301, "POST", "GET"), (302, "POST", "GET"), (302, "PUT", "PUT"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"),
      (307, "POST", "POST"),
      (308, "PUT", "PUT"),
    ])
  func methods(status: Int, method: String, expected: String) async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry { Link.pass() }
      var request = URLRequest(url: origin.url("/redirect/\(status)?to=/echo"))
      request.httpMethod = method
      request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
      let body = method == "HEAD" ? Data() : Data("body".utf8)
      _ = try await registry.upload(for: request, from: body)
      let last = try #require(origin.requests.last)
      #expect(last.path == "/echo")
      #expect(last.method == expected)
      #expect(last.body == (expected == method ? body : Data()))
      #expect(last["Content-Type"].isEmpty == (expected != method))
    }
  }

  @Test("credentials do not cross origins: raw bytes of the second server (rule 4)")
  func credentials() async throws {
    try await withOrigin { first in
      try await withOrigin { second in
        let registry = InterceptorRegistry { Link.pass() }
        let session = URLSession.intercepted(by: registry) {
          $0.httpAdditionalHeaders = ["Authorization": "Bearer session-secret", "X-App": "1"]
        }
        let target = second.url("/hello").absoluteString
        var request = URLRequest(url: first.url("/redirect/302?to=\(target)"))
        request.setValue("Basic secret", forHTTPHeaderField: "Proxy-Authorization")
        request.setValue("a=secret", forHTTPHeaderField: "Cookie")
        request.setValue("secret.example.com", forHTTPHeaderField: "Host")
        let answer = try await session.text(for: request)
        #expect(answer == (200, "hello"))
        #expect(first.rawBytes.joined().contains("session-secret"))
        #expect(first.requests.first?["Host"] == ["secret.example.com"])
        let raw = second.rawBytes.joined()
        #expect(!raw.contains("secret"))
        #expect(raw.contains("X-App: 1"))
      }
    }
  }

  @Test("credentials stay within one origin")
  func sameOrigin() async throws {
    try await withOrigin { origin in
      var request = URLRequest(url: origin.url("/redirect/302?to=/echo"))
      request.setValue("Bearer kept", forHTTPHeaderField: "Authorization")
      _ = try await InterceptorRegistry { Link.pass() }.data(for: request)
      #expect(origin.requests.last?["Authorization"] == ["Bearer kept"])
    }
  }

  @Test("the app's delegate is asked, and may refuse, change or let pass")
  func delegate() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry { Link.pass() }
      let refusing = Recorder(redirect: { _ in nil })
      URLSession.intercepted(by: registry, delegate: refusing).dataTask(with: origin.url("/redirect/302?to=/hello"))
        .resume()
      await refusing.finished.wait()
      #expect(refusing.entries.first == .response(302))
      #expect(refusing.proposedRedirects.map(\.url?.path) == ["/hello"])
      let changing = Recorder(redirect: { request in
        var request = request
        request.url = URL(string: "/status/201", relativeTo: request.url)?.absoluteURL
        return request
      })
      URLSession.intercepted(by: registry, delegate: changing).dataTask(with: origin.url("/redirect/302?to=/hello"))
        .resume()
      await changing.finished.wait()
      #expect(changing.entries.first == .response(201))
    }
  }

  @Test(
    "a loop ends after 20 hops with httpTooManyRedirects",
    .enabled(if: Platform.isLinux, "Apple's loading system has a limit of its own"))
  func loop() async throws {
    try await withOrigin { origin in
      let error = await failure {
        try await URLSession.intercepted(by: InterceptorRegistry { Link.pass() }).data(from: origin.url("/loop"))
      }
      #expect((error as? URLError)?.code == .httpTooManyRedirects)
      #expect((error as? URLError)?.failingURL == origin.url("/loop"))
      #expect(origin.requests.count == 21)
    }
  }

  @Test("too many redirects name the URL before which the load stopped, without its query values")
  func stopped() async throws {
    let registry = InterceptorRegistry(redirects: RedirectPolicy(maximumHops: 2)) {
      Link { request, _ in
        let next = "https://example.com/\(request.hop + 1)?token=secret"
        return InterceptedResponse(to: request, status: .found, fields: [.location: next])
      }
    }
    let error = try #require(
      await failure { try await registry.data(for: URLRequest(url: URL.example)) } as? URLError)
    #expect(error.code == .httpTooManyRedirects && error.failingURL?.path == "/3")
    let text = "more than 2 times, and stopped before https://example.com/3?token=REDACTED."
    #expect(error.localizedDescription.hasSuffix(text))
  }

  @Test("https to http is refused unless allowed, and other schemes always")
  func downgrade() async throws {
    func registry(to target: String, _ policy: RedirectPolicy = RedirectPolicy()) -> InterceptorRegistry {
      InterceptorRegistry(redirects: policy) {
        Link { request, _ in
          guard request.hop == 0 else { return InterceptedResponse(to: request, body: .text("arrived")) }
          return InterceptedResponse(to: request, status: .found, fields: [.location: target])
        }
      }
    }
    let secure = URLRequest(url: try #require(URL(string: "https://example.com/")))
    let refused = await failure { try await registry(to: "http://example.com/").data(for: secure) }
    #expect(refused.flatMap(cause)?.code == .redirectRefused)
    let allowed = try await registry(to: "http://example.com/", RedirectPolicy(allowsDowngrade: true)).data(for: secure)
    #expect(String(decoding: allowed.0, as: UTF8.self) == "arrived")
    let file = await failure { try await registry(to: "file:///etc/passwd").data(for: secure) }
    #expect(file.flatMap(cause)?.code == .redirectRefused)
  }

  @Test("a fragment is inherited (RFC 9110, section 10.2.2)")
  func fragment() async throws {
    try await withOrigin { origin in
      let (_, head) = try await InterceptorRegistry { Link.pass() }.data(
        for: URLRequest(url: origin.url("/redirect/302?to=/hello#part")))
      #expect(head.url?.fragment == "part")
    }
  }

  @Test("a redirect whose chain is another one runs in that chain")
  func otherChain() async throws {
    let registry = InterceptorRegistry()
    registry.register(
      InterceptorChain("from", for: .host("from.example.com")) {
        Link.answering(inline: true) { request in
          InterceptedResponse(to: request, status: .found, fields: [.location: "http://to.example.com/there"])
        }
      })
    registry.register(InterceptorChain("to", for: .host("to.example.com")) { Link.answer("arrived") })
    let url = try #require(URL(string: "http://from.example.com/"))
    #expect(try await URLSession.intercepted(by: registry).text(from: url) == (200, "arrived"))
  }

  @Test(
    "a redirect that keeps a body asks the delegate for a new stream, of a data task too",
    .enabled(if: Platform.isLinux, "Apple's loading system asks by itself"), arguments: [false, true])
  func newStream(isData: Bool) async throws {
    try await withOrigin { origin in
      let recorder = Recorder(body: { InputStream(data: Data("again".utf8)) })
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() }, delegate: recorder)
      var request = URLRequest(url: origin.url("/redirect/307?to=/echo"))
      request.httpMethod = "POST"
      if isData {
        request.httpBodyStream = InputStream(data: Data("again".utf8))
        session.dataTask(with: request).resume()
      } else {
        session.uploadTask(withStreamedRequest: request).resume()
      }
      await recorder.finished.wait()
      #expect(origin.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["again", "again"])
    }
  }
}
