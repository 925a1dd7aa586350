extension OnlyKnown {
  /// The shape of a body; of one in another format than JSON, events and forms no bytes.
  static func body(_ original: HAR.Body, of fields: [HAR.Field]) -> HAR.Body {
    let type =
      original.mediaType.isEmpty
      ? fields.first { $0.name.lowercased() == "content-type" }?.value ?? "" : original.mediaType
    var body = HAR.Body(Data(shape(original.data, type.lowercased()).utf8), mediaType: mediaTypes(type) ?? "")
    if !original.data.isEmpty { body.comment = remark }
    return body
  }

  private static func shape(_ data: Data, _ type: String) -> String {
    let essence = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
    let text = String(decoding: data, as: UTF8.self)
    if essence == "text/event-stream" { return events(text) }
    let start = data.first { ![0x20, 0x0A, 0x0D, 0x09, 0xEF, 0xBB, 0xBF].contains($0) } ?? 0
    if "{[".utf8.contains(start) || essence.hasSuffix("json"), let json = try? JSONValue(reading: data) {
      return shape(json).description
    }
    if essence.contains("json") {
      // Also with record separators (RFC 7464). A line that is cut off is left out.
      let lines = text.split { $0.isNewline || $0 == "\u{1E}" }.compactMap { try? JSONValue(reading: $0.utf8) }
      return distinct(lines.map { shape($0).description }).map { $0 + "\n" }.joined()
    }
    guard essence == "application/x-www-form-urlencoded" else { return "" }
    return items(text[...])
  }

  /// The same JSON with the types in place of values. Array elements, and members under other texts than names, stand
  /// for all of the same shape.
  static func shape(_ json: JSONValue, showsOperation: Bool = false) -> JSONValue {
    switch json.kind {
    case .null: return nil
    case .bool: return false
    case .number: return JSONValue(.number(json.int == nil ? "0.5" : "0"))
    case .string: return "string"
    case .array(let elements):
      return JSONValue(.array(distinct(elements.map { shape($0, showsOperation: showsOperation) })))
    case .object(let members):
      var (shown, others) = ([JSONValue.Member](), Set<JSONValue>())
      for member in members {
        var value = shape(member.value)
        if showsOperation, let text = member.value.string, let name = operation(member.name, text) {
          value = JSONValue(name)
        }
        if isName(member.name) {
          shown.append(JSONValue.Member(name: member.name, value: value))
        } else if others.insert(value).inserted {
          shown.append(JSONValue.Member(name: "*\(others.count)", value: value))
        }
      }
      return JSONValue(.object(shown))
    }
  }

  /// The name of a GraphQL operation, in the member for it or at the beginning of a document.
  private static func operation(_ member: String, _ text: String) -> String? {
    if member == "operationName" { return isName(text) ? text : nil }
    let beginning = #/\s*(query|mutation|subscription)\s+([A-Za-z_][A-Za-z_0-9]*)\s*[({@]/#
    guard member == "query", let match = text.prefix(256).prefixMatch(of: beginning), isName(match.2) else {
      return nil
    }
    return "\(match.1) \(match.2)"
  }

  private static func distinct<Element: Hashable>(_ elements: [Element]) -> [Element] {
    var seen: Set<Element> = []
    return elements.filter { seen.insert($0).inserted }
  }

  /// Server-sent events with the shape of their data, each once.
  private static func events(_ text: String) -> String {
    let events = ServerSentEvent.all(in: text).filter { !$0.data.isEmpty }.map { event in
      let shown = (try? JSONValue(reading: event.data.utf8)).map { Self.shape($0).description } ?? "string"
      let data = event.data == ServerSentEvent.endMark ? event.data : shown
      return (event.name.isEmpty ? "" : "event: \(name(event.name))\n") + "data: \(data)\n\n"
    }
    return distinct(events).joined()
  }
}
