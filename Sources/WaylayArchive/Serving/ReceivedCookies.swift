import Foundation
import HTTPTypes

/// The `Set-Cookie` fields of answers that this process stored without them, for the sessions that received them.
///
/// A session shows its app the same head whether or not it came from the archive; what another session, or a later
/// process, gets has no cookies. They are in memory, few, and never in a store.
final class ReceivedCookies: Sendable {
  private struct Received {
    weak var context: LoadContext?
    let fields: [HTTPField]
  }

  private struct State {
    var received: [EntryID: Received] = [:]
    var bytes = 0
  }

  private let state = Locked(State())
  private let limit: Int

  /// - Parameter limit: The most bytes. What goes beyond makes all be forgotten: nobody needs them.
  init(limit: Int = 256 * 1024) {
    self.limit = limit
  }

  /// Keeps the cookies among the fields of an answer.
  func keep(of fields: HTTPFields, as id: EntryID, _ context: LoadContext) {
    let cookies = fields.filter { $0.name == .setCookie }
    guard !cookies.isEmpty else { return }
    let size = cookies.reduce(64) { $0 + $1.value.utf8.count }
    guard size <= limit / 4 else { return }
    state.withLock { state in
      if state.bytes + size > limit { state = State() }
      state.received[id] = Received(context: context, fields: Array(cookies))
      state.bytes += size
    }
  }

  /// The cookies that a session received with an answer.
  func fields(of id: EntryID, for context: LoadContext) -> [HTTPField] {
    guard let received = state.withLock({ $0.received[id] }), let owner = received.context else { return [] }
    let isSameSession = owner === context || owner.cookieStorage != nil && owner.cookieStorage === context.cookieStorage
    return isSameSession ? received.fields : []
  }
}
