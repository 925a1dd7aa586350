#if !canImport(Darwin)
  import AppleCore
  import AppleModel
  import Foundation
  import FoundationNetworking
  import Testing

  /// The model is worth what it catches.
  @Suite("A wrong client is caught by the model", .timeLimit(.minutes(10)))
  struct WrongClientTests {
    private func violations(of wrong: URLProtocol.Type, _ plan: AppPlan = AppPlan()) async throws -> Set<Violation> {
      let request = URLRequest(url: try #require(URL(string: "https://model.test/")))
      return Set(await AppleLoadingSystem([wrong]).load(request, plan).violations)
    }

    @Test("one that keeps the contract is not")
    func right() async throws {
      #expect(try await violations(of: Right.self) == [])
    }

    @Test("a call on another thread")
    func otherThread() async throws {
      #expect(try await violations(of: OnAnotherThread.self) == [.onAnotherThread])
    }

    @Test("data before the response")
    func dataFirst() async throws {
      #expect(try await violations(of: DataFirst.self) == [.dataBeforeResponse])
    }

    @Test("a property of a request that is no property list, and that its copies are without")
    func noPropertyList() async throws {
      #expect(try await violations(of: NoPropertyList.self) == [.propertyMisused])
    }

    @Test("two ends")
    func twoEnds() async throws {
      #expect(try await violations(of: TwoEnds.self) == [.afterEnd])
    }

    @Test("a word after stopLoading")
    func wordAfterStop() async throws {
      var plan = AppPlan()
      plan.cancelsAt = 0
      #expect(try await violations(of: WordAfterStop.self, plan) == [.afterStop])
    }

    @Test("a challenge that is still open when the load ends")
    func openChallenge() async throws {
      var plan = AppPlan()
      plan.answer = .never
      #expect(try await violations(of: OpenChallenge.self, plan) == [.challengeNotWithdrawn])
    }
  }

  private class Right: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
      respond()
      client?.urlProtocol(self, didLoad: Data("right".utf8))
      client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}

    func respond() {
      let url = request.url ?? URL(fileURLWithPath: "/")
      guard let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil) else { return }
      client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
    }
  }

  private final class OnAnotherThread: Right {
    override func startLoading() {
      let isDone = DispatchSemaphore(value: 0)
      // Unsafe: the mistake is the point, and this thread waits meanwhile.
      nonisolated(unsafe) let caller = self
      Thread.detachNewThread {
        caller.respond()
        isDone.signal()
      }
      _ = isDone.wait(timeout: .now() + 60)
      client?.urlProtocolDidFinishLoading(self)
    }
  }

  private final class DataFirst: Right {
    override func startLoading() {
      client?.urlProtocol(self, didLoad: Data("early".utf8))
      respond()
      client?.urlProtocolDidFinishLoading(self)
    }
  }

  private final class TwoEnds: Right {
    override func startLoading() {
      super.startLoading()
      client?.urlProtocol(self, didFailWithError: URLError(.timedOut))
    }
  }

  private final class NoPropertyList: Right {
    override func startLoading() {
      guard request.url?.path != "/2" else { return super.startLoading() }
      guard let target = URL(string: "https://model.test/2"),
        let head = HTTPURLResponse(url: target, statusCode: 302, httpVersion: nil, headerFields: nil)
      else { return }
      let wrong = RequestProperty.setting(["key": NSObject()], in: URLRequest(url: target))
      client?.urlProtocol(self, wasRedirectedTo: wrong, redirectResponse: head)
    }
  }

  private final class WordAfterStop: Right {
    override func startLoading() { respond() }

    override func stopLoading() { client?.urlProtocol(self, didFailWithError: URLError(.cancelled)) }
  }

  private final class OpenChallenge: Right {
    override func startLoading() {
      let space = URLProtectionSpace(
        host: "model.test", port: 443, protocol: NSURLProtectionSpaceHTTPS, realm: nil,
        authenticationMethod: NSURLAuthenticationMethodDefault)
      client?.urlProtocol(
        self,
        didReceive: URLAuthenticationChallenge(
          protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
          sender: SilentSender()))
      client?.urlProtocol(self, didFailWithError: URLError(.timedOut))
    }
  }
#endif
