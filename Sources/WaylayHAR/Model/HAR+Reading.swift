// Lenient reading: a missing value, or one of the wrong type, gets its usual default, since other tools omit values.

extension JSONValue {
  /// The members of an object outside the given names.
  func others(than names: Set<String>) -> [String: JSONValue] {
    let others = (members ?? []).filter { !names.contains($0.name) }.map { ($0.name, $0.value) }
    return Dictionary(others, uniquingKeysWith: { $1 })
  }

  /// A string member; a number is accepted instead.
  fileprivate func text(_ name: String) -> String? {
    self[name].flatMap { $0.string ?? $0.int.map(String.init) }
  }

  /// A count; -1 means unknown in the format.
  fileprivate func count(_ name: String) -> Int? { self[name]?.int.flatMap { $0 < 0 ? nil : $0 } }

  /// The objects in an array.
  fileprivate func objects(_ name: String) -> [JSONValue] { self[name]?.array?.filter { $0.members != nil } ?? [] }
}

extension HAR {
  /// Reads the log without its entries.
  init(log: JSONValue) {
    self.init(creator: log["creator"].map { Application($0) } ?? Application(name: "", version: ""))
    version = log.text("version") ?? "1.2"
    browser = log["browser"].flatMap { $0.object == nil ? nil : Application($0) }
    pages = log.objects("pages").map { Page($0) }
    comment = log.text("comment")
    extensions = log.others(than: ["version", "creator", "browser", "pages", "entries", "comment"])
  }
}

extension HAR.Application {
  fileprivate init(_ json: JSONValue) {
    self.init(name: json.text("name") ?? "", version: json.text("version") ?? "")
    comment = json.text("comment")
    extensions = json.others(than: ["name", "version", "comment"])
  }
}

extension HAR.Page {
  fileprivate init(_ json: JSONValue) {
    self.init(
      id: json.text("id") ?? "", title: json.text("title") ?? "",
      started: json.text("startedDateTime").flatMap(Timestamp.date) ?? Date(timeIntervalSince1970: 0))
    onContentLoad = json["pageTimings"]?["onContentLoad"]?.double.flatMap { $0 < 0 ? nil : $0 }
    onLoad = json["pageTimings"]?["onLoad"]?.double.flatMap { $0 < 0 ? nil : $0 }
    comment = json.text("comment")
    extensions = json.others(than: ["id", "title", "startedDateTime", "pageTimings", "comment"])
  }
}

extension HAR.Entry {
  /// - Parameter number: The position of the entry in the file, from 1.
  init(_ text: [UInt8], number: Int) throws(HARError) {
    let json = try JSONValue(text) { HARError(.notJSON, "Entry \(number) is not JSON: \($0)", underlying: $0) }
    try self.init(json, number: number)
  }

  /// - Parameter number: The position of the entry in the file, from 1.
  init(_ json: JSONValue, number: Int) throws(HARError) {
    guard let request = json["request"], request.members != nil else {
      throw HARError(.notAnArchive, "Entry \(number) has no request: it holds \(HARError.names(of: json)).")
    }
    guard let url = request.text("url"), let method = request.text("method") else {
      throw HARError(
        .notAnArchive,
        "The request of entry \(number) has no method or no URL: it holds \(HARError.names(of: request)).")
    }
    self.init(
      started: json.text("startedDateTime").flatMap(Timestamp.date) ?? Date(timeIntervalSince1970: 0),
      request: HAR.Request(request, method: method, url: url), response: HAR.Response(json["response"] ?? nil),
      timings: HAR.Timings(json["timings"]))
    // Without parts, count the whole time as waiting.
    if json["timings"]?.members == nil { timings.wait = json["time"]?.double ?? 0 }
    page = json.text("pageref")
    cache = json["cache"]?.object ?? [:]
    serverAddress = json.text("serverIPAddress").flatMap { $0.isEmpty ? nil : $0 }
    connection = json.text("connection").flatMap { $0.isEmpty ? nil : $0 }
    comment = json.text("comment")
    extensions = json.others(than: [
      "pageref", "startedDateTime", "time", "request", "response", "cache", "timings", "serverIPAddress", "connection",
      "comment",
    ])
  }
}

extension HAR.Request {
  fileprivate init(_ json: JSONValue, method: String, url: String) {
    let headers = json.objects("headers").map { HAR.Field($0) }
    self.init(
      method: method, url: url, httpVersion: json.text("httpVersion") ?? "", headers: headers,
      body: json["postData"].flatMap { $0.members == nil ? nil : HAR.Body(sent: $0) })
    // Prefer the lists: some programs omit fields from the head.
    if json["cookies"]?.array != nil { cookies = json.objects("cookies").map { HAR.Cookie($0) } }
    if json["queryString"]?.array != nil { query = json.objects("queryString").map { HAR.Field($0) } }
    headersSize = json.count("headersSize")
    bodySize = json.count("bodySize")
    comment = json.text("comment")
    extensions = json.others(than: [
      "method", "url", "httpVersion", "headers", "cookies", "queryString", "postData", "headersSize", "bodySize",
      "comment",
    ])
  }
}

extension HAR.Response {
  fileprivate init(_ json: JSONValue) {
    self.init(
      status: json["status"]?.int ?? 0, statusText: json.text("statusText") ?? "",
      httpVersion: json.text("httpVersion") ?? "",
      headers: json.objects("headers").map { HAR.Field($0) }, body: HAR.Body(received: json["content"] ?? nil))
    if json["cookies"]?.array != nil { cookies = json.objects("cookies").map { HAR.Cookie($0) } }
    redirectURL = json.text("redirectURL") ?? ""
    headersSize = json.count("headersSize")
    bodySize = json.count("bodySize")
    comment = json.text("comment")
    extensions = json.others(than: [
      "status", "statusText", "httpVersion", "headers", "cookies", "content", "redirectURL", "headersSize", "bodySize",
      "comment",
    ])
  }
}

extension HAR.Field {
  fileprivate init(_ json: JSONValue) {
    self.init(json.text("name") ?? "", json.text("value") ?? "")
    comment = json.text("comment")
  }
}

extension HAR.Cookie {
  fileprivate init(_ json: JSONValue) {
    self.init(name: json.text("name") ?? "", value: json.text("value") ?? "")
    path = json.text("path")
    domain = json.text("domain")
    expires = json.text("expires")
    isHTTPOnly = json["httpOnly"]?.bool
    isSecure = json["secure"]?.bool
    comment = json.text("comment")
    extensions = json.others(than: ["name", "value", "path", "domain", "expires", "httpOnly", "secure", "comment"])
  }
}

extension HAR.Body {
  /// Reads a response's body.
  fileprivate init(received json: JSONValue) {
    let text = json.text("text") ?? ""
    let isBase64 = json.text("encoding")?.lowercased() == "base64"
    self.init(
      isBase64 ? Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data(text.utf8) : Data(text.utf8),
      mediaType: json.text("mimeType") ?? "", size: json.count("size"))
    comment = json.text("comment")
    extensions = json.others(than: ["size", "compression", "mimeType", "text", "encoding", "comment", "_truncated"])
  }

  /// Reads a request's body.
  fileprivate init(sent json: JSONValue) {
    let mediaType = json.text("mimeType") ?? ""
    let parameters = json.objects("params").map { HAR.Parameter($0) }
    let text = json.text("text") ?? ""
    if let base64 = json.text("_base64") ?? (json.text("encoding")?.lowercased() == "base64" ? text : nil) {
      self.init(
        Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data(base64.utf8), mediaType: mediaType,
        size: json.count("_size"))
    } else if text.isEmpty, !parameters.isEmpty, mediaType.lowercased().hasPrefix("application/x-www-form-urlencoded") {
      self.init(Data(HAR.Field.text(ofForm: parameters).utf8), mediaType: mediaType)
    } else {
      self.init(Data(text.utf8), mediaType: mediaType, size: json.count("_size"))
    }
    self.parameters = parameters
    comment = json.text("comment")
    extensions = json.others(than: [
      "mimeType", "params", "text", "encoding", "comment", "_base64", "_size", "_truncated",
    ])
  }
}

extension HAR.Parameter {
  fileprivate init(_ json: JSONValue) {
    self.init(
      name: json.text("name") ?? "", value: json.text("value"), fileName: json.text("fileName"),
      mediaType: json.text("contentType"))
    comment = json.text("comment")
  }
}

extension HAR.Field {
  /// The text of a form of which only the parts are given.
  fileprivate static func text(ofForm parameters: [HAR.Parameter]) -> String {
    let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._*")
    func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: plain) ?? "" }
    return parameters.map { "\(escaped($0.name))=\(escaped($0.value ?? ""))" }.joined(separator: "&")
  }
}

extension HAR.Entry {
  /// Parses one entry from the JSON that ``data(isPretty:)`` writes, such as a line of a log or a message to a
  /// page.
  ///
  /// - Throws: ``HARError`` if the bytes are not JSON, or not an entry.
  public init(data: Data) throws(HARError) {
    let json = try JSONValue(data) {
      HARError(.notJSON, "This is not JSON, so not an entry: \($0)", underlying: $0)
    }
    try self.init(json, number: 1)
  }

  /// Returns the entry alone as JSON, without an enclosing archive.
  ///
  /// - Parameter isPretty: Whether to indent it. Otherwise it is one line, without a trailing line break.
  public func data(isPretty: Bool = false) -> Data {
    var json = JSONWriter(isPretty: isPretty)
    write(to: &json)
    return Data(json.bytes)
  }
}

/// Times in the format of HAR files: ISO 8601 with a fraction and a time zone.
enum Timestamp {
  static func text(_ date: Date) -> String {
    // ISO 8601 allows four-digit years only.
    let bounded = min(max(date, Date(timeIntervalSince1970: 0)), Date(timeIntervalSince1970: 253_402_300_799))
    // The formatter truncates: add half a millisecond to round.
    return bounded.addingTimeInterval(0.0005).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// Parses a time with a fraction of any length or none, in any time zone.
  static func date(_ text: String) -> Date? {
    var text = text.trimmingCharacters(in: .whitespaces).uppercased()
    // Parse the fraction separately: Foundation's parsers require a fixed number of digits.
    var fraction = 0.0
    if let point = text.firstIndex(where: { $0 == "." || $0 == "," }) {
      let digits = text[text.index(after: point)...].prefix { $0.isASCII && $0.isNumber }
      fraction = Double("0." + digits.prefix(17)) ?? 0
      text.removeSubrange(point..<digits.endIndex)
    }
    for style in [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(timeZoneSeparator: .colon)] {
      if let date = try? style.parse(text) { return date.addingTimeInterval(fraction) }
    }
    return nil
  }

  /// Converts the date of a cookie (RFC 6265, section 5.1.1), which has its parts in any order with any separators, to
  /// ISO 8601.
  static func iso(ofCookieDate text: String) -> String? {
    let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    var time: String?
    var numbers: [Int] = []
    var month: Int?
    for token in text.lowercased().split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != ":" }) {
      if token.contains(":") {
        let parts = token.split(separator: ":").compactMap { Int($0) }
        guard parts.count == 3, parts[0] < 24, parts[1] < 60, parts[2] < 60, parts.allSatisfy({ $0 >= 0 }) else {
          return nil
        }
        time = parts.map(twoDigits).joined(separator: ":")
      } else if let number = Int(token) {
        numbers.append(number)
      } else if let found = months.firstIndex(of: String(token.prefix(3))) {
        month = found + 1
      }
    }
    guard let time, let month, numbers.count >= 2, 1...31 ~= numbers[0], 0...9999 ~= numbers[1] else { return nil }
    let year = numbers[1] < 70 ? numbers[1] + 2000 : numbers[1] < 100 ? numbers[1] + 1900 : numbers[1]
    guard year >= 1000 else { return nil }
    return "\(year)-\(twoDigits(month))-\(twoDigits(numbers[0]))T\(time)Z"
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
