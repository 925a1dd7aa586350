import Foundation
public import WaylayHAR
import WaylayRecording

/// What became of a request, for whoever looks at it afterwards.
final class MockOutcome: Sendable {
  private struct State {
    var response: InterceptedResponse?
    var body: SeenBody?
    var copy: BodyCopy?
    var error: (any Error)?
    var head: Duration?
  }

  /// The most bytes that are kept of a body.
  private static let limit = 1 << 16

  private let started = Date()
  private let start = ContinuousClock.now
  private let state = Locked(State())

  /// Keeps a response with its body, if that is not too large.
  ///
  /// - Parameter copies: Whether to keep what is read of a body that is not there yet.
  func keep(_ response: InterceptedResponse, copies: Bool) -> InterceptedResponse {
    var (response, kept) = (response, response)
    // One that holds a connection, or many bytes, is not held.
    kept.body = .empty
    let data = response.body.inMemory
    let copy = copies && data == nil ? BodyCopy(limit: Self.limit) : nil
    let size = response.body.length.map(Int.init(clamping:))
    state.withLock { state in
      state.body = data.flatMap { $0.count <= Self.limit ? SeenBody($0) : nil } ?? SeenBody(size: size)
      (state.response, state.copy, state.head) = (kept, copy, ContinuousClock.now - start)
    }
    if let copy { response.body = response.body.copied(to: copy) }
    return response
  }

  func fail(_ error: any Error) { state.withLock { $0.error = error } }

  /// The exchange, with whatever secrets are in it.
  func entry(of request: InterceptedRequest, _ body: Data) -> HAR.Entry {
    let state = state.withLock { $0 }
    var entry = HAR.Entry(
      request, body: SeenBody(body), state.response, responseBody: state.copy?.body ?? state.body, started: started,
      head: state.head,
      elapsed: state.head ?? .zero)
    if let error = state.error { entry.fail(error) }
    return entry
  }
}

extension MockRequest {
  /// The exchange as an entry of an HTTP archive, without secrets: in a mock's history, with the response.
  ///
  /// ```swift
  /// let entry = try MockInterceptor.current.requests(.post, "/orders").only().harEntry
  /// ```
  public var harEntry: HAR.Entry { redaction.redacted(entry) }

  /// Returns a `curl` command that sends the request again, without secrets.
  ///
  /// ```swift
  /// #expect(try mock.requests(.get, "/users").only().curlCommand() == expected)
  /// ```
  ///
  /// - Parameter isMultiline: Whether to write each option on its own line.
  public func curlCommand(isMultiline: Bool = true) -> String {
    harEntry.request.curlCommand(isMultiline: isMultiline)
  }

  /// The request as a command, unless that is long, for a report.
  var repetition: String? { body.count > 2048 ? nil : curlCommand(isMultiline: false) }

  var redaction: Redaction { Redaction.standard.showing(record?.shownNames ?? []) }

  /// The exchange with its secrets.
  var entry: HAR.Entry { (record?.outcome ?? MockOutcome()).entry(of: request, body) }
}

extension Redaction {
  fileprivate func showing(_ names: Set<String>) -> Redaction {
    names.reduce(into: self) { $0.show($1) }
  }
}

extension MockInterceptor {
  /// All exchanges of the history as an HTTP archive, without secrets.
  ///
  /// - Parameter redaction: What is a secret; by default the standard names, but for those that the options show.
  package func traffic(redaction: Redaction?) -> HAR {
    (redaction ?? .standard).showing(shownNames).redacted(HAR(entries: received.map(\.entry)))
  }
}
