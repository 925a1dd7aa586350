/// What is taken out of an exchange before anybody keeps it: credentials, by the names that they go under.
///
/// ```swift
/// var redaction = Redaction.standard
/// redaction.hide("X-Internal-User", "patient_id")
/// redaction.show("sort_key")
/// try redaction.redacted(archive).write(to: file)
/// ```
///
/// It knows credentials by name: of header fields, cookies, items of a query, members of JSON at any depth, fields of
/// forms and of multipart bodies, elements of XML. Values of such names are replaced by ``replacement``, and wherever
/// else in the exchange such a value comes again, it is replaced too: in a remark, in another header field, in base64,
/// in a text of another kind. The lists of an archive are made anew from what was redacted, so that they cannot say
/// what the head does not.
///
/// What it cannot know is a secret under a name that says nothing, such as a person's name under `q`: say such names by
/// ``hide(_:)``. Bodies that are no text, such as pictures, are left as they are.
public struct Redaction: Sendable {
  /// Hides what is commonly a credential: `Authorization`, `Cookie`, `Set-Cookie`, and names that contain words such as
  /// `token`, `secret`, `password` or `api_key`,
  /// words such as `pin` and `otp`, or end in `key`.
  public static let standard = Redaction()
  /// Hides nothing.
  public static let none = Redaction(isOn: false)

  /// What stands in place of a secret.
  public var replacement = "REDACTED"

  private let isOn: Bool
  private var hidden: Set<String> = [
    "assertion", "clientassertion", "codeverifier", "cookie", "samlresponse", "setcookie", "sid",
  ]
  /// The names that are shown, though they contain what is below.
  private var shown: Set<String> = [
    "completiontokens", "idempotencykey", "maxtokens", "prompttokens", "tokens", "tokentype", "totaltokens",
  ]
  /// What gives a name away wherever it stands in it.
  private static let fragments = [
    "accesskey", "apikey", "authorization", "credential", "passcode", "passphrase", "passwd", "password", "privatekey",
    "secret", "session", "signature", "token",
  ].map { Array($0.utf8) }
  /// What gives a name away when it is one of its words, as in `user_pin`, `userPin` and `user[pin]`.
  private static let words: Set<String> = [
    "auth", "bearer", "csrf", "cvc", "cvv", "jwt", "otp", "pin", "pwd", "sig", "ssn", "xsrf",
  ]

  private init(isOn: Bool = true) {
    self.isOn = isOn
  }

  /// Hides the values of more names, wherever they stand. Upper and lower case, `-`, `_` and `.` do not count.
  public mutating func hide(_ names: String...) {
    for name in names.map(Self.plain) {
      hidden.insert(name)
      shown.remove(name)
    }
  }

  /// Shows the values of names that would be hidden.
  public mutating func show(_ names: String...) {
    for name in names.map(Self.plain) {
      shown.insert(name)
      hidden.remove(name)
    }
  }

  /// Whether values of that name are hidden.
  public func hides(_ name: String) -> Bool {
    guard isOn else { return false }
    let plain = Self.plain(name)
    if hidden.contains(plain) { return true }
    if shown.contains(plain) { return false }
    // By bytes: by characters it takes as long as all the rest, and a mark on the last letter would hide a fragment.
    let bytes = Array(plain.utf8)
    if Self.fragments.contains(where: { Self.contains($0, in: bytes) }) { return true }
    let words = Self.words(of: name)
    return words.last == "key" || words.contains { Self.words.contains($0) }
  }

  /// An archive without secrets.
  public func redacted(_ archive: HAR) -> HAR {
    guard isOn else { return archive }
    var archive = archive
    archive.entries = archive.entries.map(redacted)
    return archive
  }

  /// An exchange without secrets. What is redacted already stays as it is.
  public func redacted(_ entry: HAR.Entry) -> HAR.Entry {
    guard isOn else { return entry }
    var scrubber = Scrubber(redaction: self)
    return scrubber.scrubbed(entry)
  }

  /// Exchanges that belong together: a credential that one of them shows by a name is taken out of the others, too.
  package func redacted(_ entries: [HAR.Entry]) -> [HAR.Entry] {
    guard isOn else { return entries }
    var scrubber = Scrubber(redaction: self)
    return scrubber.scrubbed(entries)
  }

  private static func contains(_ fragment: [UInt8], in bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while let start = rest.firstIndex(of: fragment[0]) {
      rest = rest[start...]
      if rest.starts(with: fragment) { return true }
      rest = rest.dropFirst()
    }
    return false
  }

  /// The words of a name, in lower case: of `sort_key`, `sort-key` and `sortKey` two.
  private static func words(of name: String) -> [String] {
    var words: [String] = []
    var word: [UInt8] = []
    var wasLower = false
    func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
    for byte in name.utf8 {
      let isLetter = isUpper(byte) || (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte >= 0x80
      if !isLetter || wasLower && isUpper(byte), !word.isEmpty {
        words.append(String(decoding: word, as: UTF8.self))
        word.removeAll(keepingCapacity: true)
      }
      if isLetter { word.append(isUpper(byte) ? byte | 0x20 : byte) }
      wasLower = isLetter && !isUpper(byte)
    }
    return word.isEmpty ? words : words + [String(decoding: word, as: UTF8.self)]
  }

  private static func plain(_ name: String) -> String {
    String(decoding: name.lowercased().utf8.filter { !"-_. []".utf8.contains($0) }, as: UTF8.self)
  }
}
