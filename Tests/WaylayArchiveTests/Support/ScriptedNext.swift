import Foundation
import HTTPTypes
import WaylayCore

@testable import WaylayArchive

/// The rest of a chain as a test scripts it: it notes what it is asked, and answers when it is told to.
final class ScriptedNext: Sendable {
  typealias Answer = @Sendable (InterceptedRequest) async throws -> InterceptedResponse

  private struct State {
    var asked: [InterceptedRequest] = []
    var answer: Answer?
    var waiters = Waiters()
  }

  private let state = Locked(State())

  init(_ answer: @escaping Answer = { InterceptedResponse(to: $0, source: .network) }) {
    state.withLock { $0.answer = answer }
  }

  /// What comes from now on is answered so.
  func answers(_ answer: @escaping Answer) {
    state.withLock { $0.answer = answer }
  }

  /// The same with a text and fields.
  func answers(_ text: String = "", status: HTTPResponse.Status = .ok, _ fields: HTTPFields = [:]) {
    answers { InterceptedResponse(to: $0, status: status, fields: fields, body: .text(text), source: .network) }
  }

  /// What it was asked so far.
  var asked: [InterceptedRequest] { state.withLock { $0.asked } }

  /// Waits until it has been asked so often.
  func wasAsked(_ count: Int) async {
    while asked.count < count { await state.wait(at: \.waiters) { $0.asked.count >= count } }
  }

  var next: InterceptorChain.Next {
    InterceptorChain.Next { [self] request in
      let (answer, waiters) = state.withLock { state in
        state.asked.append(request)
        return (state.answer, state.waiters.takeAll())
      }
      waiters.wake()
      guard let answer else { throw CancellationError() }
      return try await answer(request)
    }
  }
}

/// Something that waits until it is let through.
final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var waiters = Waiters()
  }

  private let state = Locked(State())

  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      return state.waiters.takeAll()
    }
    waiters.wake()
  }

  /// Waits; throws when the task is cancelled meanwhile.
  func wait() async throws {
    while !state.withLock({ $0.isOpen }) {
      try Task.checkCancellation()
      await state.wait(at: \.waiters) { $0.isOpen }
    }
  }
}

extension ArchiveCache {
  /// The same with the one URL that most tests need.
  func load(
    _ script: ScriptedNext, context: LoadContext = LoadContext(), _ change: (inout URLRequest) -> Void = { _ in }
  ) async throws -> (response: InterceptedResponse, text: String) {
    try await load("http://example.com/a", script, context: context, change)
  }

  /// Loads a URL through the archive alone, with a scripted rest of the chain.
  func load(
    _ url: String, _ script: ScriptedNext, context: LoadContext = LoadContext(),
    _ change: (inout URLRequest) -> Void = { _ in }
  ) async throws -> (response: InterceptedResponse, text: String) {
    guard let url = URL(string: url) else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    change(&request)
    let response = try await startLoading(InterceptedRequest(request, context: context), next: script.next)
    let body = try await response.body.collect(upTo: 1 << 24)
    return (response, String(decoding: body, as: UTF8.self))
  }
}
