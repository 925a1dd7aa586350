import Testing
import WaylayMocks

/// Refuses and reports network requests of one test.
final class AirGap: Sendable {
  /// The air gap of the current test.
  @TaskLocal static var current: AirGap?

  /// Whether all tests with a mock are air-gapped.
  static let isForAll = !["", "0"].contains(ProcessInfo.processInfo.environment["WAYLAY_AIRGAPPED"] ?? "")

  private static let word = isForAll ? ".airgapped (WAYLAY_AIRGAPPED)" : ".airgapped"

  /// Air gaps of running tests, for requests that come from no task.
  private static let open = Locked<[AirGap]>([])
  /// Installs the refusal of requests to `URLSession.shared` once, for the rest of the process.
  private static let watch: Void = {
    let registry = InterceptorRegistry(configuration: .ephemeral)
    registry.register(InterceptorChain(.default, for: .any) { Refusal() })
    _ = registry.intercept([.shared]) { request in
      // A mock that intercepts this session answers instead.
      guard MockScope.current?.hardWired.sessions.contains(where: { $0 === URLSession.shared }) != true,
        let gap = current ?? (Test.current == nil ? onlyOne : nil)
      else { return false }
      gap.note("\(request.httpMethod ?? "GET") \(request.url?.redacted ?? "a URL")", of: "URLSession.shared")
      return true
    }
  }()

  private static var onlyOne: AirGap? { open.withLock { $0.count == 1 ? $0[0] : nil } }

  private let requests = Locked<[String]>([])

  /// Runs a test, and reports its network requests.
  static func around(_ function: @concurrent @Sendable () async throws -> Void) async throws {
    _ = watch
    let gap = AirGap()
    open.withLock { $0.append(gap) }
    defer {
      open.withLock { $0.removeAll { $0 === gap } }
      gap.report()
    }
    try await $current.withValue(gap) { try await function() }
  }

  private func note(_ request: String, of session: String) {
    requests.withLock { requests in
      let line = "\(request) of \(session)"
      // Apple's loading system asks several times per task.
      if !requests.contains(line) { requests.append(line) }
    }
  }

  private func report() {
    let requests = requests.withLock { $0 }
    guard !requests.isEmpty else { return }
    IssueReport.report(
      """
      \(requests.count == 1 ? "A request" : "\(requests.count) requests") of this test would have gone to the network, \
      and failed instead, because the test is \(Self.word):\(requests.prefix(10).map { "\n  \($0)" }.joined())
      Add a stub; pass the code a session (`URLSession.mocked`); or name the session that it has: \
      `.mocked(intercepting: [.shared]) { … }`.
      """)
  }

  /// The last interceptor of an air-gapped mock's chain: it refuses requests that stubs pass through.
  struct Refusal: RequestInterceptor {
    var gap: AirGap?
    var takesPartInNestedRequests: Bool { true }

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      gap?.note("\(MockRequest(request))", of: "a mock that lets it pass")
      throw URLError.outsideMockScope(
        "The test is \(AirGap.word): its requests do not go to the network.", name, request)
    }
  }
}
