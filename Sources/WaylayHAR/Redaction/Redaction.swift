/// Removes credentials and other secrets from an exchange before it is kept or leaves the house.
///
/// ```swift
/// var redaction = Redaction.standard
/// redaction.hide("X-Internal-User", "patient_id")
/// redaction.show("sort_key")
/// try redaction.redacted(archive).write(to: file)
/// ```
///
/// Four rules decide:
///
/// 1. **Names**, by the rows of one table: *Names of credentials* in `WaylayCore`. A row says whether its plural counts, whether numbers
///    are hidden, and values with white space; fields and cookies are hidden whole. Of an object or array under such a
///    name, strings are hidden that have a row of their own, or that pass the test of rule 3.
/// 2. **Shapes**: tokens (RFC 7519), private keys (RFC 7468), credentials after `Bearer`, user and password after
///    `Basic`, and the prefixes of well-known services, such as `ghp_…`.
/// 3. **Echoes**: values hidden by rules 1 and 2, as words in any other place, also percent-encoded, escaped and in
///    Base64, with at least 20 bytes, or 8 with a letter and a digit.
/// 4. **Yours**: ``hide(_:)``, ``show(_:)``, ``hide(value:as:)`` and ``change(_:)``.
///
/// A name is read in its place: before the value of a field, a cookie, an item of a query or a form, a member of JSON,
/// also in `{"name": "token", "value": "…"}`, a part of a multipart body, an element or attribute of markup, and at the
/// beginning of a line before `=` or `:`. JSON, URLs and markup within values are read, too; compressed bodies are
/// decompressed. Scripts, GraphQL texts, tables (CSV), YAML, property lists and binary formats are not read: see
/// ``unread``. Images, sound, video, fonts and style sheets have no secrets.
///
/// The replacement is ``replacement``; a number becomes 0; `true`, `false` and `null` stay. The custom field `_redacted`
/// of an entry lists the places of replaced values. It cannot detect a secret under a neutral name, such as a person's
/// name under `q`: say such names.
public struct Redaction: Sendable {
  /// Hides common credentials: `Authorization`, `Cookie`, `Set-Cookie`, and names that end in words such as `token`,
  /// `secret`, `password`, `api_key`, `session`, `pin` and `otp`.
  public static let standard = Redaction()
  /// Hides nothing.
  public static let none = Redaction(isOn: false)

  /// The text that replaces a secret.
  public var replacement = "REDACTED"
  /// The handling of bodies in formats that are not read, and of values that are nested too deeply.
  public var unread = Unread.keep
  /// Whether payment numbers are hidden under any name: digits with the check digit of a card, and IBANs. By default
  /// they are kept: one identifier in ten has such a digit by chance.
  public var hidesPaymentNumbers = false

  fileprivate var isOn = true
  /// Names set by the app, normalized.
  private var hidden: Set<String> = []
  private var shown: Set<String> = []
  /// Values set by the app, and the ends of their replacements.
  private(set) var marks: [[UInt8]: String] = [:]
  private(set) var finders: [SecretFinder] = []
  private var change: (@Sendable (inout HAR.Entry) -> Void)?

  /// The handling of a body in a format that a redaction does not read.
  public enum Unread: String, Sendable, Hashable, CaseIterable {
    /// It stays, without credentials that are known by their shape or from elsewhere in the exchange; the report lists
    /// it.
    case keep
    /// It is replaced.
    case remove
    /// The redaction fails. An inspector, which records as it goes, replaces the body instead.
    case fail
  }

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

  /// Hides a value of at least six bytes in every place where it is a word.
  ///
  /// ```swift
  /// redaction.hide(value: "4f2a-ada", as: "USER-A")  // REDACTED-USER-A
  /// ```
  ///
  /// - Parameters:
  ///   - value: The value, in clear.
  ///   - name: The end of its replacement; characters other than letters, digits and hyphens become hyphens, and `V` is
  ///     put before a name that does not begin with a letter.
  public mutating func hide(value: String, as name: String) {
    var name = String(name.prefix(64).map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
    if name.first?.isLetter != true { name = "V" + name }
    marks[Array(value.utf8)] = name
    guard let finder = SecretFinder([Array(value.utf8)], mark: name) else { return }
    // A value may begin with another one.
    finders = (finders + [finder]).sorted { $0.longest > $1.longest }
  }

  /// Changes each entry before its secrets are hidden.
  ///
  /// ```swift
  /// redaction.change { $0.request.headers.removeAll { $0.name == "X-Internal" } }
  /// ```
  public mutating func change(_ change: @escaping @Sendable (inout HAR.Entry) -> Void) {
    let before = self.change
    self.change = { entry in
      before?(&entry)
      change(&entry)
    }
  }

  /// Returns whether values of the given name are hidden.
  public func hides(_ name: String) -> Bool { row(of: name) != nil }

  /// The row of the table that hides the values of a name.
  func row(of name: String) -> CredentialNames.Row? {
    guard isOn else { return nil }
    if !hidden.isEmpty || !shown.isEmpty {
      let plain = CredentialNames.normalized(name)
      if shown.contains(plain) { return nil }
      if hidden.contains(plain) { return .init(name: plain, kind: .stable, values: [.numbers, .spaces]) }
    }
    return CredentialNames.row(of: name).flatMap { $0.kind == .harmless ? nil : $0 }
  }

  /// Returns a copy without secrets. A value hidden in one exchange is hidden in all exchanges.
  ///
  /// - Throws: `HARError.unread`, if ``unread`` is ``Unread/fail`` and a body is not read.
  public func redacted(_ archive: HAR) throws -> HAR {
    var report = RedactionReport()
    let redacted = redacted(archive, report: &report)
    guard unread == .fail, !report.unread.isEmpty else { return redacted }
    throw HARError(
      .unread,
      "bodies are not read: \(report.unread.prefix(5).joined(separator: "; ")). Leave them out, or set unread to .remove."
    )
  }

  /// Redacts an archive, and adds to a report.
  package func redacted(_ archive: HAR, report: inout RedactionReport) -> HAR {
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

  /// Returns the exchange without secrets. Values that are already redacted stay unchanged; a body that is not read is
  /// replaced also where ``unread`` is ``Unread/fail``.
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

  /// Redacts related exchanges: a value hidden in one of them is hidden in all.
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
    guard isOn else { return [] }
    var entry = entry
    change?(&entry)
    _ = redactor.redacted(entry)
    return redactor.found
  }

  /// Redacts an exchange, and removes the secrets of other exchanges.
  ///
  /// - Parameter known: Gets the secrets of this exchange, and returns those of the other ones.
  package func redacted(
    _ original: HAR.Entry, report: inout RedactionReport, known: (Set<[UInt8]>) -> KnownSecrets
  ) -> HAR.Entry {
    guard isOn else { return original }
    var original = original
    change?(&original)
    // First pass: values under secret names. Second pass: other occurrences of these values.
    var named = Redactor(self, numbers: report.numbers)
    var entry = named.redacted(original)
    let known = known(named.found)
    let finders = known.finders + [SecretFinder(named.found.filter { !known.contains($0) })].compactMap(\.self)
    var others = Redactor(self, finders: finders, numbers: named.numbers)
    if !finders.isEmpty { entry = others.redacted(entry) }
    entry.response.body.moveBorders(from: original.response.body)
    report.add(&entry, named, others, original)
    return entry
  }
}
