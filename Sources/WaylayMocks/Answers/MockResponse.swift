import Foundation
import HTTPTypes

/// What a stub answers: a response, a failure, or a recipe for one, together with its timing.
///
/// ```swift
/// let found = MockResponse.json(["name": "Ada"]).header("ETag", "\"1\"").delay(.milliseconds(200))
/// let broken = MockResponse.text("half of it").fault(.connectionReset(afterBytes: 4))
/// ```
///
/// | kind | made by |
/// |---|---|
/// | a response | `status(404)`, ``json(_:status:encoder:)``, ``text(_:status:)``, ``data(_:type:status:)`` |
/// | from a file | ``file(_:type:status:)``, ``resource(_:withExtension:subdirectory:in:status:)``, ``raw(contentsOf:)`` |
/// | chunk by chunk | `chunks(_:every:)`, ``stream(_:type:status:)``, `events(_:every:)` |
/// | from the request | ``template(_:type:status:)``, `computed { request in … }` |
/// | from the real response | ``live``, changed by `mergingJSON(_:)`, `header(_:_:)` and others |
/// | a failure | `error(.timedOut)`, `fault(.offline)`, ``never`` |
///
/// A mock response is a value: make it once and use it for any number of requests. A mistake in it, such as a status of
/// 99 or a value that cannot be encoded, is kept and fails the load with a ``MockError`` that names the stub; nothing
/// traps.
///
/// `Content-Length` is set automatically if the length is known; a response to `HEAD`, or with the status 204 or 304,
/// loses its body.
public struct MockResponse: Sendable {
  /// Where an answer comes from.
  enum Content: Sendable {
    case message(Message)
    case error(any Error)
    case failure(MockFault.Failure)
    case never
    case live
    case computed(@Sendable (MockRequest) throws -> MockResponse)
    case awaited(@Sendable (MockRequest) async throws -> MockResponse)
  }

  /// A change of the answer on its way out, in the order in which they were written.
  enum Edit: Sendable {
    case message(@Sendable (inout Message) -> Void)
    case response(@Sendable (InterceptedResponse, MockRequest) async throws -> InterceptedResponse)
  }

  /// A response that is there already, or is filled in from files and requests.
  struct Message: Sendable {
    var status: HTTPResponse.Status = .ok
    var fields: HTTPFields = [:]
    var body = Body.message(.empty)
  }

  /// Where the body of a message comes from.
  enum Body: Sendable {
    case message(MessageBody)
    /// A file, looked for when a request comes.
    case file(URL)
    case template(MockTemplate)
  }

  var content: Content
  var edits: [Edit] = []
  var timing = MockTiming()
  var credentials: MockCredentials?
  var servesRanges = false
  /// What happens to the body on its way.
  var bodyFault: MockFault?

  /// What is wrong with the answer whatever the request: a status of 99, a delay below zero. It fails every load.
  package internal(set) var defect: MockError?

  init(_ content: Content, defect: MockError? = nil) {
    self.content = content
    self.defect = defect
  }

  /// Keeps the first mistake.
  mutating func note(_ mistake: MockError?) {
    defect = defect ?? mistake
  }

  func with(_ change: (inout MockResponse) -> Void) -> MockResponse {
    var copy = self
    change(&copy)
    return copy
  }

  /// The same with a change of what comes out, made now if that is there already.
  func edited(_ change: @escaping @Sendable (inout Message) -> Void) -> MockResponse {
    with { copy in
      if case .message(var message) = copy.content, copy.edits.isEmpty {
        change(&message)
        copy.content = .message(message)
      } else {
        copy.edits.append(.message(change))
      }
    }
  }

  /// Whether the answer looks at the request's body.
  package var needsBody: Bool {
    switch content {
    case .message(let message): if case .template(let template) = message.body { template.needsBody } else { false }
    case .computed, .awaited: true
    case .error, .failure, .never, .live: false
    }
  }
}

extension MockResponse.Message {
  /// The body for a request.
  func body(for request: MockRequest) throws -> MessageBody {
    switch body {
    case .message(let body): body
    case .file(let file): try .existing(file)
    case .template(let template): .text(try template.filled(from: request))
    }
  }
}
