/// Parses the values of an exchange and replaces those under the names of secrets, and those with the shape of one; with
/// finders, also other occurrences of known secrets.
///
/// Every value is read once; a value in another format inside it is read as a nested value, up to a depth. The work is
/// therefore linear in the number of bytes.
struct Redactor {
  typealias Row = CredentialNames.Row

  let redaction: Redaction
  /// Searches for known secrets.
  let finders: [SecretFinder]
  let mark: [UInt8]
  /// The replacement of numbers.
  let zero = [UInt8(ascii: "0")]
  /// Secrets, by their names and shapes.
  private(set) var found: Set<[UInt8]> = []
  /// The number of replaced values by rule, and the places of all: with the mark of a number, if it has one, or `null`.
  private(set) var counts: [String: Int] = [:]
  private(set) var places: [String: JSONValue] = [:]
  /// The numbers of replaced values, in a cassette.
  var numbers: HiddenNumbers?
  /// The current place in the entry: the part of the message, and names in it.
  var place: [String] = []
  private var rows: [String: Row?] = [:]
  /// The formats of bodies that were not read.
  var unread: [String] = []
  /// The number of bytes read, including repetitions, and of steps of the finders.
  private(set) var work = 0
  private var depth = 0

  /// The rule that hides a known secret in any place.
  static let echo = "(echo)"

  /// The most bytes of a secret of which echoes are found: longer ones are not repeated as a whole.
  static let longest = 4096
  /// Deeper nesting does not occur in real traffic, only in attacks.
  private static let mostDepth = 8

  init(_ redaction: Redaction, finders: [SecretFinder] = [], numbers: HiddenNumbers? = nil) {
    (self.redaction, self.finders, self.numbers) = (redaction, finders + redaction.finders, numbers)
    mark = Array(redaction.replacement.utf8)
  }

  /// The row of a name; `nil` if its values are shown.
  mutating func row(_ name: some Sequence<UInt8>) -> Row? {
    let name = String(decoding: Array(name), as: UTF8.self)
    if let known = rows[name] { return known }
    if rows.count > 4096 { rows = [:] }
    let row = redaction.row(of: name)
    rows[name] = .some(row)
    return row
  }

  /// The row of a text in the position of a name.
  mutating func row(label text: [UInt8]) -> Row? {
    let isName = 1...64 ~= text.count && !text.contains { $0 <= 0x20 || "?&=<>{}\"".utf8.contains($0) }
    return isName ? row(text) : nil
  }

  /// Runs a closure at a place within the current one.
  mutating func at<Result>(_ name: some Sequence<UInt8>, _ body: (inout Redactor) -> Result) -> Result {
    place.append(String(decoding: Array(name.prefix(128)), as: UTF8.self))
    defer { place.removeLast() }
    return body(&self)
  }

  /// Whether a value is the replacement of another one.
  func isMark(_ value: some Collection<UInt8>) -> Bool {
    value.elementsEqual(mark)
      || !mark.isEmpty && value.count <= mark.count + 65 && value.starts(with: mark + [UInt8(ascii: "-")])
        && value.dropFirst(mark.count + 1).allSatisfy { $0.isOfWord || $0 == UInt8(ascii: "-") }
  }

  /// The replacement of a value.
  mutating func mark(of secret: [UInt8]) -> [UInt8] {
    if let name = redaction.marks[secret] { return mark + Array("-\(name)".utf8) }
    guard !mark.isEmpty else { return mark }
    let isChanging = CredentialNames.kind(of: place.last ?? "") == .changing
    return numbers?.number(of: secret, isChanging: isChanging).map { mark + Array("-\($0)".utf8) } ?? mark
  }

  mutating func note(_ secret: [UInt8]) {
    if secret.isLikelyCredential, !isMark(secret), secret.count <= Self.longest { found.insert(secret) }
  }

  /// Notes a replacement at the current place.
  mutating func take(_ rule: String, _ mark: JSONValue = JSONValue(.null)) {
    counts[rule, default: 0] += 1
    // Deeper places are listed by their beginning.
    places[place.prefix(32).joined(separator: ".")] = mark
  }

  /// Replaces a secret.
  ///
  /// - Parameters:
  ///   - whole: The range to replace, if it is larger than the value.
  ///   - escapes: The escapes of the value, also used for the replacement.
  mutating func hide(
    _ range: Range<Int>, within whole: Range<Int>? = nil, in draft: inout Draft, escapes: Escapes = [],
    _ rule: String, isNoted: Bool = true
  ) {
    let secret = escapes.removed(from: draft.source[range])
    guard !secret.isEmpty, !isMark(secret) else { return draft.keep(whole ?? range) }
    if isNoted { note(secret) }
    take(rule)
    draft.replace(whole ?? range, by: (whole == nil ? escapes : .entity).added(to: mark(of: secret)))
  }

  /// Replaces a number, which stays one.
  mutating func hideNumber(_ range: Range<Int>, in draft: inout Draft, _ rule: String) {
    let number = Array(draft.source[range])
    guard number != zero else { return draft.keep(range) }
    note(number)
    take(rule, numbers == nil ? JSONValue(.null) : JSONValue(String(decoding: mark(of: number), as: UTF8.self)))
    draft.replace(range, by: zero)
  }

  /// Reads a nested value. Replacements are written with the same escapes; the rest stays as written.
  mutating func read(
    _ range: Range<Int>, in draft: inout Draft, escapes: Escapes = [],
    by reading: (inout Redactor, inout Draft) -> Void = { $0.readText(&$1) }
  ) {
    if let changed = changed(Array(draft.source[range]), escapes: escapes, by: reading) {
      draft.replace(range, by: changed)
    } else {
      draft.keep(range)
    }
  }

  /// Reads a value; `nil` if nothing changes.
  ///
  /// - Parameter placed: The value within the text, and the place of each of its bytes: by default, the text without
  ///   escapes.
  mutating func changed(
    _ text: [UInt8], escapes: Escapes = [], placed: (plain: [UInt8], places: [Int])? = nil,
    by reading: (inout Redactor, inout Draft) -> Void = { $0.readText(&$1) }
  ) -> [UInt8]? {
    let placed = placed ?? escapes.placed(from: text[...])
    let value = placed?.plain ?? text
    guard !value.isEmpty, !isMark(value) else { return nil }
    work += value.count
    var draft = Draft(value)
    if depth < Self.mostDepth {
      depth += 1
      reading(&self, &draft)
      depth -= 1
      work += draft.work
    } else {
      readUnread(&draft, "a value that is nested too deeply")
    }
    for finder in finders {
      for gap in draft.gaps {
        for range in finder.secrets(in: gap, of: value, work: &work) {
          take(Self.echo)
          let name = finder.mark.map { mark + Array("-\($0)".utf8) }
          draft.replace(range, by: name ?? mark(of: Escapes.any.removed(from: value[range])))
        }
      }
    }
    return draft.result(in: text, at: placed?.places, escapes)
  }

  /// Reads a text outside of bodies.
  mutating func redacted(_ text: String) -> String {
    changed(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  mutating func redacted(_ text: String?) -> String? { text.map { redacted($0) } }

  /// Redacts the value of a name.
  mutating func redacted(_ text: String, named name: String, isWhole: Bool = false) -> String {
    let row = row(name.utf8)
    guard let row = isWhole ? row : row?.hiding(Array(text.utf8)) else { return redacted(text) }
    return hidden(text, row.name)
  }

  /// Hides a value.
  mutating func hidden(_ text: String, _ rule: String) -> String {
    var draft = Draft(Array(text.utf8))
    hide(draft.source.indices, in: &draft, rule)
    return draft.result.map { String(decoding: $0, as: UTF8.self) } ?? text
  }
}

extension CredentialNames.Row {
  var hidesNumbers: Bool { values.contains(.numbers) }

  /// The row, if it hides a value.
  func hiding(_ value: [UInt8]) -> Self? {
    !value.isEmpty && (values.contains(.spaces) || !value.contains(where: \.isSpace)) ? self : nil
  }

  /// The row, if it hides a value somewhere in a container under its name.
  func hiding(leaf value: [UInt8]) -> Self? { value.isLikelyCredential && !value.isTimestamp ? hiding(value) : nil }
}

extension [UInt8] {
  /// Whether it is unlikely to occur by chance, unlike a word such as "password".
  var isLikelyCredential: Bool {
    count >= 20 || count >= 8 && contains(where: \.isASCIILetter) && contains(where: \.isASCIIDigit)
  }
}

extension UInt8 {
  var isSpace: Bool { self == 0x20 || 0x09...0x0D ~= self }
  var isLineEnd: Bool { self == 0x0A || self == 0x0D }
}
