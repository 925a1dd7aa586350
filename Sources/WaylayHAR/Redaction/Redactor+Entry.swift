extension Redactor {
  mutating func redacted(_ entry: HAR.Entry) -> HAR.Entry {
    var entry = entry
    let list = entry.extensions.removeValue(forKey: TakenValue.list)
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
    entry.extensions[TakenValue.list] = list
    return entry
  }

  mutating func redacted(_ field: HAR.Field, isHeader: Bool = false) -> HAR.Field {
    var field = field
    // The name of an item may have a value in it, as in `?token%3Dvalue`.
    if !isHeader { field.name = redacted(field.name) }
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
    default:
      // Some programs leave the names of items and of a form's fields encoded.
      let plain = isHeader ? Array(field.name.utf8) : Escapes.form.removed(from: Array(field.name.utf8)[...])
      field.value = redacted(field.value, named: String(decoding: plain, as: UTF8.self))
    }
    return field
  }

  /// Hides the secret part of credentials: not their scheme (RFC 9110, section 11.4).
  private mutating func credentials(_ value: String) -> String {
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2 else { return hidden(value) }
    if parts[0].lowercased() == "basic", let pair = Data(base64Encoded: String(parts[1])),
      let colon = pair.firstIndex(of: UInt8(ascii: ":"))
    {
      noteSecret(Array(pair[(colon + 1)...]))
    }
    return "\(parts[0]) \(hidden(String(parts[1])))"
  }

  /// `name=value` with its value hidden.
  private mutating func pair(_ pair: Substring) -> String {
    guard let equals = pair.firstIndex(of: "=") else {
      return pair.allSatisfy(\.isWhitespace) ? String(pair) : hidden(String(pair))
    }
    let value = pair[pair.index(after: equals)...].trimmingCharacters(in: .whitespacesAndNewlines)
    return pair[...equals] + cookie(String(pair[..<equals]), value)
  }

  /// Hides the value of a cookie. Many values are public words that occur elsewhere too, so only likely credentials are
  /// searched for in the rest of the exchange.
  private mutating func cookie(_ name: String, _ value: String) -> String {
    let isLikely = Array(value.utf8).looksLikeCredential && !value.utf8.allSatisfy(\.isASCIIDigit)
    let isNoted = suspicion(name.utf8) >= .list || isLikely
    if isNoted { noteSecret(Escapes.percent.removed(from: Array(value.utf8)[...])) }
    return hidden(value, isNoted: isNoted)
  }

  private mutating func redacted(_ cookie: HAR.Cookie) -> HAR.Cookie {
    var cookie = cookie
    cookie.value = redaction.hides("cookie") ? self.cookie(cookie.name, cookie.value) : redacted(cookie.value)
    cookie.path = redacted(cookie.path)
    cookie.comment = redacted(cookie.comment)
    cookie.extensions = redacted(cookie.extensions)
    return cookie
  }

  mutating func redacted(_ body: HAR.Body, of fields: [HAR.Field]) -> HAR.Body {
    var body = body
    let type = body.mediaType.isEmpty ? fields.first { $0.name.lowercased() == "content-type" }?.value : body.mediaType
    let codings = fields.filter { $0.name.lowercased() == "content-encoding" }.map(\.value).joined(separator: ",")
    let (places, mistakes) = (places, unread.count)
    if let bytes = changed(Array(body.data), by: { $0.readBody(&$1, type: type ?? "", codings: codings) }) {
      let missing = body.size - body.data.count
      body.data = Data(bytes)
      body.size = bytes.count + missing
      body.extensions["compression"] = nil
    }
    if redaction.replacesUnreadableBodies, unread.count > mistakes, self.places > places, body.comment == nil {
      body.comment = "Unreadable values were replaced."
    }
    body.comment = redacted(body.comment)
    body.extensions = redacted(body.extensions)
    return body
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
