/// Removes credentials, identified by name, from an exchange before it is kept.
///
/// ```swift
/// var redaction = Redaction.standard
/// redaction.hide("X-Internal-User", "patient_id")
/// redaction.show("sort_key")
/// try redaction.redacted(archive).write(to: file)
/// ```
///
/// A redaction identifies credentials by name: names of header fields, cookies, query items, JSON members at any depth,
/// fields of forms and of multipart bodies, and XML elements. It replaces their values with ``replacement``, wherever
/// else in the exchange they occur, too: in a comment, in another header field, in Base64, in text of another format.
/// It derives the lists of an archive again from the redacted content, so that they reveal nothing more than the head
/// does.
///
/// It cannot detect a secret under a neutral name, such as a person's name under `q`: add such names with ``hide(_:)``.
/// Bodies that are not text, such as images, are left unchanged.
public struct Redaction: Sendable {
  /// Hides common credentials: `Authorization`, `Cookie`, `Set-Cookie`, and names that contain words such as `token`,
  /// `secret`, `password` or `api_key`, words such as `pin` and `otp`, or end in `key`.
  public static let standard = Redaction()
  /// Hides nothing.
  public static let none = Redaction(isOn: false)

  /// The text that replaces a secret.
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

  /// Hides the values of additional names, wherever they occur. Names ignore case, `-`, `_` and `.`.
  public mutating func hide(_ names: String...) {
    for name in names.map(Self.plain) {
      hidden.insert(name)
      shown.remove(name)
    }
  }

  /// Shows the values of names that would otherwise be hidden.
  public mutating func show(_ names: String...) {
    for name in names.map(Self.plain) {
      shown.insert(name)
      hidden.remove(name)
    }
  }

  /// Returns whether values of the given name are hidden.
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

  /// Returns the archive without secrets.
  public func redacted(_ archive: HAR) -> HAR {
    guard isOn else { return archive }
    var archive = archive
    archive.entries = archive.entries.map(redacted)
    return archive
  }

  /// Returns the exchange without secrets. Values that are already redacted stay unchanged.
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
