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
  /// The numbers in the replacements of a cassette.
  var numbers: HiddenNumbers?

  package init(_ numbers: HiddenNumbers? = nil) { self.numbers = numbers }

  mutating func add(_ entry: inout HAR.Entry, _ named: Redactor, _ others: Redactor, _ original: HAR.Entry) {
    numbers = others.numbers
    let new = named.counts.merging(others.counts, uniquingKeysWith: +)
    counts.merge(new, uniquingKeysWith: +)
    if !new.isEmpty { exchanges += 1 }
    let unread = named.unread
    let places = named.places.merging(others.places) { one, _ in one }
    let list = (entry.extensions[HAR.Entry.redacted]?.object ?? [:]).merging(places) { $1 }
    entry.extensions[HAR.Entry.redacted] = list.isEmpty ? Optional.none : JSONValue(list)
    let request = "\(entry.request.method) \(entry.request.url.prefix { $0 != "?" })"
    if entry.request.body?.data != original.request.body?.data {
      changedCount += 1
      if changedBodies.count <= Self.shown { changedBodies.append(request) }
    }
    // Drop repeated reasons: one body may hold many values that are nested too deeply.
    let reasons = zip([nil] + unread.map(Optional.some), unread).filter { $0 != $1 }.map(\.1)
    self.unread += reasons.map { "\(request): \($0)" }
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

/// Numbers that tell the hidden values of one file apart.
package struct HiddenNumbers: Sendable {
  private var numbers: [[UInt8]: Int]
  private var last: Int
  /// Values that differ in each request, such as a nonce: these have no numbers.
  private var changing: Set<[UInt8]> = []

  /// - Parameters:
  ///   - last: The largest number that the file has.
  ///   - known: The values with a number.
  package init(after last: Int = 0, _ known: [String: Int] = [:]) {
    numbers = Dictionary(known.map { (Self.key(Array($0.key.utf8)), $0.value) }) { one, _ in one }
    self.last = max(last, known.values.max() ?? 0)
  }

  /// The number of a value: the same for the same value.
  mutating func number(of value: [UInt8], isChanging: Bool) -> Int? {
    let key = Self.key(value)
    if let number = numbers[key] { return number }
    if isChanging { changing.insert(key) }
    guard !changing.contains(key) else { return nil }
    last += 1
    numbers[key] = last
    return last
  }

  /// A long value is kept as its digest.
  private static func key(_ value: [UInt8]) -> [UInt8] {
    value.count > 64 ? Array(MessageDigest.sha256(Data(value)).utf8) : value
  }
}

extension HAR.Entry {
  /// The custom field that lists the replaced values by place: with `null`, or in a cassette, for a number, the mark that
  /// a text would have.
  package static let redacted = "_redacted"

  /// The list of replaced values of the request, by place.
  package var replaced: [String: JSONValue] {
    (extensions[Self.redacted]?.object ?? [:]).filter { $0.key.hasPrefix("request.") }
  }
}
