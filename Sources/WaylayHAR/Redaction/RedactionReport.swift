/// The effects of a redaction on exchanges.
package struct RedactionReport: Sendable, CustomStringConvertible {
  /// The number of replaced values by rule: a row of the table, a shape, an echo.
  package private(set) var counts: [String: Int] = [:]
  /// The number of replaced values.
  package var places: Int { counts.values.reduce(0, +) }
  /// The first requests with changed bodies, which affects a replay that compares bodies.
  package private(set) var changedBodies: [String] = []
  private var changedCount = 0
  private static let shown = 20
  /// The exchanges with unreadable bodies, and the reasons.
  package private(set) var unread: [String] = []
  private var exchanges = 0
  /// The replaced values of the last exchange, by place.
  package private(set) var taken: [String: TakenValue] = [:]
  private let salt: String?
  /// The numbers of replaced values that have no digest, by place, and the last number.
  private var numbers: [String: [[UInt8]: Int]] = [:]
  private var last = 0

  /// - Parameter salt: Salts the digests that tell replaced values apart; without it there are none.
  package init(salt: String? = nil) {
    self.salt = salt
  }

  mutating func add(_ entry: inout HAR.Entry, _ named: Redactor, _ others: Redactor, _ original: HAR.Entry) {
    let new = named.counts.merging(others.counts, uniquingKeysWith: +)
    counts.merge(new, uniquingKeysWith: +)
    if !new.isEmpty { exchanges += 1 }
    let unread = named.unread
    taken = named.taken.merging(others.taken) { one, _ in one }
    list(in: &entry)
    let request = "\(entry.request.method) \(entry.request.url.prefix { $0 != "?" })"
    if entry.request.body?.data != original.request.body?.data {
      changedCount += 1
      if changedBodies.count <= Self.shown { changedBodies.append(request) }
    }
    // Drop repeated reasons: one body may hold many values that are nested too deeply.
    let reasons = zip([nil] + unread.map(Optional.some), unread).filter { $0 != $1 }.map(\.1)
    self.unread += reasons.map { "\(request): \($0)" }
  }

  /// Lists the replaced values of an entry, in addition to those replaced before.
  private mutating func list(in entry: inout HAR.Entry) {
    // In a list that another program wrote, other values may be secrets.
    var list = (entry.extensions[TakenValue.list]?.object ?? [:]).filter { _, value in
      value.isNull || value.int != nil || value.string?.wholeMatch(of: /[0-9a-f]{1,16}/) != nil
    }
    last = max(last, list.values.compactMap(\.int).max() ?? 0)
    let salt = salt.map { list[TakenValue.salt]?.string ?? $0 }
    for (place, value) in taken where list[place] == nil {
      let isCompared = place.hasPrefix("request.url") || place.hasPrefix("request.body")
      if isCompared, let salt, let digest = value.digest(salt) {
        (list[place], list[TakenValue.salt]) = (JSONValue(digest), JSONValue(salt))
      } else if isCompared, salt != nil, value.isTold {
        let number = numbers[place]?[value.secret] ?? last + 1
        (last, numbers[place, default: [:]][value.secret]) = (max(last, number), number)
        list[place] = JSONValue(number)
      } else {
        list[place] = .some(nil)
      }
    }
    entry.extensions[TakenValue.list] = list.isEmpty ? Optional.none : JSONValue(list)
  }

  package var description: String {
    func list(_ lines: [String]) -> String {
      lines.prefix(Self.shown).map { "\n  \($0)" }.joined() + (lines.count > Self.shown ? "\n  …" : "")
    }
    var text = "Redacted values: \(places). Exchanges: \(exchanges)."
    if !counts.isEmpty {
      let rules = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      text += "\nBy rule: " + rules.map { "\($0.key) \($0.value)" }.joined(separator: ", ") + "."
    }
    if !changedBodies.isEmpty {
      text +=
        "\nWarning: bodies of requests were changed (\(changedCount)). A replay that compares bodies treats those as "
        + "equal that differ only in their secrets:" + list(changedBodies)
    }
    if !unread.isEmpty { text += "\nNot read:" + list(unread) }
    return text
  }
}

/// A value that was replaced at a place of an entry.
package struct TakenValue: Sendable {
  /// The custom field of an entry that lists the replaced values by place: a digest, a number that differs for other
  /// values in the file, or `null`.
  package static let list = "_redacted"
  /// The name of the digests' salt in that list.
  package static let salt = "salt"

  private(set) var secret: [UInt8] = []
  /// Whether its digest may be stored: only that of a key or a signature.
  private var isDigested = true
  /// Whether equal requests have the same value, unlike a signature or a token against forgery.
  private(set) var isTold = true

  mutating func add(_ secret: [UInt8], by rule: String, isTold: Bool) {
    self.secret += secret + [0]
    isDigested = isDigested && rule.hasSuffix("key")
    self.isTold = self.isTold && isTold
  }

  /// 16 bits of a salted digest, if they may be kept.
  package func digest(_ salt: String) -> String? {
    isDigested && isTold ? String(MessageDigest.sha256(Data(salt.utf8) + secret).prefix(4)) : nil
  }
}

extension HAR.Entry {
  /// The list of replaced values of the request, by place.
  package var replaced: [String: JSONValue] {
    (extensions[TakenValue.list]?.object ?? [:]).filter { $0.key.hasPrefix("request.") }
  }
}
