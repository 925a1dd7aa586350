/// An allow list for exchanges that leave the house, unlike ``Redaction``, which is a list of parts to hide.
///
/// An entry is made anew by the rows of the table: a part without a row is left out. Apply it to a redacted entry,
/// because paths are shown: only the redaction removes credentials from them.
package enum OnlyKnown {
  /// A row of the table.
  package struct Row: Sendable {
    /// The parts that it shows, for help and reports.
    package let shows: String
    let show: @Sendable (_ original: HAR.Entry, _ shown: inout HAR.Entry) -> Void

    fileprivate init(_ shows: String, _ show: @escaping @Sendable (HAR.Entry, inout HAR.Entry) -> Void) {
      (self.shows, self.show) = (shows, show)
    }
  }

  /// The table. A row may complete the result of earlier rows.
  package static let table = [
    Row("when it began, and how long its parts took") { original, shown in
      let times = original.timings
      shown.started = original.started
      shown.timings = HAR.Timings(
        blocked: times.blocked, dns: times.dns, connect: times.connect, ssl: times.ssl, send: times.send,
        wait: times.wait, receive: times.receive)
      shown.statedTime = original.statedTime
    },
    Row("the method and the version of HTTP") { original, shown in
      shown.request.method = name(original.request.method)
      shown.request.httpVersion = version(original.request.httpVersion)
      shown.response.httpVersion = version(original.response.httpVersion)
    },
    Row(
      """
      of a URL the scheme, the host, the path (segments of at most 64 letters, digits and -._~:$), and the names of items
      """
    ) { original, shown in
      shown.request.url = url(original.request.url)
      shown.request.query = HAR.Field.query(of: shown.request.url)
      shown.response.redirectURL = url(original.response.redirectURL)
    },
    Row(
      """
      the names of fields, and the types of their values: string, number or date; the values of \
      \(values.keys.sorted().joined(separator: ", ")), if they are numbers, dates, media types, names, URLs or words of HTTP
      """
    ) { original, shown in
      shown.request.headers = fields(original.request.headers)
      shown.response.headers = fields(original.response.headers)
    },
    Row(
      """
      the media type of a body; the names in JSON, events and forms; for the values in JSON their types: "string", 0, 0.5, \
      false, null
      """
    ) { original, shown in
      shown.request.body = original.request.body.map { body($0, of: original.request.headers) }
      shown.response.body = body(original.response.body, of: original.response.headers)
    },
    Row("the name of a GraphQL operation") { original, shown in
      shown.request.url = url(original.request.url, showsOperation: true)
      shown.request.query = HAR.Field.query(of: shown.request.url)
      if let body = original.request.body, let json = try? JSONValue(reading: body.data) {
        shown.request.body?.data = Data(shape(json, showsOperation: true).description.utf8)
      }
    },
    Row("the status, and the sizes of heads and bodies") { original, shown in
      shown.response.status = original.response.status
      (shown.request.headersSize, shown.request.bodySize) = (original.request.headersSize, original.request.bodySize)
      (shown.response.headersSize, shown.response.bodySize) = (
        original.response.headersSize, original.response.bodySize
      )
      shown.request.body?.size = original.request.body?.size ?? 0
      shown.response.body.size = original.response.body.size
    },
    Row("the state and the source, if an Inspector has recorded them, and the code of an error") { original, shown in
      for field in ["_state", "_source", "_phase"] {
        if let text = original.extensions[field]?.string, isName(text) { shown.extensions[field] = JSONValue(text) }
      }
      let error = (original.extensions["_error"] ?? original.response.extensions["_error"])?.string
      shown.extensions["_error"] = error.flatMap { $0.isEmpty ? nil : JSONValue(code(ofError: $0)) }
    },
  ]

  static let remark = "Only names and types are shown: a body is its shape, with the size that it had."

  /// The entry, as far as it is known.
  package static func entry(_ original: HAR.Entry) -> HAR.Entry { entry(original, by: table) }

  package static func entry(_ original: HAR.Entry, by rows: [Row]) -> HAR.Entry {
    var shown = HAR.Entry.blank
    for row in rows { row.show(original, &shown) }
    shown.comment = remark
    return shown
  }

  // MARK: Names

  /// The rule for names, for help and reports.
  package static let names = """
    A name has at most 64 letters, digits and _-$:[], of these at most three digits, and begins with a letter or _$@:; \
    other names are *1, *2, ….
    """

  /// Whether a text is one that a programmer has chosen for a name, and no credential.
  package static func isName(_ text: some StringProtocol) -> Bool {
    let bytes = Array(text.utf8)
    guard let first = bytes.first, bytes.count <= 64, first.isASCIILetter || "_$@:".utf8.contains(first) else {
      return false
    }
    return bytes.dropFirst().allSatisfy { $0.isOfWord || "-$:[]".utf8.contains($0) }
      && bytes.count(where: \.isASCIIDigit) <= 3 && !CredentialShapes.areFound(in: String(text))
  }

  /// A name; a star for another text.
  static func name(_ text: String) -> String { text.isEmpty || isName(text) ? text : "*" }

  /// The names in a list: other texts become `*1`, `*2`, ….
  private struct Names {
    private var others: [String: String] = [:]

    mutating func name(_ text: String, isValue: Bool = false) -> String {
      if !isValue, OnlyKnown.isName(text) { return text }
      let name = others[text] ?? "*\(others.count + 1)"
      others[text] = name
      return name
    }
  }

  // MARK: Heads

  private static func version(_ text: String) -> String {
    text.wholeMatch(of: #/(?i)http/[0-9](\.[0-9])?|h[23]|h2c|spdy/[0-9]|unknown/#) == nil ? "" : text
  }

  private static func code(ofError text: String) -> String {
    text.wholeMatch(of: #/net::ERR_[A-Z_]{1,64}|NS_ERROR_[A-Z_]{1,64}|URLError -?[0-9]{1,5}/#) == nil ? "failed" : text
  }

  /// A URL without user, values of the query and fragment.
  static func url(_ text: String, showsOperation: Bool = false) -> String {
    var rest = text.prefix { $0 != "#" }
    var shown = ""
    if let colon = rest.firstIndex(where: { ":/?".contains($0) }), rest[colon] == ":" {
      let scheme = rest[..<colon].lowercased()
      rest = rest[rest.index(after: colon)...]
      // Without slashes, the rest is no path: a text after data, a person after mailto.
      guard rest.hasPrefix("//") else { return schemes.contains(scheme) ? scheme + ":" : "*" }
      guard isName(scheme) else { return "*" }
      shown = scheme + ":"
    }
    if rest.hasPrefix("//") {
      let authority = rest.dropFirst(2).prefix { !"/?".contains($0) }
      shown += "//" + host(authority.split(separator: "@", omittingEmptySubsequences: false).last ?? "")
      rest = rest[authority.endIndex...]
    } else if !rest.isEmpty, !rest.hasPrefix("/"), !rest.hasPrefix("?") {
      return "*"
    }
    let path = rest.prefix { $0 != "?" }
    shown += path.split(separator: "/", omittingEmptySubsequences: false).map(segment).joined(separator: "/")
    guard path.endIndex < rest.endIndex else { return shown }
    let query = items(rest[path.endIndex...].dropFirst(), showsOperation: showsOperation)
    return shown + "?" + query.replacing("[", with: "%5B").replacing("]", with: "%5D")
  }

  private static let schemes: Set = ["about", "blob", "data", "file", "http", "https", "javascript", "ws", "wss"]

  private static func host(_ text: Substring) -> String {
    text.utf8.count <= 255 && text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-._:[]".utf8.contains($0) }
      ? String(text) : "*"
  }

  private static func segment(_ text: Substring) -> String {
    text.utf8.count <= 64 && text.utf8.allSatisfy { $0.isOfWord || "-.~:$".utf8.contains($0) } ? String(text) : "*"
  }

  /// The names of a query's or a form's items. An item without `=` may be a value.
  static func items(_ text: Substring, showsOperation: Bool = false) -> String {
    var names = Names()
    return text.split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(HAR.Field.plain)
      let name = names.name(parts[0], isValue: parts.count == 1)
      return name + "=" + (showsOperation && name == "operationName" && isName(parts[1]) ? parts[1] : "")
    }.joined(separator: "&")
  }

  /// The known values of a field.
  private enum Values {
    case words, number, date, numberOrDate, mediaTypes, names, url

    func shown(_ value: String) -> String? {
      switch self {
      case .words: value.split(whereSeparator: { ",; ".contains($0) }).allSatisfy(OnlyKnown.isKnown) ? value : nil
      case .number: OnlyKnown.isNumber(value) ? value : nil
      case .date: HTTPDate.seconds(value, now: 0).map { HTTPDate.text(seconds: $0) }
      case .numberOrDate: Values.number.shown(value) ?? Values.date.shown(value)
      case .mediaTypes: OnlyKnown.mediaTypes(value)
      case .names:
        value.split(separator: ",").allSatisfy { item in
          let item = item.trimmingCharacters(in: .whitespaces)
          return item == "*" || OnlyKnown.isName(item)
        } ? value : nil
      case .url: value == "*" || value == "null" ? value : OnlyKnown.url(value)
      }
    }
  }

  private static let values: [String: Values] = {
    let rows: [(Values, String)] = [
      (
        .words,
        """
        accept-encoding accept-ranges access-control-allow-credentials cache-control connection content-encoding dnt pragma \
        :scheme sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user strict-transport-security te transfer-encoding \
        upgrade upgrade-insecure-requests x-content-type-options x-frame-options
        """
      ), (.number, "access-control-max-age age content-length max-forwards :status"),
      (.date, "date expires if-modified-since if-unmodified-since last-modified"), (.numberOrDate, "retry-after"),
      (.mediaTypes, "accept accept-patch accept-post content-type"),
      (
        .names,
        """
        access-control-allow-headers access-control-allow-methods access-control-expose-headers \
        access-control-request-headers access-control-request-method allow :method trailer vary
        """
      ), (.url, "access-control-allow-origin content-location location origin :path referer"),
    ]
    var values: [String: Values] = [:]
    for (kind, names) in rows { for name in names.split(separator: " ") { values[String(name)] = kind } }
    return values
  }()

  private static let words = Set(
    """
    * 0 1 ?0 ?1 audio br bytes chunked close compress cors cross-site deflate deny document empty false font gzip h2c http \
    https identity iframe image immutable includesubdomains keep-alive manifest max-age max-stale min-fresh \
    must-revalidate must-understand navigate no-cache no-cors no-store no-transform none nosniff only-if-cached preload \
    private proxy-revalidate public q s-maxage same-origin same-site sameorigin script stale-if-error \
    stale-while-revalidate style trailers true upgrade video websocket worker x-gzip zstd
    """.split(separator: " ").map(String.init))

  /// Whether a word is known: alone, or with a number, as in `max-age=60`.
  private static func isKnown(_ word: Substring) -> Bool {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    return words.contains(parts[0].lowercased()) && (parts.count == 1 || isNumber(parts[1]))
  }

  /// Whether a text is a number of at most ten digits.
  private static func isNumber(_ text: some StringProtocol) -> Bool {
    1...10 ~= text.utf8.count && text.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
  }

  static func fields(_ fields: [HAR.Field]) -> [HAR.Field] {
    var names = Names()
    return fields.map { field in
      let value = values[field.name.lowercased()]?.shown(field.value)
      return HAR.Field(names.name(field.name), value ?? type(of: field.value))
    }
  }

  private static func type(of value: String) -> String {
    if value.isEmpty { return "" }
    if Array(value.utf8).isNumber { return "number" }
    return HTTPDate.seconds(value, now: 0) == nil ? "string" : "date"
  }

  /// Media types with their character sets and weights; `nil` if a part is unknown.
  static func mediaTypes(_ text: String) -> String? {
    let pattern =
      #/(?i)(\*|application|audio|font|image|message|model|multipart|text|video)\/[a-z0-9*][a-z0-9.+\-]{0,79}/#
    let known = #/(?i)(charset="?(utf-?8|utf-16|iso-8859-1|us-ascii|windows-1252)"?|q=[01](\.[0-9]{1,3})?)/#
    var types: [String] = []
    for type in text.split(separator: ",") {
      let parts = type.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
      guard let essence = parts.first, essence.wholeMatch(of: pattern) != nil, essence.count(where: \.isNumber) <= 3
      else {
        return nil
      }
      let shown = parts.dropFirst().filter { $0.wholeMatch(of: known) != nil }
      types.append(([essence] + shown).joined(separator: "; "))
    }
    return types.joined(separator: ", ")
  }
}
