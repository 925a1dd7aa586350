import Foundation
import HTTPTypes

/// Which resources, whoever asks for them, and which groups of them a load has changed lately: a response that was asked
/// for before and comes after is not what the resource is now.
///
/// Only the latest are remembered; what is forgotten counts as changed when the question goes back further than that.
final class Changes: Sendable {
  private struct State {
    var moment: UInt64 = 0
    var changed: [[UInt8]: UInt64] = [:]
    /// Everything up to this moment may have been forgotten.
    var forgotten: UInt64 = 0

    mutating func note(_ key: [UInt8], _ limit: Int) {
      if changed.count >= limit {
        changed = [:]
        forgotten = moment
      }
      moment += 1
      changed[key] = moment
    }

    func hasChanged(_ key: [UInt8], since moment: UInt64) -> Bool {
      changed[key].map { $0 > moment } ?? (moment < forgotten)
    }
  }

  private let state = Locked(State())
  private let limit: Int

  init(limit: Int = 1024) { self.limit = limit }

  /// The moment, which goes on with each change.
  var now: UInt64 { state.withLock { $0.moment } }

  func note(_ key: [UInt8]) { state.withLock { $0.note(key, limit) } }

  /// Notes that any resource may have changed.
  func noteAll() { state.withLock { $0 = State(moment: $0.moment + 1, forgotten: $0.moment + 1) } }

  /// Notes the change that one load has made itself, and returns the moment after it; `nil` when somebody else changed
  /// the resource since `moment`, so that nobody can say which of the two came last.
  func noteOwn(_ key: [UInt8], since moment: UInt64) -> UInt64? {
    state.withLock { state in
      let isAlone = !state.hasChanged(key, since: moment)
      state.note(key, limit)
      return isAlone ? state.moment : nil
    }
  }

  func hasChanged(_ key: [UInt8], since moment: UInt64) -> Bool {
    state.withLock { $0.hasChanged(key, since: moment) }
  }
}

/// The `Set-Cookie` fields of responses that this process stored without them, for the sessions that received them.
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
  init(limit: Int = 256 * 1024) { self.limit = limit }

  /// Keeps the cookies among the fields of a response.
  func keep(of fields: HTTPFields, as id: EntryID, _ context: LoadContext) {
    let cookies = fields.filter { $0.name.setsCookie }
    guard !cookies.isEmpty else { return }
    let size = cookies.reduce(64) { $0 + $1.value.utf8.count }
    guard size <= limit / 4 else { return }
    state.withLock { state in
      if state.bytes + size > limit { state = State() }
      state.received[id] = Received(context: context, fields: Array(cookies))
      state.bytes += size
    }
  }

  /// The cookies that a session received with a response.
  func fields(of id: EntryID, for context: LoadContext) -> [HTTPField] {
    guard let received = state.withLock({ $0.received[id] }), let owner = received.context else { return [] }
    let isSameSession = owner === context || owner.cookieStorage != nil && owner.cookieStorage === context.cookieStorage
    return isSameSession ? received.fields : []
  }
}
