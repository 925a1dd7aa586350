import Foundation
import HTTPTypes

/// Tracks recent changes of resources and groups, for all users: a response that was requested before a change and
/// arrives after it is outdated.
///
/// The number of tracked changes is limited; before the oldest tracked change, every resource counts as changed.
final class Changes: Sendable {
  private struct State {
    var moment: UInt64 = 0
    var changed: [[UInt8]: UInt64] = [:]
    /// Changes up to this sequence number may have been dropped.
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

  /// The current sequence number, which each change increments.
  var now: UInt64 { state.withLock { $0.moment } }

  func note(_ key: [UInt8]) { state.withLock { $0.note(key, limit) } }

  /// Notes the change made by a load itself, and returns its sequence number; `nil` if another load has changed the
  /// resource since `moment`, because the order of the two changes is unknown.
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

/// The `Set-Cookie` fields of stored responses, which are kept in memory only, for the session that received them.
///
/// A session thereby sees the same head whether or not it came from the archive; other sessions and later processes get
/// no cookies. The cookies are never written to a store.
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

  /// - Parameter limit: The maximum number of bytes. Beyond it all cookies are dropped, since they are optional.
  init(limit: Int = 256 * 1024) { self.limit = limit }

  /// Keeps the cookies of a response.
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

  /// The cookies that the same session received with a response.
  func fields(of id: EntryID, for context: LoadContext) -> [HTTPField] {
    guard let received = state.withLock({ $0.received[id] }), let owner = received.context else { return [] }
    let isSameSession = owner === context || owner.cookieStorage != nil && owner.cookieStorage === context.cookieStorage
    return isSameSession ? received.fields : []
  }
}
