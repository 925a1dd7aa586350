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
/// fields of forms and of multipart bodies, XML elements and attributes, and pairs such as
/// `{"name": "token", "value": "…"}`. It parses each body by its type, compressed or not, and values within values. It
/// replaces values under such names with ``replacement``, and also further occurrences of these values in the exchange
/// as a whole value or word: in a comment, in a URL, in Base64. JSON stays JSON, and XML stays XML: a string replaces a
/// number; names, `true`, `false` and `null` stay.
///
/// It cannot detect a secret under a neutral name, such as a person's name under `q`: add such names with ``hide(_:)``.
/// It keeps bodies that it cannot read; see ``replacesUnreadableBodies``.
public struct Redaction: Sendable {
  /// Hides common credentials: `Authorization`, `Cookie`, `Set-Cookie`, and names that contain words such as `token`,
  /// `secret`, `password` or `api_key`, words such as `pin` and `otp`, or end in `key`.
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

  fileprivate var isOn = true
  /// Names set by the app, normalized.
  private var hidden: Set<String> = []
  private var shown: Set<String> = []

  /// Hides the values of additional names, wherever they occur. Names ignore case and punctuation.
  public mutating func hide(_ names: String...) {
    for name in names.map(CredentialNames.normalized) {
      hidden.insert(name)
      shown.remove(name)
    }
  }

  /// Shows the values of names that would otherwise be hidden.
  public mutating func show(_ names: String...) {
    for name in names.map(CredentialNames.normalized) {
      shown.insert(name)
      hidden.remove(name)
    }
  }

  /// Returns whether values of the given name are hidden.
  public func hides(_ name: String) -> Bool {
    guard isOn else { return false }
    if !hidden.isEmpty || !shown.isEmpty {
      let plain = CredentialNames.normalized(name)
      if hidden.contains(plain) { return true }
      if shown.contains(plain) { return false }
    }
    return CredentialNames.isParameter(name)
  }

  /// Returns a copy without secrets. A value that one exchange has under a secret name is removed from the other
  /// exchanges too, if it looks like a credential: it has at least eight bytes, and not only letters and spaces.
  public func redacted(_ archive: HAR) -> HAR {
    guard isOn else { return archive }
    var archive = archive
    var redactor = Redactor(self)
    archive.comment = redactor.redacted(archive.comment)
    archive.extensions = redactor.redacted(archive.extensions)
    archive.pages = archive.pages.map { page in
      var page = page
      // Browsers use a page's URL as its title.
      page.title = redactor.redacted(page.title)
      page.comment = redactor.redacted(page.comment)
      page.extensions = redactor.redacted(page.extensions)
      return page
    }
    archive.entries = redacted(archive.entries)
    return archive
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

  /// Redacts related exchanges: a value that one of them has under a secret name is removed from all, if it looks like
  /// a credential.
  package func redacted(_ entries: [HAR.Entry]) -> [HAR.Entry] {
    var report = RedactionReport()
    return redacted(entries, report: &report)
  }

  /// Redacts related exchanges, and adds to a report.
  package func redacted(_ entries: [HAR.Entry], report: inout RedactionReport) -> [HAR.Entry] {
    guard isOn else { return entries }
    // First pass: values under secret names. Second pass: other occurrences of these values.
    var named: [(entry: HAR.Entry, redactor: Redactor)] = []
    for entry in entries {
      var redactor = Redactor(self)
      named.append((redactor.redacted(entry), redactor))
    }
    let common = named.reduce(into: Set()) { $0.formUnion($1.redactor.found.filter(\.looksLikeCredential)) }
    let finder = SecretFinder(common)
    return zip(entries, named).map { original, named in
      let finders = [finder, SecretFinder(named.redactor.found.subtracting(common))].compactMap(\.self)
      var (entry, redactor) = (named.entry, Redactor(self, finders: finders))
      if !finders.isEmpty { entry = redactor.redacted(entry) }
      entry.response.body.moveBorders(from: original.response.body)
      report.add(entry, places: named.redactor.places + redactor.places, unread: named.redactor.unread, original)
      return entry
    }
  }
}

/// Detects text and bodies that a redaction has changed: they contain the replacement, plain or encoded.
package struct TakenOut: Sendable {
  private let mark: String
  /// Removes the replacement wherever a redaction reads; `nil` if the redaction is off.
  private let remover: Redactor?

  /// Makes a detector for the replacements of a redaction.
  package init(by redaction: Redaction) {
    mark = redaction.replacement
    guard redaction.isOn, !mark.isEmpty else {
      remover = nil
      return
    }
    var other = redaction
    other.replacement = ""
    remover = Redactor(other, finders: [SecretFinder([Array(mark.utf8)])].compactMap(\.self))
  }

  /// Whether a text, such as a URL, contains a replacement.
  package func isMissing(in text: String) -> Bool {
    guard var remover else { return false }
    return text.contains(mark) || text.removingPercentEncoding?.contains(mark) ?? false
      || remover.redacted(text) != text
  }

  /// Whether a body contains a replacement.
  package func isMissing(in body: HAR.Body, _ fields: [HAR.Field]) -> Bool {
    guard var remover else { return false }
    return body.data.firstRange(of: Data(mark.utf8)) != nil || remover.redacted(body, of: fields).data != body.data
  }
}

/// The effects of a redaction on exchanges.
package struct RedactionReport: Sendable, CustomStringConvertible {
  /// The number of replaced values.
  package private(set) var places = 0
  /// The requests with changed bodies, which affects a replay that compares bodies.
  package private(set) var changedBodies: [String] = []
  /// The exchanges with unreadable bodies, and the reasons.
  package private(set) var unread: [String] = []
  private var exchanges = 0

  package init() {}

  fileprivate mutating func add(_ entry: HAR.Entry, places: Int, unread: [String], _ original: HAR.Entry) {
    self.places += places
    if places > 0 { exchanges += 1 }
    let request = "\(entry.request.method) \(entry.request.url.prefix { $0 != "?" })"
    if entry.request.body?.data != original.request.body?.data { changedBodies.append(request) }
    // Drop repeated reasons: one body may hold many values that are nested too deeply.
    let reasons = zip([nil] + unread.map(Optional.some), unread).filter { $0 != $1 }.map(\.1)
    self.unread += reasons.map { "\(request): \($0)" }
  }

  package var description: String {
    func list(_ lines: [String]) -> String {
      lines.prefix(20).map { "\n  \($0)" }.joined() + (lines.count > 20 ? "\n  …" : "")
    }
    var text = "Redacted: \(places) values in \(exchanges) exchanges."
    if !changedBodies.isEmpty {
      text +=
        "\nWarning: the bodies of \(changedBodies.count) requests were changed. A replay that compares bodies takes "
        + "those for the same that differ in their secrets alone:" + list(changedBodies)
    }
    if !unread.isEmpty {
      text += "\nNot read:" + list(unread)
    }
    return text
  }
}
