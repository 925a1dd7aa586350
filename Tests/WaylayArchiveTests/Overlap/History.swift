import Foundation
import WaylayCore

@testable import WaylayArchive

/// What has been done to the stores of a schedule, in the order of a clock that ticks with every beginning and every
/// end; and whether what they give out can be true of it.
///
/// An operation happens somewhere between its beginning and its end. So a value may be there from the beginning of its
/// storing on, and has to be from the end; it may be gone from the beginning of a removal on, and has to be from the
/// end. That is so for the store that did it; another store on the directory learns of it at the latest after a flush.
struct History {
  struct Value {
    var key: Int
    var incarnation: Int
    var begun: Int
    /// When it was surely there for the store that stored it, and when for others.
    var stored: Int?
    var storer: Int?
    var durable: Int?
    /// From when on it may be gone, and when it surely was for the store that removed it, and for others.
    var leaving: Int?
    var removed: Int?
    var remover: Int?
    var forgotten: Int?
    var entry: EntryID?
    /// The lengths that it has had, each with the moments from when it may and has to be that long.
    var lengths: [(length: Int, begun: Int, stored: Int?, durable: Int?, storer: Int)] = []
  }

  private(set) var clock = 0
  private(set) var values: [Int: Value] = [:]
  private var clears = 0
  private(set) var violations: [String] = []
  private var evicted: Set<EntryID> = []
  /// Whether what is done is kept as text, which takes time.
  var isLogging = false
  /// What has been done, for a look into a violation.
  private(set) var log: [String] = []

  mutating func tick() -> Int {
    clock += 1
    return clock
  }

  /// Notes a moment, unless there is an earlier one.
  private mutating func set(_ moment: WritableKeyPath<Value, Int?>, of version: Int, _ now: Int) {
    guard var value = values[version], value[keyPath: moment] == nil else { return }
    value[keyPath: moment] = now
    values[version] = value
  }

  mutating func note(_ line: @autoclosure () -> String) {
    guard isLogging else { return }
    log.append("\(clock): \(line())")
    if log.count > 400 { log.removeFirst(200) }
  }

  mutating func violate(_ what: String) {
    violations.append("at \(clock): \(what)")
  }

  // MARK: Storing

  /// A version that is about to be stored.
  mutating func begin(key: Int, incarnation: Int) -> Int {
    let version = values.count + 1
    let now = tick()
    values[version] = Value(key: key, incarnation: incarnation, begun: now, leaving: clears > 0 ? now : nil)
    return version
  }

  /// A version is about to be so long.
  mutating func publish(_ version: Int, length: Int, by handle: Int) {
    let now = tick()
    values[version]?.lengths.append((length, now, nil, nil, handle))
  }

  mutating func published(_ version: Int, length: Int, _ entry: EntryID, by handle: Int) {
    let now = tick()
    guard var value = values[version] else { return }
    if value.stored == nil { (value.stored, value.storer) = (now, handle) }
    value.entry = entry
    for index in value.lengths.indices
    where value.lengths[index].length == length && value.lengths[index].stored == nil
      && value.lengths[index].storer == handle
    {
      value.lengths[index].stored = now
    }
    values[version] = value
  }

  /// Nothing is certain of a version any more but what it would have to be.
  mutating func doubt(_ version: Int) {
    let now = tick()
    set(\.leaving, of: version, now)
  }

  mutating func evict(_ entry: EntryID) { evicted.insert(entry) }

  // MARK: Removing

  mutating func leave(_ versions: [Int]) {
    let now = tick()
    for version in versions { set(\.leaving, of: version, now) }
  }

  mutating func left(_ versions: [Int], by handle: Int) {
    let now = tick()
    for version in versions where values[version]?.removed == nil {
      set(\.removed, of: version, now)
      values[version]?.remover = handle
    }
  }

  /// Everything of an incarnation is about to be removed. Says since when, and what has to go.
  mutating func beginClear(_ incarnation: Int, by handle: Int) -> [Int] {
    let now = tick()
    clears += 1
    var doomed: [Int] = []
    for (version, value) in values where value.incarnation == incarnation && value.leaving == nil {
      if value.stored != nil, value.storer == handle || value.durable != nil { doomed.append(version) }
      values[version]?.leaving = now
    }
    return doomed
  }

  mutating func endClear(_ doomed: [Int], _ isDone: Bool, by handle: Int) {
    clears -= 1
    guard isDone else { return }
    left(doomed, by: handle)
    for version in doomed { set(\.forgotten, of: version, clock) }
  }

  /// What was certain for a store when its flush began is certain for all now.
  mutating func flushed(_ incarnation: Int, since start: Int, by handle: Int) {
    let now = tick()
    for (version, value) in values where value.incarnation == incarnation {
      if let stored = value.stored, stored <= start, value.storer == handle { set(\.durable, of: version, now) }
      if let removed = value.removed, removed <= start, value.remover == handle { set(\.forgotten, of: version, now) }
      for index in value.lengths.indices {
        if let stored = value.lengths[index].stored, stored <= start, value.lengths[index].durable == nil,
          value.lengths[index].storer == handle
        {
          values[version]?.lengths[index].durable = now
        }
      }
    }
  }

  // MARK: Looking

  struct Look {
    var key: Int
    var incarnation: Int
    var start: Int
    var handle: Int
    /// Whether everything that is certain has to be there: the store was open all the time, and its directory in place.
    var isWhole: Bool
    var who: String
  }

  struct Seen {
    var head: Content.Head
    var length: Int
    var body: Data?
  }

  /// Compares what a look-up found with what may and has to be there.
  mutating func check(_ look: Look, _ found: [Seen]) {
    let end = tick()
    for seen in found {
      let (head, version) = (seen.head, seen.head.version)
      guard let value = values[version], value.key == head.key, head.key == look.key else {
        violate("\(look.who) gave out version \(version) of key \(head.key) under key \(look.key)")
        continue
      }
      if value.incarnation != look.incarnation {
        violate(
          """
          \(look.who) of incarnation \(look.incarnation) gave out version \(version) of incarnation \
          \(value.incarnation)
          """
        )
      }
      if head.length != seen.length {
        violate("\(look.who): version \(version) has \(seen.length) bytes, and its head says \(head.length)")
      }
      if let body = seen.body, body != Content.body(version, seen.length) {
        violate("\(look.who): \(body.count) bytes that are not the first \(seen.length) of version \(version)")
      }
      if !value.lengths.contains(where: { $0.length == seen.length && $0.begun <= end }) {
        violate("\(look.who): version \(version) was never \(seen.length) bytes long")
      }
      let longest = value.lengths.filter {
        (($0.storer == look.handle ? $0.stored : $0.durable) ?? .max) < look.start
      }.map(\.length).max()
      if let longest, seen.length < longest {
        violate("\(look.who): version \(version) has \(seen.length) bytes, and had \(longest)")
      }
      if let gone = value.remover == look.handle ? value.removed : value.forgotten, gone < look.start {
        violate(
          "\(look.who) gave out version \(version) of key \(look.key), removed at \(gone), looked for at \(look.start)")
      }
    }
    let versions = found.map(\.head.version)
    if Set(versions).count < versions.count { violate("\(look.who) gave out \(versions) for key \(look.key)") }
    guard look.isWhole else { return }
    for (version, value) in values where value.key == look.key && value.incarnation == look.incarnation {
      guard let there = value.storer == look.handle ? value.stored : value.durable, there < look.start,
        value.leaving == nil,
        !versions.contains(version),
        value.entry.map({ !evicted.contains($0) }) ?? true
      else { continue }
      violate("\(look.who) lost version \(version) of key \(look.key), stored at \(there), looked for at \(look.start)")
    }
  }
}
