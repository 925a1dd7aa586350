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
/// fields of forms and of multipart bodies, XML elements and attributes, columns of CSV, arguments in GraphQL,
/// assignments in scripts, and pairs such as `{"name": "token", "value": "…"}`. The last word of a name decides: under
/// `user_password` everything is a secret, also if a number, `id` or `confirmation` follows; under `password_policy` and
/// `key`, only values that look random are; objects in `tokens` and `sessions` are judged by their own names. Private
/// keys, signed tokens (RFC 7519) and credentials of well-known services, such as `ghp_…`, are secrets under any
/// name.
///
/// Values that cannot be secrets are kept: members that describe a credential (`max_length`), times, ranges of
/// versions, placeholders (`YOUR_TOKEN`), messages about a field, schemas, short numbers of sessions, and the title of a
/// field (`"newPassword": "New password"`).
///
/// It parses each body by its type, compressed or not, and values within values. It replaces secrets with
/// ``replacement``, and also further occurrences of these values in the exchange as a whole value or word: in a
/// comment, in a URL, in Base64. Types stay: 0 replaces a number; names, `true`, `false` and `null` stay. The custom
/// field `_redacted` of an entry lists what was replaced, by its place.
///
/// It cannot detect a secret under a neutral name, such as a person's name under `q`: add such names with ``hide(_:)``.
/// It keeps bodies that it cannot read; see ``replacesUnreadableBodies``.
public struct Redaction: Sendable {
  /// Hides common credentials: `Authorization`, `Cookie`, `Set-Cookie`, and names that end in words such as `token`,
  /// `secret`, `password`, `api_key`, `session`, `pin` and `otp`.
  public static let standard = Redaction()
  /// Hides nothing.
  public static let none = Redaction(isOn: false)

  /// The text that replaces a secret.
  public var replacement = "REDACTED"
  /// Whether to replace a whole body that does not match its type, cannot be decompressed, or is not text, and to
  /// replace a value within a body that is nested too deeply.
  ///
  /// By default it is kept: secrets found elsewhere in the exchange are removed from it, and ``report(_:)`` lists it.
  /// Images, sound, video and fonts are always kept.
  public var replacesUnreadableBodies = false
  /// Whether payment numbers are hidden under any name: digits with the check digit of a card, and IBANs. By default
  /// they are kept: one identifier in ten has such a digit by chance.
  public var hidesPaymentNumbers = false

  /// Whether a credential word anywhere in a name makes the value a secret, not only at its end: for test reports,
  /// which need no values.
  package var isWide = false
  fileprivate var isOn = true
  /// Names set by the app, normalized.
  private var hidden: Set<String> = []
  private var shown: Set<String> = []

  /// Hides the values of additional names, wherever they occur. Names ignore case and punctuation.
  public mutating func hide(_ names: String...) {
    let names = names.map(CredentialNames.normalized)
    (hidden, shown) = (hidden.union(names), shown.subtracting(names))
  }

  /// Shows the values of names that would otherwise be hidden.
  public mutating func show(_ names: String...) {
    let names = names.map(CredentialNames.normalized)
    (hidden, shown) = (hidden.subtracting(names), shown.union(names))
  }

  /// Returns whether values of the given name are hidden.
  public func hides(_ name: String) -> Bool { suspicion(of: name) >= .list }

  func suspicion(of name: String) -> Suspicion {
    guard isOn else { return .none }
    let plain = isWide || !hidden.isEmpty || !shown.isEmpty ? CredentialNames.normalized(name) : ""
    if shown.contains(plain) { return .none }
    if hidden.contains(plain) { return .secret }
    let suspicion = Suspicion(ofName: name)
    let isPlural = suspicion == .list && !CredentialNames.isCredential(name)
    return isWide && suspicion != .none && !isPlural ? .secret : suspicion
  }

  /// Whether a name has the word of a credential anywhere, in a plural too.
  package static func suspects(_ name: String) -> Bool { Suspicion(ofName: name) != .none }

  /// Returns a copy without secrets. A value that one exchange has under a secret name is removed from the other
  /// exchanges too, if it looks like a credential: it has at least eight bytes, and not only letters and spaces.
  public func redacted(_ archive: HAR) -> HAR {
    var report = RedactionReport()
    let known = known(in: archive.entries)
    var redacted = outlined(archive, knowing: known)
    redacted.entries = archive.entries.map { self.redacted($0, report: &report) { _ in known } }
    return redacted
  }

  /// Redacts everything but the entries.
  package func outlined(_ archive: HAR, knowing known: KnownSecrets) -> HAR {
    guard isOn else { return archive }
    var archive = archive
    var redactor = Redactor(self, finders: known.finders)
    archive.comment = redactor.redacted(archive.comment)
    archive.extensions = redactor.redacted(archive.extensions)
    // Browsers use a page's URL as its title.
    archive.pages = archive.pages.map { redactor.redacted($0) }
    return archive
  }

  /// Redacts a text that may repeat secrets of exchanges.
  package func redacted(_ text: String, knowing known: KnownSecrets) -> String {
    guard isOn else { return text }
    var redactor = Redactor(self, finders: known.finders)
    return redactor.redacted(text)
  }

  /// Returns the exchange without secrets. Values that are already redacted stay unchanged.
  public func redacted(_ entry: HAR.Entry) -> HAR.Entry { redacted([entry])[0] }

  /// Reports the effects of ``redacted(_:)-(HAR)``: how many values it replaces, the requests whose
  /// bodies it changes, and the bodies that it cannot read.
  ///
  /// ```swift
  /// print(Redaction.standard.report(archive))
  /// ```
  ///
  /// A replay that compares bodies treats requests that differ only in their secrets as equal.
  public func report(_ archive: HAR) -> String {
    var report = RedactionReport()
    _ = redacted(archive.entries, report: &report)
    return report.description
  }

  /// Redacts a text of any format that may repeat secrets of exchanges.
  package func redacted(anyFormat text: String, knowing known: KnownSecrets = KnownSecrets()) -> String {
    guard isOn else { return text }
    var redactor = Redactor(self, finders: known.finders)
    return redactor.changed(Array(text.utf8)) { $0.readBody(&$1, type: "") }.map { String(decoding: $0, as: UTF8.self) }
      ?? text
  }

  /// Redacts related exchanges: a value that one of them has under a secret name is removed from all, if it looks like
  /// a credential.
  package func redacted(_ entries: [HAR.Entry]) -> [HAR.Entry] {
    var report = RedactionReport()
    return redacted(entries, report: &report)
  }

  /// Redacts related exchanges, and adds to a report.
  package func redacted(_ entries: [HAR.Entry], report: inout RedactionReport) -> [HAR.Entry] {
    let known = known(in: entries)
    return entries.map { redacted($0, report: &report) { _ in known } }
  }

  private func known(in entries: [HAR.Entry]) -> KnownSecrets {
    var known = KnownSecrets()
    // A single exchange cannot contain a secret of another exchange.
    if entries.count > 1 { for entry in entries { known.add(secrets(of: entry)) } }
    return known
  }

  /// The values under secret names in an exchange.
  package func secrets(of entry: HAR.Entry) -> Set<[UInt8]> {
    var redactor = Redactor(self)
    if isOn { _ = redactor.redacted(entry) }
    return redactor.found
  }

  /// Redacts an exchange, and removes the secrets of other exchanges.
  ///
  /// - Parameter known: Gets the secrets of this exchange, and returns those of the other ones.
  package func redacted(
    _ original: HAR.Entry, report: inout RedactionReport, known: (Set<[UInt8]>) -> KnownSecrets
  ) -> HAR.Entry {
    guard isOn else { return original }
    // First pass: values under secret names. Second pass: other occurrences of these values.
    var named = Redactor(self)
    var entry = named.redacted(original)
    let known = known(named.found)
    let finders = known.finders + [SecretFinder(named.found.filter { !known.contains($0) })].compactMap(\.self)
    var others = Redactor(self, finders: finders)
    if !finders.isEmpty { entry = others.redacted(entry) }
    entry.response.body.moveBorders(from: original.response.body)
    report.add(&entry, named, others, original)
    return entry
  }
}

/// Values that exchanges have under secret names, to be removed from others.
package struct KnownSecrets: Sendable {
  private let limit: Int
  /// At most two: the one with the older secrets is dropped when the other one is full.
  private(set) var finders: [SecretFinder]

  /// - Parameters:
  ///   - secrets: Secrets to begin with, whatever they look like.
  ///   - limit: The approximate maximum number of secrets; the oldest are dropped.
  package init(_ secrets: Set<[UInt8]> = [], limit: Int = .max) {
    self.limit = limit
    finders = [SecretFinder(secrets)].compactMap(\.self)
  }

  package func contains(_ secret: [UInt8]) -> Bool { finders.contains { $0.isSecret(secret) } }

  /// Adds the values that are unlikely to occur by chance.
  package mutating func add(_ found: Set<[UInt8]>) {
    let new = found.filter { $0.looksLikeCredential && !contains($0) }
    if let last = finders.indices.last, finders[last].count + new.count <= limit / 2 {
      for secret in new { finders[last].insert(secret) }
    } else if let finder = SecretFinder(new, capacity: min(limit, 1 << 16)) {
      finders = finders.suffix(1) + [finder]
    }
  }
}

/// The effects of a redaction on exchanges.
package struct RedactionReport: Sendable, CustomStringConvertible {
  /// The number of replaced values.
  package private(set) var places = 0
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

  fileprivate mutating func add(_ entry: inout HAR.Entry, _ named: Redactor, _ others: Redactor, _ original: HAR.Entry)
  {
    let (places, unread) = (named.places + others.places, named.unread)
    self.places += places
    if places > 0 { exchanges += 1 }
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
  /// Whether its digest may be stored: not if the name is exactly that of a credential, a password or a PIN.
  private var isDigested = true
  /// Whether equal requests have the same value, unlike a signature or a token against forgery.
  private(set) var isTold = true

  mutating func add(_ secret: [UInt8], isDigested: Bool, isTold: Bool) {
    self.secret += secret + [0]
    self.isDigested = self.isDigested && isDigested
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
