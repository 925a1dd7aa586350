import Foundation
import TestSupport
import Testing
import WaylayCore

@Suite("Answers inside the loading system's call", .timeLimit(.minutes(5)))
struct InlineTests {
  @Test("links that pass on are passed, and the first that answers has answered; what is behind it need not know of it")
  func first() async throws {
    let later = Log<String>()
    let registry = InterceptorRegistry {
      LoopGuard()
      InlineLink { request in
        var request = request
        request.fields[.accept] = "text/plain"
        return .next(request)
      }
      InlineLink { .response(InterceptedResponse(to: $0, body: .text($0.fields[.accept] ?? ""))) }
      Link { request, next in
        later.add("ran")
        return try await next(request)
      }
    }
    #expect(try await URLSession.intercepted(by: registry).text(from: .example) == (200, "text/plain"))
    #expect(later.all.isEmpty)
    registry.invalidate()
  }

  @Test(
    "an interceptor that leaves its answer to startLoading, and has none, fails its load and is named; the process goes on"
  )
  func missing() async throws {
    let registry = InterceptorRegistry { InlineLink(name: "Silent") { _ in .startLoading } }
    for error in [
      await failure { try await URLSession.intercepted(by: registry).data(from: .example) },
      await failure { try await registry.data(for: URLRequest(url: .example)) },
    ] {
      let cause = try #require(error.flatMap(cause))
      #expect(cause.code == .missingResponse)
      #expect(cause.interceptor == "Silent" && cause.message.contains("Silent"))
    }
    registry.invalidate()
  }

  @Test("an answer that no response can be fails its load and names the interceptor")
  func invalid() async throws {
    let registry = InterceptorRegistry {
      InlineLink(name: "Odd") { .response(InterceptedResponse(to: $0, status: HTTPResponse.Status(code: 99))) }
    }
    let error = await failure { try await URLSession.intercepted(by: registry).data(from: .example) }
    #expect(error.flatMap(cause)?.code == .invalidResponse)
    #expect(error.flatMap(cause)?.interceptor == "Odd")
    registry.invalidate()
  }

  @Test("in a direct load it is asked through startLoading")
  func direct() async throws {
    let registry = InterceptorRegistry { Link.answer("at once", inline: true) }
    let (data, _) = try await registry.data(for: URLRequest(url: .example))
    #expect(String(decoding: data, as: UTF8.self) == "at once")
  }
}
