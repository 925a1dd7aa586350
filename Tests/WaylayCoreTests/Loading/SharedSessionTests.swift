import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("The shared session", .serialized, .sharedSession, .timeLimit(.minutes(10)))
struct SharedSessionTests {
  @Test("goes through a registry, also after it has been used, until the interception ends")
  func intercepted() async throws {
    try await withOrigin { origin in
      let before = try await URLSession.shared.text(from: origin.url("/hello"))
      let registry = InterceptorRegistry { Link.answer("intercepted") }
      let interception = registry.interceptSharedSession()
      let during = try await URLSession.shared.text(from: origin.url("/hello"))
      interception.end()
      interception.end()
      let after = try await URLSession.shared.text(from: origin.url("/hello"))
      #expect([before.1, during.1, after.1] == ["hello", "intercepted", "hello"])
      #expect(origin.requests.count == 2)
      registry.invalidate()
    }
  }

  @Test("asks the registry that came last first, whose transport leads through the others")
  func nested() async throws {
    try await withOrigin { origin in
      func adding(_ name: String) -> InterceptorRegistry {
        InterceptorRegistry {
          Link { request, next in
            var request = request
            let before = request.urlRequest.value(forHTTPHeaderField: "X-Path") ?? ""
            request.urlRequest.setValue(before + name, forHTTPHeaderField: "X-Path")
            return try await next(request)
          }
        }
      }
      let (first, second) = (adding("first"), adding("second"))
      let one = first.interceptSharedSession()
      let two = second.interceptSharedSession()
      let (_, answer) = try await URLSession.shared.text(from: origin.url("/echo"))
      two.end()
      let (_, outer) = try await URLSession.shared.text(from: origin.url("/echo"))
      one.end()
      #expect(answer.contains("X-Path: secondfirst"))
      #expect(outer.contains("X-Path: first\\n") || outer.contains("X-Path: first\""))
      first.invalidate()
      second.invalidate()
    }
  }

  @Test("fails closed when its registry is invalidated first")
  func invalidated() async throws {
    let registry = InterceptorRegistry { Link.answer("intercepted") }
    let interception = registry.interceptSharedSession()
    registry.invalidate()
    let error = await failure { try await URLSession.shared.data(from: .example) }
    interception.end()
    #expect(error.flatMap(cause)?.code == .registryInvalidated)
  }
}
