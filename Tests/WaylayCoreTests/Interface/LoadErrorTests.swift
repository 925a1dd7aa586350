import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Errors of one shape", .timeLimit(.minutes(5)))
struct LoadErrorTests {
  private struct Refusal: LoadError {
    var code = "locked"
    var message = "the account is locked at https://a.example/?token=secret: ask for another"
    var url: URL?
    var requestID: InterceptedRequest.ID?
    var underlying: (any Error)?
  }

  @Test("the cause is found by its type, however deep it lies, and by its shape")
  func cause() async throws {
    let deep = Refusal()
    let registry = InterceptorRegistry {
      Link { request, _ in
        throw TransportError(
          .cannotConnectToHost, message: "no way",
          underlying: WaylayError(.invalidRequest, "see beneath", underlying: deep))
      }
    }
    let error = try #require(await failure { try await registry.data(for: URLRequest(url: .example)) } as? URLError)
    #expect(error.cause(as: Refusal.self)?.code == "locked")
    #expect(error.cause(as: WaylayError.self)?.code == .invalidRequest)
    #expect(error.loadError is TransportError)
    #expect(error.isNetworkFailure)
    #expect(error.cause(as: URLError.self) == nil)
    registry.invalidate()
  }

  @Test("an error of an app's own says what ours say, without secrets")
  func shape() {
    let refusal = Refusal(url: .example)
    #expect("\(refusal)".hasPrefix("Refusal.locked: the account is locked at https://a.example/?token=REDACTED"))
    #expect("\(refusal)".hasSuffix("[http://api.example.com/v1/users?id=REDACTED]"))
    #expect(!refusal.localizedDescription.contains("secret"))
    #expect(!refusal.isNetworkFailure)
  }

  @Test(
    "a transport says by a type why there was no answer, and of which request",
    .enabled(if: Platform.isLinux, "libcurl"))
  func transport() async throws {
    let transport = try #require(Platform.curlTransport())
    let registry = InterceptorRegistry(transport: transport)
    @Sendable func transportError(_ url: String) async throws -> TransportError {
      let url = try #require(URL(string: url))
      let error = await failure { try await registry.data(for: URLRequest(url: url)) } as? URLError
      return try #require(error?.cause(as: TransportError.self))
    }
    let refused = try await transportError("http://127.0.0.1:1/")
    #expect(refused.code == .refused)
    #expect(refused.url?.port == 1 && refused.requestID != nil)
    try await withOrigin { origin in
      let plain = try await transportError("https://127.0.0.1:\(origin.port)/")
      #expect(plain.code == .notTLS)
    }
    registry.invalidate()
    transport.invalidate()
  }
}
