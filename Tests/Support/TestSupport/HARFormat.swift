public import Foundation

/// What is wrong with an HTTP archive by the rules of the format (HAR 1.2), for tests of what is written.
///
/// Independent of the library's own reader and writer.
public struct HARFormat {
  /// What is wrong, each as a path and a message; empty for an archive that other tools accept.
  public static func problems(in data: Data) -> [String] {
    guard let json = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else { return ["is not JSON"] }
    guard let log = json["log"] as? [String: Any] else { return ["log: is missing"] }
    var check = HARFormat()
    check.text(log, "version", "log.version")
    for name in ["name", "version"] { check.text(log["creator"], name, "log.creator.\(name)") }
    guard let entries = log["entries"] as? [[String: Any]] else {
      return check.problems + ["log.entries: is missing, or not an array"]
    }
    var last: Date?
    for entry in entries {
      let started = check.entry(entry)
      if let started, let last, started < last {
        check.add("startedDateTime", "is before that of the previous entry: the oldest comes first")
      }
      last = started ?? last
    }
    return check.problems
  }

  private var problems: [String] = []

  private mutating func add(_ path: String, _ message: String) { problems.append("\(path): \(message)") }

  private mutating func text(_ json: Any?, _ name: String, _ path: String) {
    if !((json as? [String: Any])?[name] is String) { add(path, "is missing, or not a string") }
  }

  /// A count, or -1 where it is not known.
  private mutating func count(_ json: [String: Any]?, _ name: String, _ path: String) {
    guard let count = json?[name] as? Int else { return add(path, "is missing, or not a whole number") }
    if count < -1 { add(path, "is \(count): -1 means unknown") }
  }

  private mutating func entry(_ json: [String: Any]) -> Date? {
    let started = (json["startedDateTime"] as? String).flatMap(Self.date)
    if started == nil { add("startedDateTime", "is missing, or not an ISO 8601 time with a zone") }
    request(json["request"] as? [String: Any])
    response(json["response"] as? [String: Any])
    if !(json["cache"] is [String: Any]) { add("cache", "is missing: {} means that there was none") }
    timings(json["timings"] as? [String: Any], time: json["time"] as? Double)
    return started
  }

  private static func date(_ text: String) -> Date? {
    let parts = text.split(separator: ".", maxSplits: 1)
    guard let whole = parts.first else { return nil }
    let fraction = parts.count > 1 ? parts[1].prefix { $0.isNumber } : ""
    let zone = parts.count > 1 ? parts[1].dropFirst(fraction.count) : ""
    return ISO8601DateFormatter().date(from: "\(whole)\(zone)")?.addingTimeInterval(Double("0.\(fraction)0") ?? 0)
  }

  private mutating func request(_ json: [String: Any]?) {
    for name in ["method", "url", "httpVersion"] { text(json, name, "request.\(name)") }
    if let url = json?["url"] as? String {
      if URL(string: url)?.scheme == nil { add("request.url", "is not absolute") }
      if url.contains("#") { add("request.url", "has a fragment, which is never sent") }
    }
    for name in ["headers", "cookies", "queryString"] { fields(json, name, "request.\(name)") }
    for name in ["headersSize", "bodySize"] { count(json, name, "request.\(name)") }
    if let body = json?["postData"] as? [String: Any] {
      text(body, "mimeType", "request.postData.mimeType")
      if let list = body["params"], !(list is [Any]) { add("request.postData.params", "is no array") }
    }
  }

  private mutating func response(_ json: [String: Any]?) {
    if !(json?["status"] is Int) { add("response.status", "is missing, or not a whole number") }
    for name in ["statusText", "httpVersion", "redirectURL"] { text(json, name, "response.\(name)") }
    for name in ["headers", "cookies"] { fields(json, name, "response.\(name)") }
    for name in ["headersSize", "bodySize"] { count(json, name, "response.\(name)") }
    let content = json?["content"] as? [String: Any]
    count(content, "size", "response.content.size")
    text(content, "mimeType", "response.content.mimeType")
    if let encoding = content?["encoding"] as? String, encoding.lowercased() == "base64",
      Data(base64Encoded: content?["text"] as? String ?? "") == nil
    {
      add("response.content.text", "is not base64, although its encoding says so")
    }
  }

  private mutating func fields(_ json: [String: Any]?, _ name: String, _ path: String) {
    guard let fields = json?[name] as? [Any] else { return add(path, "is missing, or not an array") }
    let areWhole = fields.allSatisfy { field in
      guard let field = field as? [String: Any] else { return false }
      return field["name"] is String && field["value"] is String
    }
    if !areWhole { add(path, "has an element without a name or a value") }
  }

  private mutating func timings(_ json: [String: Any]?, time: Double?) {
    var sum = 0.0
    for name in ["blocked", "dns", "connect", "ssl", "send", "wait", "receive"] {
      let isRequired = ["send", "wait", "receive"].contains(name)
      guard let value = json?[name] as? Double else {
        if isRequired { add("timings.\(name)", "is missing, or not a number") }
        continue
      }
      if value < 0, isRequired || value != -1 {
        add("timings.\(name)", isRequired ? "is negative" : "is negative, and not -1")
      }
      if name != "ssl" { sum += max(value, 0) }
    }
    if let ssl = json?["ssl"] as? Double, ssl > max(json?["connect"] as? Double ?? 0, 0) {
      add("timings.ssl", "is more than connect, which includes it")
    }
    guard let time else { return add("time", "is missing, or not a number") }
    // Programs round each part.
    if abs(time - sum) > 1 { add("time", "is \(time), but its parts add up to \(sum)") }
  }
}
