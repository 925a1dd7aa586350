import Testing
import WaylayMocks

extension MockScope {
  /// The current scope; outside of every scope, and after its end, one whose loads all fail. Says so in the test that
  /// runs.
  static func required(by name: String) -> MockScope {
    guard let current else {
      reportOutside(outsideMessage(name))
      return outside
    }
    guard !current.isEnded else {
      IssueReport.report(
        """
        \(name) was used after the end of its scope, by a task or other work that the test left running. In the test, \
        wait for the work it starts.
        """)
      return outside
    }
    return current
  }

  /// In a detached task, on a queue or on a thread no test is current: then the mocks that are open say best where to
  /// look.
  private static func reportOutside(_ message: String) {
    let open = Test.current == nil ? OpenScopes.locations : []
    guard let first = open.first(where: { $0.test == nil }) ?? open.first else { return IssueReport.report(message) }
    let places = open.prefix(5).map(\.description).joined(separator: ", ")
    let isOne = open.count == 1
    IssueReport.report(
      """
      \(message) \(isOne ? "One mock is open now, made at" : "\(open.count) mocks are open now, made at") \
      \(places)\(open.count > 5 ? ", …" : ""): \(isOne ? "its test" : "one of their tests") most likely ran this code.
      """, at: first)
  }

  /// One for the whole process: its loads fail, and it is never ended.
  static let outside: MockScope = {
    let mock = MockInterceptor(unmatched: .fail) {}
    let registry = InterceptorRegistry(configuration: .ephemeral)
    registry.register(InterceptorChain(.default, for: .any) { OutsideScope() })
    return MockScope(mock: mock, registry: registry)
  }()

  private static func outsideMessage(_ name: String) -> String {
    """
    \(name) was used outside of a mock's scope: its requests fail, and nothing is sent. Give the test \
    `.mocked { … }`, or wrap the call in `withMock { … } operation: { … }`. A detached task, a queue or a thread does \
    not inherit the scope: create the session beforehand, or bind the scope there with \
    `MockScope.$current.withValue(scope) { … }`.
    """
  }

  /// Fails every load.
  private struct OutsideScope: InlineAnswering, WebSocketValidating {
    func validate(webSocket request: URLRequest) throws {
      throw WaylayError(
        .outsideMockScope, MockScope.outsideMessage("This session"), interceptor: name, url: request.url)
    }

    func answerInline(_ request: InterceptedRequest) throws -> InlineAnswer {
      let cause = WaylayError(
        .outsideMockScope, MockScope.outsideMessage("This session"), interceptor: name, url: request.url,
        requestID: request.id)
      throw URLError(
        .resourceUnavailable,
        userInfo: [NSUnderlyingErrorKey: cause, NSLocalizedDescriptionKey: cause.message])
    }
  }
}

extension WaylayError.Code {
  /// A session was taken from `URLSession.mocked` where no mock scope was current.
  public static let outsideMockScope = WaylayError.Code("outsideMockScope")
}
