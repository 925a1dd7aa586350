extension Redactor {
  mutating func redacted(_ entry: HAR.Entry) -> HAR.Entry {
    var entry = entry
    let list = entry.extensions.removeValue(forKey: HAR.Entry.redacted)
    place = ["request.url"]
    entry.request.url = redacted(entry.request.url)
    place = ["request.headers"]
    entry.request.headers = entry.request.headers.map { redacted($0, isHeader: true) }
    place = ["request.body"]
    entry.request.body = entry.request.body.map { redacted($0, of: entry.request.headers) }
    place = ["response.headers"]
    entry.response.headers = entry.response.headers.map { redacted($0, isHeader: true) }
    place = ["response.body"]
    entry.response.body = redacted(entry.response.body, of: entry.response.headers)
    place = ["entry"]
    let parameters = entry.request.body?.parameters ?? []
    entry.request.body?.parameters = parameters.map { redacted($0) }
    entry.request.query = entry.request.query.map { redacted($0) }
    entry.request.cookies = entry.request.cookies.map { redacted($0) }
    entry.response.cookies = entry.response.cookies.map { redacted($0) }
    entry.response.redirectURL = redacted(entry.response.redirectURL)
    entry.response.statusText = redacted(entry.response.statusText)
    for part in [\HAR.Entry.comment, \.request.comment, \.response.comment, \.timings.comment] {
      entry[keyPath: part] = redacted(entry[keyPath: part])
    }
    for part in [\HAR.Entry.extensions, \.request.extensions, \.response.extensions, \.timings.extensions, \.cache] {
      entry[keyPath: part] = redacted(entry[keyPath: part])
    }
    entry.extensions[HAR.Entry.redacted] = list
    return entry
  }

  mutating func redacted(_ field: HAR.Field, isHeader: Bool = false) -> HAR.Field {
    var field = field
    if !isHeader { field.name = redacted(name: field.name) }
    place.append(String((isHeader ? field.name.lowercased() : field.name).prefix(128)))
    defer { place.removeLast() }
    field.comment = redacted(field.comment)
    let name = isHeader ? field.name.lowercased() : ""
    switch name {
    case "authorization" where redaction.hides(name), "proxy-authorization" where redaction.hides(name):
      field.value = credentials(field.value)
    case "cookie" where redaction.hides(name):
      field.value = field.value.split(separator: ";").map { pair($0) }.joined(separator: ";")
    case "set-cookie" where redaction.hides(name):
      // The pairs after the first one are attributes. Some programs write several cookies into one field, line by line.
      let lines = field.value.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        guard let end = line.firstIndex(of: ";") else { return pair(line) }
        return pair(line[..<end]) + redacted(String(line[end...]))
      }
      field.value = lines.joined(separator: "\n")
    case _ where isHeader && CredentialNames.kind(of: name) == .harmless && !redaction.hides(name):
      let value = changed(Array(field.value.utf8)) { $0.readUnread(&$1, nil) }
      field.value = value.map { String(decoding: $0, as: UTF8.self) } ?? field.value
    default:
      // Some programs leave the names of items and of a form's fields encoded.
      let plain = isHeader ? Array(field.name.utf8) : Escapes.form.removed(from: Array(field.name.utf8)[...])
      field.value = redacted(field.value, named: String(decoding: plain, as: UTF8.self), isWhole: isHeader)
    }
    return field
  }

  /// The name of an item, which is the whole item if its `=` is encoded.
  private mutating func redacted(name: String) -> String {
    guard let equals = name.firstIndex(of: "=") else { return redacted(name) }
    return name[...equals] + redacted(String(name[name.index(after: equals)...]), named: String(name[..<equals]))
  }

  /// Hides the secret part of credentials: not their scheme (RFC 9110, section 11.4).
  private mutating func credentials(_ value: String) -> String {
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2 else { return hidden(value, "…authorization") }
    if parts[0].lowercased() == "basic", let pair = Data(base64Encoded: String(parts[1])),
      let colon = pair.firstIndex(of: UInt8(ascii: ":"))
    {
      note(Array(pair[(colon + 1)...]))
    }
    return "\(parts[0]) \(hidden(String(parts[1]), "…authorization"))"
  }

  /// `name=value` with its value hidden.
  private mutating func pair(_ pair: Substring) -> String {
    guard let equals = pair.firstIndex(of: "=") else {
      return pair.allSatisfy(\.isWhitespace) ? String(pair) : hidden(String(pair), "…cookie")
    }
    let value = pair[pair.index(after: equals)...].trimmingCharacters(in: .whitespacesAndNewlines)
    return pair[...equals] + cookie(value)
  }

  /// Hides the value of a cookie.
  private mutating func cookie(_ value: String) -> String {
    note(Escapes.percent.removed(from: Array(value.utf8)[...]))
    return hidden(value, "…cookie")
  }

  private mutating func redacted(_ cookie: HAR.Cookie) -> HAR.Cookie {
    var cookie = cookie
    cookie.value = redaction.hides("cookie") ? self.cookie(cookie.value) : redacted(cookie.value)
    cookie.path = redacted(cookie.path)
    cookie.comment = redacted(cookie.comment)
    cookie.extensions = redacted(cookie.extensions)
    return cookie
  }

  mutating func redacted(_ body: HAR.Body, of fields: [HAR.Field]) -> HAR.Body {
    var body = body
    let type = body.mediaType.isEmpty ? fields.first { $0.name.lowercased() == "content-type" }?.value : body.mediaType
    let codings = fields.filter { $0.name.lowercased() == "content-encoding" }.map(\.value).joined(separator: ",")
    let missing = body.size - body.data.count
    let known = unread.count
    let bytes = changed(Array(body.data)) { redactor, draft in
      redactor.readBody(&draft, type: type ?? "", codings: codings)
      if missing > 0 { redactor.hideCut(&draft) }
    }
    if let bytes {
      body.data = Data(bytes)
      body.size = bytes.count + missing
      body.extensions["compression"] = nil
    }
    if redaction.unread != .keep, unread.count > known, bytes != nil, body.comment == nil {
      body.comment = "Values that cannot be read were replaced."
    }
    body.comment = redacted(body.comment)
    body.extensions = redacted(body.extensions)
    return body
  }

  /// Hides the last word of a truncated text if it may be the first part of a secret.
  private mutating func hideCut(_ draft: inout Draft) {
    let start = (draft.source.lastIndex { !$0.isOfWord && !"-.~+/=%".utf8.contains($0) } ?? -1) + 1
    let word = Array(draft.source[start...])
    guard word.isLikelyCredential, word.count <= Self.longest, !draft.replaces(start) else { return }
    hide(start..<draft.source.count, in: &draft, "(end)", isNoted: false)
  }

  /// Redacts custom fields as JSON.
  mutating func redacted(_ members: [String: JSONValue]) -> [String: JSONValue] {
    members.isEmpty ? members : redacted(members.jsonValue).object ?? [:]
  }

  mutating func redacted(_ json: JSONValue) -> JSONValue {
    guard let text = changed(Array(json.description.utf8), by: { _ = $0.readJSON(&$1, from: 0) }) else { return json }
    return (try? JSONValue(reading: text)) ?? JSONValue(.null)
  }
}
