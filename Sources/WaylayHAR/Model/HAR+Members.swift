/// The members of a JSON object while they are read or written: one description of a type serves for both.
///
/// Reading is lenient: a missing value, or one of the wrong type, gets its usual default, since other tools omit values.
struct Members {
  /// The object that is read; `nil` while one is written.
  private let source: JSONValue?
  private(set) var written: [JSONValue.Member] = []
  private var names: [String] = []

  init(reading source: JSONValue? = nil) { self.source = source }

  var isReading: Bool { source != nil }

  func hasList(_ name: String) -> Bool { source?[name]?.array != nil }

  /// - Parameter write: Returns `nil` for a member to leave out.
  mutating func member<Value>(
    _ name: String, _ value: inout Value, read: (JSONValue) -> Value?, write: (Value) -> JSONValue?
  ) {
    names.append(name)
    if let source {
      if let new = source[name].flatMap(read) { value = new }
    } else if let json = write(value) {
      written.append(JSONValue.Member(name: name, value: json))
    }
  }

  mutating func text(_ name: String, _ value: inout String) {
    member(name, &value, read: { $0.text }, write: { JSONValue($0) })
  }

  mutating func text(_ name: String, ifAny value: inout String?) {
    member(name, &value, read: { $0.text }, write: { $0.map { JSONValue($0) } })
  }

  mutating func flag(_ name: String, ifAny value: inout Bool?) {
    member(name, &value, read: { $0.bool }, write: { $0.map { JSONValue($0) } })
  }

  /// A count; -1 means unknown in the format.
  mutating func count(_ name: String, _ value: inout Int?) {
    member(name, &value, read: { $0.int.flatMap { $0 < 0 ? nil : $0 } }, write: { JSONValue($0 ?? -1) })
  }

  /// A duration; -1 means that there was none.
  mutating func milliseconds(_ name: String, _ value: inout Double?) {
    member(
      name, &value, read: { $0.double.flatMap { $0 < 0 ? nil : $0 } }, write: { JSONValue(milliseconds: $0 ?? -1) })
  }

  mutating func milliseconds(_ name: String, _ value: inout Double) {
    member(name, &value, read: { $0.double }, write: { JSONValue(milliseconds: $0) })
  }

  mutating func object<Value: HARObject>(_ name: String, _ value: inout Value) {
    member(name, &value, read: { $0.members == nil ? nil : Value(json: $0) }, write: { $0.json })
  }

  mutating func object<Value: HARObject>(_ name: String, ifAny value: inout Value?) {
    member(name, &value, read: { $0.members == nil ? nil : Value(json: $0) }, write: { $0?.json })
  }

  mutating func list<Value: HARObject>(_ name: String, _ values: inout [Value]) {
    member(
      name, &values, read: { $0.array?.filter { $0.members != nil }.map { Value(json: $0) } },
      write: { JSONValue(.array($0.map(\.json))) })
  }

  /// Reads or writes the members that have not been described so far, except those in `more`.
  mutating func others(_ others: inout [String: JSONValue], than more: String...) {
    if let source {
      let rest = (source.members ?? []).filter { !names.contains($0.name) && !more.contains($0.name) }
      others = Dictionary(rest.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    } else {
      written += others.jsonValue.members ?? []
    }
  }
}

/// A type with a description of its members.
protocol HARObject {
  static var blank: Self { get }
  mutating func describe(_ json: inout Members)
}

extension HARObject {
  init(json: JSONValue) {
    self = .blank
    var members = Members(reading: json)
    describe(&members)
  }

  var json: JSONValue {
    var (copy, members) = (self, Members())
    copy.describe(&members)
    return JSONValue(.object(members.written))
  }
}

extension JSONValue {
  /// A string; a number is accepted instead.
  fileprivate var text: String? { string ?? int.map(String.init) }

  /// A member, percent-encoded as in a form.
  fileprivate func formText(_ name: String) -> String {
    String(decoding: Escapes.percent.added(to: Array((self[name]?.text ?? "").utf8)), as: UTF8.self)
  }

  fileprivate init(milliseconds: Double) {
    self = Int(exactly: milliseconds).map { JSONValue($0) } ?? JSONValue(milliseconds)
  }
}

extension HAR: HARObject {
  static var blank: HAR { HAR() }

  /// Describes the log without its entries.
  mutating func describe(_ json: inout Members) {
    json.text("version", &version)
    json.member("creator", &creator, read: { $0 }, write: { $0 })
    json.member("browser", &browser, read: { $0.isNull ? .none : .some($0) }, write: { $0 })
    json.member("pages", &pages, read: { $0.array }, write: { JSONValue($0) })
    json.text("comment", ifAny: &comment)
    json.others(&extensions, than: "entries")
  }

  /// Writes the part before the first entry, and the entries, oldest first.
  func writeBeginning(to writer: inout JSONWriter) {
    writer.open("{")
    writer.member("log") { writer in
      writer.open("{")
      for member in json.members ?? [] { writer.member(member.name, member.value) }
      writer.member("entries") { $0.open("[") }
    }
    for entry in entries.oldestFirst {
      writer.separate()
      writer.value(entry.json)
    }
  }

  /// Writes the part after the last entry.
  func writeEnd(to writer: inout JSONWriter) {
    for bracket: Unicode.Scalar in ["]", "}", "}"] { writer.close(bracket) }
    writer.raw("\n")
  }
}

extension [HAR.Entry] {
  var oldestFirst: [HAR.Entry] {
    enumerated().sorted { ($0.element.started, $0.offset) < ($1.element.started, $1.offset) }.map(\.element)
  }
}

extension HAR.Entry: HARObject {
  static var blank: HAR.Entry {
    HAR.Entry(started: Date(timeIntervalSince1970: 0), request: .blank, response: .blank)
  }

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
    guard request["url"]?.text != nil, request["method"]?.text != nil else {
      throw HARError(
        .notAnArchive,
        "The request of entry \(number) has no method or no URL: it holds \(HARError.names(of: request)).")
    }
    self.init(json: json)
  }

  mutating func describe(_ json: inout Members) {
    var total = json.isReading ? nil : Optional(time)
    json.text("pageref", ifAny: &page)
    json.member("startedDateTime", &moment, read: { $0.text.flatMap(Moment.init) }, write: { JSONValue($0.text) })
    json.milliseconds("time", &total)
    json.object("request", &request)
    json.object("response", &response)
    json.member("cache", &cache, read: { $0.object }, write: { $0.jsonValue })
    // Without parts, count the whole time as waiting.
    if json.isReading { timings.wait = total ?? 0 }
    json.object("timings", &timings)
    json.text("serverIPAddress", ifAny: &serverAddress)
    json.text("connection", ifAny: &connection)
    json.text("comment", ifAny: &comment)
    json.others(&extensions)
    guard json.isReading else { return }
    (serverAddress, connection) = (serverAddress == "" ? nil : serverAddress, connection == "" ? nil : connection)
    if let total, total < 1e12, total != timings.total { statedTime = total }
  }

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
    var writer = JSONWriter(isPretty: isPretty)
    writer.value(json)
    return Data(writer.bytes)
  }
}

extension HAR.Timings: HARObject {
  static var blank: HAR.Timings { HAR.Timings() }

  mutating func describe(_ json: inout Members) {
    json.milliseconds("blocked", &blocked)
    json.milliseconds("dns", &dns)
    json.milliseconds("connect", &connecting)
    let connecting = connecting
    json.milliseconds("ssl", &ssl)
    self.connecting = connecting
    json.milliseconds("send", &send)
    json.milliseconds("wait", &wait)
    json.milliseconds("receive", &receive)
    json.text("comment", ifAny: &comment)
    json.others(&extensions)
  }
}

extension HAR.Request: HARObject {
  static var blank: HAR.Request { HAR.Request(method: "", url: "", httpVersion: "") }

  mutating func describe(_ json: inout Members) {
    var sent = body.map(HAR.SentBody.init)
    json.text("method", &method)
    json.text("url", &url)
    json.text("httpVersion", &httpVersion)
    json.list("cookies", &cookies)
    json.list("headers", &headers)
    json.list("queryString", &query)
    json.object("postData", ifAny: &sent)
    if json.isReading {
      (url, body) = (String(url.prefix { $0 != "#" }), sent?.body)
      // Prefer the lists: some programs omit fields from the head.
      if !json.hasList("cookies") { cookies = HAR.Cookie.sent(in: headers) }
      if !json.hasList("queryString") { query = HAR.Field.query(of: url) }
      (headersSize, bodySize) = (nil, nil)
    }
    json.count("headersSize", &headersSize)
    json.count("bodySize", &bodySize)
    json.text("comment", ifAny: &comment)
    json.others(&extensions)
  }
}

extension HAR.Response: HARObject {
  static var blank: HAR.Response { HAR.Response(status: 0, httpVersion: "") }

  mutating func describe(_ json: inout Members) {
    json.member("status", &status, read: { $0.int }, write: { JSONValue($0) })
    json.text("statusText", &statusText)
    json.text("httpVersion", &httpVersion)
    json.list("cookies", &cookies)
    json.list("headers", &headers)
    json.object("content", &body)
    json.text("redirectURL", &redirectURL)
    json.count("headersSize", &headersSize)
    json.count("bodySize", &bodySize)
    json.text("comment", ifAny: &comment)
    json.others(&extensions)
    if json.isReading, !json.hasList("cookies") { cookies = HAR.Cookie.set(in: headers) }
  }
}

extension HAR.Field: HARObject {
  static var blank: HAR.Field { HAR.Field("", "") }

  mutating func describe(_ json: inout Members) {
    json.text("name", &name)
    json.text("value", &value)
    json.text("comment", ifAny: &comment)
  }
}

extension HAR.Cookie: HARObject {
  static var blank: HAR.Cookie { HAR.Cookie(name: "", value: "") }

  mutating func describe(_ json: inout Members) {
    json.text("name", &name)
    json.text("value", &value)
    json.text("path", ifAny: &path)
    json.text("domain", ifAny: &domain)
    json.text("expires", ifAny: &expires)
    json.flag("httpOnly", ifAny: &isHTTPOnly)
    json.flag("secure", ifAny: &isSecure)
    json.text("comment", ifAny: &comment)
    json.others(&extensions)
  }
}

extension HAR.Body: HARObject {
  static var blank: HAR.Body { HAR.Body() }

  mutating func describe(_ json: inout Members) {
    var (size, text) = (Optional(self.size), json.isReading ? nil : self.text)
    var encoding = json.isReading || text != nil ? nil : "base64"
    if encoding != nil { text = data.base64EncodedString() }
    if text == "" { text = nil }
    json.count("size", &size)
    json.text("mimeType", &mediaType)
    json.text("text", ifAny: &text)
    json.text("encoding", ifAny: &encoding)
    if json.isReading { set(text ?? "", isBase64: encoding?.lowercased() == "base64", size: size) }
    describeEnd(&json)
  }

  fileprivate mutating func set(_ text: String, isBase64: Bool, size: Int?) {
    data = (isBase64 ? Data(base64Encoded: text, options: .ignoreUnknownCharacters) : nil) ?? Data(text.utf8)
    self.size = max(size ?? 0, data.count)
  }

  /// Notes a truncation in `_truncated`, and in the comment if there is no other.
  fileprivate mutating func describeEnd(_ json: inout Members) {
    var isCut = isTruncated ? true : nil
    let remark = isTruncated ? "The first \(data.count) of \(size) bytes." : nil
    var said = comment ?? remark
    json.text("comment", ifAny: &said)
    json.flag("_truncated", ifAny: &isCut)
    json.others(&extensions)
    if json.isReading { comment = said == remark ? nil : said }
  }
}

extension HAR {
  /// A request's body, which the format describes unlike a response's.
  fileprivate struct SentBody: HARObject {
    static var blank: SentBody { SentBody() }
    var body = Body()

    mutating func describe(_ json: inout Members) {
      var text = json.isReading ? nil : body.text
      var base64 = json.isReading || text != nil ? nil : body.data.base64EncodedString()
      var (size, encoding) = (body.isTruncated ? body.size : nil, String?.none)
      if !json.isReading, text == nil { text = "" }
      json.text("mimeType", &body.mediaType)
      json.member(
        "params", &body.parameters, read: { $0.array?.filter { $0.members != nil } },
        write: { $0.isEmpty ? Optional.none : JSONValue($0) })
      json.text("text", ifAny: &text)
      json.text("encoding", ifAny: &encoding)
      json.text("_base64", ifAny: &base64)
      if json.isReading || size != nil { json.count("_size", &size) }
      if json.isReading {
        if text ?? "" == "", base64 == nil, body.mediaType.lowercased().hasPrefix("application/x-www-form-urlencoded") {
          text = body.parameters.map { "\($0.formText("name"))=\($0.formText("value"))" }.joined(separator: "&")
        }
        body.set(base64 ?? text ?? "", isBase64: base64 != nil || encoding?.lowercased() == "base64", size: size)
      }
      body.describeEnd(&json)
    }
  }
}
