import Foundation
import WaylayCredentials

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
  /// What the app has said of names, normalized.
  private var hidden: Set<String> = []
  private var shown: Set<String> = []

  private init(isOn: Bool = true) {
    self.isOn = isOn
  }

  /// Hides the values of additional names, wherever they occur. Names ignore case, `-`, `_` and `.`.
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
}

/// Redacts one exchange: first what stands under the name of a secret, then what was found there wherever else it
/// stands.
struct Scrubber {
  let redaction: Redaction
  /// The secrets that were found.
  private var found: Set<String> = []

  init(redaction: Redaction) {
    self.redaction = redaction
  }

  mutating func scrubbed(_ entry: HAR.Entry) -> HAR.Entry {
    let entry = withoutNamed(entry)
    return withoutEchoes(entry, Echoes(of: found, replacement: redaction.replacement))
  }

  /// Redacts exchanges that belong together: what looks like a credential in one is taken out of the others.
  mutating func scrubbed(_ entries: [HAR.Entry]) -> [HAR.Entry] {
    var common: Set<String> = []
    let entries = entries.map { entry in
      found = []
      let entry = scrubbed(entry)
      common.formUnion(found.filter { $0.looksLikeCredential })
      return entry
    }
    let echoes = Echoes(of: common, replacement: redaction.replacement)
    return entries.map { withoutEchoes($0, echoes) }
  }

  private mutating func withoutNamed(_ entry: HAR.Entry) -> HAR.Entry {
    var entry = entry
    entry.request.url = text(entry.request.url)
    entry.request.headers = entry.request.headers.map { field($0) }
    entry.response.headers = entry.response.headers.map { field($0) }
    entry.request.cookies = entry.request.cookies.map { cookie($0) }
    entry.response.cookies = entry.response.cookies.map { cookie($0) }
    entry.request.query = entry.request.query.map { item($0) }
    entry.request.body = entry.request.body.map { body($0) }
    entry.response.body = body(entry.response.body)
    entry.response.redirectURL = text(entry.response.redirectURL)
    entry.extensions = members(entry.extensions)
    entry.request.extensions = members(entry.request.extensions)
    entry.response.extensions = members(entry.response.extensions)
    entry.cache = members(entry.cache)
    return entry
  }

  // MARK: What stands under a name

  private mutating func hide(_ secret: some StringProtocol) -> String {
    if !secret.isEmpty { found.insert(String(secret)) }
    return redaction.replacement
  }

  private mutating func field(_ field: HAR.Field) -> HAR.Field {
    var field = field
    switch field.name.lowercased() {
    case "authorization" where redaction.hides("authorization"),
      "proxy-authorization" where redaction.hides("authorization"):
      // The scheme is no secret (RFC 9110, section 11.4).
      let parts = field.value.split(separator: " ", maxSplits: 1)
      guard parts.count == 2 else {
        field.value = hide(field.value)
        break
      }
      if parts[0].lowercased() == "basic", let pair = Data(base64Encoded: String(parts[1])) {
        for part in String(decoding: pair, as: UTF8.self).split(separator: ":", maxSplits: 1).dropFirst() {
          _ = hide(part)
        }
      }
      field.value = "\(parts[0]) \(hide(parts[1]))"
    case "cookie" where redaction.hides("cookie"):
      field.value = field.value.split(separator: ";").map { pair($0) }.joined(separator: ";")
    case "set-cookie" where redaction.hides("set-cookie"):
      // What comes after the first pair is where the cookie is for.
      var parts = field.value.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
      if let first = parts.first { parts[0] = pair(first[...]) }
      field.value = parts.joined(separator: ";")
    default:
      field.value = redaction.hides(field.name) ? hide(field.value) : text(field.value)
    }
    field.comment = field.comment.map { text($0) }
    return field
  }

  /// `name=value` with its value hidden.
  private mutating func pair(_ pair: Substring) -> String {
    guard let equals = pair.firstIndex(of: "=") else {
      return pair.allSatisfy(\.isWhitespace) ? String(pair) : hide(pair)
    }
    return pair[...equals] + hide(pair[pair.index(after: equals)...].trimmingCharacters(in: .whitespaces))
  }

  private mutating func cookie(_ cookie: HAR.Cookie) -> HAR.Cookie {
    var cookie = cookie
    if redaction.hides("cookie") { cookie.value = hide(cookie.value) }
    return cookie
  }

  private mutating func item(_ item: HAR.Field) -> HAR.Field {
    var item = item
    item.value = redaction.hides(item.name) ? hide(item.value) : text(item.value)
    return item
  }

  private mutating func body(_ body: HAR.Body) -> HAR.Body {
    var body = body
    if !body.data.contains(0) || Self.isText(body.mediaType) {
      var scanner = SecretScanner(redaction: redaction)
      let bytes = scanner.redacted(Array(body.data), mediaType: body.mediaType)
      found.formUnion(scanner.found)
      replace(&body, by: bytes)
    }
    body.parameters = body.parameters.map { parameter in
      var parameter = parameter
      if redaction.hides(parameter.name) { parameter.value = parameter.value.map { hide($0) } }
      return parameter
    }
    body.extensions = members(body.extensions)
    return body
  }

  /// Whether a body is looked through though it has bytes that no text has: a form with a picture in it, for example.
  private static func isText(_ mediaType: String) -> Bool {
    let type = mediaType.lowercased().prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
    return ["multipart/", "text/", "application/json", "application/x-www-form-urlencoded", "application/xml"]
      .contains { type.hasPrefix($0) } || type.hasSuffix("+json") || type.hasSuffix("+xml")
  }

  private func replace(_ body: inout HAR.Body, by bytes: [UInt8]) {
    let missing = body.size - body.data.count
    body.data = Data(bytes)
    body.size = bytes.count + missing
  }

  private mutating func text(_ text: String) -> String {
    var scanner = SecretScanner(redaction: redaction)
    let bytes = scanner.redacted(Array(text.utf8), mediaType: "")
    found.formUnion(scanner.found)
    return String(decoding: bytes, as: UTF8.self)
  }

  private mutating func members(_ members: [String: JSONValue]) -> [String: JSONValue] {
    var result = members
    for (name, member) in members { result[name] = redaction.hides(name) ? hidden(member) : value(member) }
    return result
  }

  private mutating func value(_ value: JSONValue) -> JSONValue {
    switch value.kind {
    case .string(let string): return JSONValue(text(string))
    case .array(let values): return JSONValue(values.map { self.value($0) })
    case .object(let members):
      // Lists of fields and cookies have their names as values.
      let isSecret = value["name"]?.string.map { redaction.hides($0) } ?? false
      return JSONValue(
        .object(
          members.map { member in
            let hides = redaction.hides(member.name) || isSecret && member.name == "value"
            return JSONValue.Member(name: member.name, value: hides ? hidden(member.value) : self.value(member.value))
          }))
    default: return value
    }
  }

  private mutating func hidden(_ value: JSONValue) -> JSONValue {
    if let secret = value.string { _ = hide(secret) }
    return JSONValue(redaction.replacement)
  }

  // MARK: What was found, wherever else it stands

  private func withoutEchoes(_ entry: HAR.Entry, _ echoes: Echoes) -> HAR.Entry {
    guard !echoes.isEmpty else { return entry }
    var entry = entry
    entry.request.url = echoes.removed(from: entry.request.url)
    entry.request.headers = entry.request.headers.map { echoes.removed(from: $0) }
    entry.response.headers = entry.response.headers.map { echoes.removed(from: $0) }
    entry.request.query = entry.request.query.map { echoes.removed(from: $0) }
    entry.response.redirectURL = echoes.removed(from: entry.response.redirectURL)
    entry.response.statusText = echoes.removed(from: entry.response.statusText)
    if var body = entry.request.body {
      remove(echoes, from: &body)
      entry.request.body = body
    }
    remove(echoes, from: &entry.response.body)
    entry.comment = entry.comment.map { echoes.removed(from: $0) }
    entry.request.comment = entry.request.comment.map { echoes.removed(from: $0) }
    entry.response.comment = entry.response.comment.map { echoes.removed(from: $0) }
    entry.timings.comment = entry.timings.comment.map { echoes.removed(from: $0) }
    entry.extensions = echoes.removed(from: entry.extensions)
    entry.request.extensions = echoes.removed(from: entry.request.extensions)
    entry.response.extensions = echoes.removed(from: entry.response.extensions)
    entry.timings.extensions = echoes.removed(from: entry.timings.extensions)
    entry.cache = echoes.removed(from: entry.cache)
    return entry
  }

  private func remove(_ echoes: Echoes, from body: inout HAR.Body) {
    replace(&body, by: echoes.removed(from: Array(body.data)))
    body.comment = body.comment.map { echoes.removed(from: $0) }
    body.extensions = echoes.removed(from: body.extensions)
    body.parameters = body.parameters.map { parameter in
      var parameter = parameter
      parameter.value = parameter.value.map { echoes.removed(from: $0) }
      parameter.fileName = parameter.fileName.map { echoes.removed(from: $0) }
      return parameter
    }
  }
}

extension String {
  /// Whether it would hardly stand anywhere by chance, as a word like "password" does.
  fileprivate var looksLikeCredential: Bool { utf8.count >= 8 && !allSatisfy { $0.isLetter || $0.isWhitespace } }
}
