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
  /// `token`, `secret`, `password` or `api_key`.
  public static let standard = Redaction()
  /// Hides nothing.
  public static let none = Redaction(isOn: false)

  /// What stands in place of a secret.
  public var replacement = "REDACTED"

  private let isOn: Bool
  private var hidden: Set<String> = [
    "assertion", "auth", "bearer", "clientassertion", "codeverifier", "cookie", "csrf", "cvc", "cvv", "jwt", "key",
    "otp", "pin", "pwd",
    "samlresponse", "setcookie", "sid", "sig", "ssn", "xsrf",
  ]
  /// The names that are shown, though they contain a word of those below.
  private var shown: Set<String> = [
    "completiontokens", "maxtokens", "prompttokens", "tokens", "tokentype", "totaltokens",
  ]
  private static let words = [
    "accesskey", "apikey", "authorization", "credential", "passphrase", "passwd", "password", "privatekey", "secret",
    "session", "signature",
    "token",
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
    let name = Self.plain(name)
    if hidden.contains(name) { return true }
    return !shown.contains(name) && Self.words.contains { name.contains($0) }
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

  private static func plain(_ name: String) -> String {
    String(decoding: name.lowercased().utf8.filter { !"-_. []".utf8.contains($0) }, as: UTF8.self)
  }
}
