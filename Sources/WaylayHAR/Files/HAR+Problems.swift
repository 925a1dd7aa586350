public import Foundation

extension HAR {
  /// A violation of the format in an archive, which may explain why another tool rejects it.
  ///
  /// ```swift
  /// for problem in HAR.problems(in: try Data(contentsOf: file)) { print(problem) }
  /// ```
  ///
  /// Reading tolerates most violations: see ``HAR/init(data:)``.
  public struct Problem: Hashable, Sendable, CustomStringConvertible {
    /// The number of the entry, starting at 1. `nil` for the archive as a whole.
    public let entry: Int?
    /// The path in the archive or the entry: names separated by dots, such as `timings.ssl`.
    public let path: String
    /// What is wrong, and what would be correct.
    public let message: String

    /// The problem on one line.
    public var description: String {
      (entry.map { "entry \($0): " } ?? "") + (path.isEmpty ? "" : "\(path): ") + message
    }
  }

  /// Returns the problems of an archive. Empty for one that other tools accept.
  public static func problems(in data: Data) -> [Problem] {
    guard let json = try? JSONValue(data.withoutByteOrderMark) else {
      return [Problem(entry: nil, path: "", message: "is not JSON")]
    }
    let (log, entries) = problems(ofLog: json)
    var problems = log
    guard let entries else { return problems }
    var last: Date?
    for (index, entry) in entries.enumerated() {
      var checkOfEntry = Check(entry: index + 1)
      let started = checkOfEntry.entry(entry)
      if let started, let last, started < last {
        checkOfEntry.add("startedDateTime", "is before that of the previous entry: the oldest comes first")
      }
      last = started ?? last
      problems += checkOfEntry.problems
    }
    return problems
  }

  /// What is wrong with what stands round the entries, and the entries where there is an array of them.
  private static func problems(ofLog json: JSONValue) -> ([Problem], entries: [JSONValue]?) {
    guard let log = json["log"] else { return ([Problem(entry: nil, path: "log", message: "is missing")], nil) }
    var check = Check(entry: nil)
    check.text(log, "version", "log.version")
    for name in ["name", "version"] { check.text(log["creator"], name, "log.creator.\(name)") }
    guard let entries = log["entries"]?.array else {
      check.add("log.entries", "is missing, or not an array")
      return (check.problems, nil)
    }
    return (check.problems, entries)
  }

  /// Reports the problems of an archive in a file of any size one by one, with the memory of its largest entry.
  ///
  /// ```swift
  /// let count = try HAR.problems(inFile: file) { problem in
  ///   print(problem)
  ///   return true
  /// }
  /// ```
  ///
  /// Those of the archive as a whole come last.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - entryLimit: The maximum number of bytes of one entry in the file.
  ///   - visit: Receives each problem; return `false` to end the search.
  /// - Returns: The number of entries examined.
  /// - Throws: ``HARError`` if the file cannot be read, or is not an archive at all; errors of the visitor.
  @discardableResult
  public static func problems(
    inFile file: URL, entryLimit: Int = 256 << 20, _ visit: (Problem) throws -> Bool
  ) throws -> Int {
    var walk = try EntryWalk(file, entryLimit: entryLimit)
    var last: Date?
    var count = 0
    while let bytes = try walk.next() {
      count += 1
      guard let json = try? JSONValue(Data(bytes)) else {
        guard try visit(Problem(entry: count, path: "", message: "is not JSON")) else { return count }
        continue
      }
      var check = Check(entry: count)
      let started = check.entry(json)
      if let started, let last, started < last {
        check.add("startedDateTime", "is before that of the previous entry: the oldest comes first")
      }
      last = started ?? last
      for problem in check.problems {
        guard try visit(problem) else { return count }
      }
    }
    for problem in walk.problems(count) {
      guard try visit(problem) else { return count }
    }
    return count
  }

  private struct Check {
    let entry: Int?
    var problems: [Problem] = []

    init(entry: Int?) {
      self.entry = entry
    }

    mutating func add(_ path: String, _ message: String) {
      problems.append(Problem(entry: entry, path: path, message: message))
    }

    mutating func text(_ json: JSONValue?, _ name: String, _ path: String) {
      if json?[name]?.string == nil { add(path, "is missing, or not a string") }
    }

    /// A count, or -1 where it is not known.
    mutating func count(_ json: JSONValue?, _ name: String, _ path: String) {
      guard let count = json?[name]?.int else { return add(path, "is missing, or not a whole number") }
      if count < -1 { add(path, "is \(count): -1 means unknown") }
    }

    mutating func entry(_ json: JSONValue) -> Date? {
      let text = json["startedDateTime"]?.string
      let started = text.flatMap(Timestamp.date)
      if started == nil { add("startedDateTime", "is missing, or not an ISO 8601 time with a zone") }
      request(json["request"])
      response(json["response"])
      if json["cache"]?.object == nil { add("cache", "is missing: {} means that there was none") }
      timings(json["timings"], time: json["time"]?.double)
      return started
    }

    private mutating func request(_ json: JSONValue?) {
      for name in ["method", "url", "httpVersion"] { text(json, name, "request.\(name)") }
      if let url = json?["url"]?.string, URL(string: url)?.scheme == nil { add("request.url", "is not absolute") }
      if json?["url"]?.string?.contains("#") == true { add("request.url", "has a fragment, which is never sent") }
      for name in ["headers", "cookies", "queryString"] { fields(json, name, "request.\(name)") }
      for name in ["headersSize", "bodySize"] { count(json, name, "request.\(name)") }
      if let body = json?["postData"] { text(body, "mimeType", "request.postData.mimeType") }
    }

    private mutating func response(_ json: JSONValue?) {
      if json?["status"]?.int == nil { add("response.status", "is missing, or not a whole number") }
      for name in ["statusText", "httpVersion", "redirectURL"] { text(json, name, "response.\(name)") }
      for name in ["headers", "cookies"] { fields(json, name, "response.\(name)") }
      for name in ["headersSize", "bodySize"] { count(json, name, "response.\(name)") }
      let content = json?["content"]
      count(content, "size", "response.content.size")
      text(content, "mimeType", "response.content.mimeType")
      if let encoding = content?["encoding"]?.string, encoding.lowercased() == "base64",
        Data(base64Encoded: content?["text"]?.string ?? "") == nil
      {
        add("response.content.text", "is not base64, although its encoding says so")
      }
    }

    private mutating func fields(_ json: JSONValue?, _ name: String, _ path: String) {
      guard let fields = json?[name]?.array else { return add(path, "is missing, or not an array") }
      if !fields.allSatisfy({ $0["name"]?.string != nil && $0["value"]?.string != nil }) {
        add(path, "has an element without a name or a value")
      }
    }

    private mutating func timings(_ json: JSONValue?, time: Double?) {
      var sum = 0.0
      for name in ["blocked", "dns", "connect", "ssl", "send", "wait", "receive"] {
        let value = json?[name]?.double
        let isRequired = ["send", "wait", "receive"].contains(name)
        guard let value else {
          if isRequired { add("timings.\(name)", "is missing, or not a number") }
          continue
        }
        if value < 0, isRequired || value != -1 {
          add("timings.\(name)", isRequired ? "is negative" : "is negative, and not -1")
        }
        if name != "ssl" { sum += max(value, 0) }
      }
      if let ssl = json?["ssl"]?.double, ssl > max(json?["connect"]?.double ?? 0, 0) {
        add("timings.ssl", "is more than connect, which includes it")
      }
      guard let time else { return add("time", "is missing, or not a number") }
      // Programs round each part.
      if abs(time - sum) > 1 { add("time", "is \(time), but its parts add up to \(sum)") }
    }
  }
}

extension EntryWalk {
  /// What is wrong with the archive as a whole, once its entries have been seen.
  fileprivate func problems(_ count: Int) -> [HAR.Problem] {
    if isCutOff {
      let message = "ends before its entries do, after entry \(count): it was not written to its end"
      return [HAR.Problem(entry: nil, path: "", message: message)]
    }
    return HAR.problems(in: Data(rest))
  }
}
