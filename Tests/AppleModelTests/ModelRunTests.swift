#if !canImport(Darwin)
  import AppleCore
  import AppleModel
  import Foundation
  import TestSupport
  import Testing

  @Suite("The Apple half against a model of Apple's loading system", .timeLimit(.minutes(10)))
  struct ModelRunTests {
    /// `WAYLAY_MODEL_LOADS` and `WAYLAY_MODEL_SEED` ask for more, and for others.
    @Test(
      """
      Thousands of loads with bodies, redirects, challenges, slow readers, pauses and cancellations keep the contract and \
      give each app its own answer
      """,
      .heavy)
    func manyLoads() async throws {
      let environment = ProcessInfo.processInfo.environment
      let loads = environment["WAYLAY_MODEL_LOADS"].flatMap { Int($0) } ?? Sizes.of(10_000, small: 3_000)
      let seed = environment["WAYLAY_MODEL_SEED"].flatMap { UInt64($0) } ?? 20
      let report = await ModelRun(loads: loads, seed: seed)()
      #expect(report.failures.isEmpty, "seed \(seed): \(report.failures.prefix(5))")
      #expect(report.loads == loads)
      // The run is one of what it is for.
      #expect(report.cancelled > loads / 10)
      #expect(report.redirects > loads / 10)
      #expect(report.challenges > loads / 10)
      #expect(report.suspended > loads / 10)
      #expect(report.uploads > loads / 10)
      #expect(report.heldBack > loads / 200)
    }

    @Test("what canInit was asked about is not what the next object loads, however equal the URLs")
    func decisionsStayApart() async throws {
      let registry = InterceptorRegistry { FieldEcho() }
      let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry)
      let ours = (configuration.protocolClasses ?? []).compactMap { $0 as? URLProtocol.Type }
      let first = try #require(ours.first)
      let system = AppleLoadingSystem([first])
      for number in 0..<50 {
        var other = URLRequest(url: try #require(URL(string: "https://model.test/same")))
        other.setValue("somebody else's", forHTTPHeaderField: "X-Load")
        var request = other
        request.setValue("\(number)", forHTTPHeaderField: "X-Load")
        // On this thread, which may be the one that makes the object.
        #expect(first.canInit(with: other))
        let outcome = await system.load(request)
        #expect(String(decoding: outcome.body, as: UTF8.self) == "\(number)")
        #expect(outcome.violations.isEmpty)
      }
      registry.invalidate()
    }

    @Test("a load of an invalidated registry fails, closed, with a word to its client in the right place")
    func invalidated() async throws {
      let registry = InterceptorRegistry { FieldEcho() }
      let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry)
      let ours = try #require(configuration.protocolClasses?.first as? URLProtocol.Type)
      registry.invalidate()
      let request = URLRequest(url: try #require(URL(string: "https://model.test/")))
      let outcome = await AppleLoadingSystem([ours]).load(request)
      #expect((outcome.error as? URLError)?.code == .resourceUnavailable)
      #expect(outcome.violations.isEmpty)
    }
  }

  private struct FieldEcho: RequestInterceptor {
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      InterceptedResponse(to: request, body: .text(request.urlRequest.value(forHTTPHeaderField: "X-Load") ?? ""))
    }
  }
#endif
