import Foundation

// What is missing or of another type than the format says is taken for what it mostly means: other tools leave things
// out.

extension JSONValue {
  /// The members of an object that its format does not know.
  func others(than names: Set<String>) -> [String: JSONValue] { object?.filter { !names.contains($0.key) } ?? [:] }

  /// A text, or a number that stands where one should.
  fileprivate func text(_ name: String) -> String? {
    switch self[name] {
    case .string(let text): text
    case .integer(let number): String(number)
    default: nil
    }
  }

  /// A count. The format's -1 says that it is not known.
  fileprivate func count(_ name: String) -> Int? { self[name]?.int.flatMap { $0 < 0 ? nil : $0 } }

  /// The elements of an array that are objects.
  fileprivate func objects(_ name: String) -> [JSONValue] { self[name]?.array?.filter { $0.object != nil } ?? [] }
}

extension HAR {
  /// Everything of an archive but its entries.
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
  /// - Parameter number: Which entry of the archive it is, from 1.
  init(_ json: JSONValue, number: Int) throws(HARError) {
    guard let request = json["request"], request.object != nil else {
      throw HARError(.notAnArchive, "Entry \(number) has no request: it holds \(HARError.names(of: json)).")
    }
    guard let url = request.text("url"), let method = request.text("method") else {
      throw HARError(
        .notAnArchive,
        "The request of entry \(number) has no method or no URL: it holds \(HARError.names(of: request)).")
    }
    self.init(
      started: json.text("startedDateTime").flatMap(Timestamp.date) ?? Date(timeIntervalSince1970: 0),
      request: HAR.Request(request, method: method, url: url), response: HAR.Response(json["response"] ?? .null),
      timings: HAR.Timings(json["timings"]))
    // Where the parts are missing, the whole is the time until the end of the answer.
    if json["timings"]?.object == nil { timings.wait = json["time"]?.double ?? 0 }
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
      body: json["postData"].flatMap { $0.object == nil ? nil : HAR.Body(sent: $0) })
    // What the lists say counts: some programs leave fields out of the head.
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
      headers: json.objects("headers").map { HAR.Field($0) }, body: HAR.Body(received: json["content"] ?? .null))
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
  /// The body of an answer.
  fileprivate init(received json: JSONValue) {
    let text = json.text("text") ?? ""
    let isBase64 = json.text("encoding")?.lowercased() == "base64"
    self.init(
      isBase64 ? Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data(text.utf8) : Data(text.utf8),
      mediaType: json.text("mimeType") ?? "", size: json.count("size"))
    comment = json.text("comment")
    extensions = json.others(than: ["size", "compression", "mimeType", "text", "encoding", "comment", "_truncated"])
  }

  /// The body of a request.
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
  /// The text of a form whose parts alone are known.
  fileprivate static func text(ofForm parameters: [HAR.Parameter]) -> String {
    let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._*")
    func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: plain) ?? "" }
    return parameters.map { "\(escaped($0.name))=\(escaped($0.value ?? ""))" }.joined(separator: "&")
  }
}
