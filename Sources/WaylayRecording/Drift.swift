import Foundation
package import WaylayHAR

/// Differences in shape between two recordings of the same requests, such as a cassette and the server's current
/// responses; values do not matter.
package struct Drift: Sendable, CustomStringConvertible {
  /// The severity of a change.
  package enum Severity: String, Sendable, Comparable, CaseIterable {
    /// An addition.
    case note
    /// A member, field or value that may now be missing or `null`.
    case warning
    /// A removal, or a change of type or status.
    case error

    package static func < (one: Severity, other: Severity) -> Bool {
      (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
    }
  }

  package let severity: Severity
  /// The method and the URL, without a query.
  package let request: String
  /// The changed part: a JSON path, `status`, `field Link`.
  package let place: String
  /// The old and the new state.
  package let change: String

  package var description: String { "\(severity)  \(request)  \(place) \(change)" }

  /// The changes between two recordings, without duplicates, the most severe first.
  ///
  /// - Parameter ignoring: The paths of members that may change, including their contents.
  package static func between(
    _ old: [HAR.Entry], _ new: [HAR.Entry], _ redaction: Redaction = .standard, ignoring: [String] = []
  ) -> [Drift] {
    between(Recording(redaction.redacted(old)), Recording(redaction.redacted(new)), ignoring: ignoring)
  }

  /// The responses of a recording without their values, which take little memory.
  package struct Recording: Sendable {
    fileprivate private(set) var responses: [ComparedResponse] = []
    /// Equal contents share their memory.
    private var contents: Set<ComparedResponse.Content> = []

    package init(_ entries: [HAR.Entry] = []) { entries.forEach { add($0) } }

    package mutating func add(_ entry: HAR.Entry) {
      let content = contents.insert(ComparedResponse.Content(entry)).memberAfterInsert
      responses.append(ComparedResponse(entry, content, number: responses.count))
    }
  }

  package static func between(_ old: Recording, _ new: Recording, ignoring: [String] = []) -> [Drift] {
    let (old, new) = (old.responses, new.responses)
    var found: [Drift] = []
    var said: Set<String> = []
    func say(_ severity: Severity, _ response: ComparedResponse, _ place: String, _ change: String) {
      guard !ignoring.contains(where: { place == $0 || place.hasPrefix($0 + ".") || place.hasPrefix($0 + "[") }) else {
        return
      }
      let drift = Drift(severity: severity, request: response.name, place: place, change: change)
      if said.insert("\(response.keys[2]) \(place) \(change)").inserted { found.append(drift) }
    }
    var (left, rest) = (old, new)
    // Pair equal requests first, then those with different bodies, then those with different identifiers in the URL.
    for precision in 0...2 {
      // The oldest last, which is the cheapest to remove.
      var waiting = Dictionary(grouping: rest.reversed()) { $0.keys[precision] }
      left = left.filter { response in
        let key = response.keys[precision]
        // Polling gets different responses to the same request: prefer the one with the same status.
        guard
          let index = waiting[key]?.lastIndex(where: { $0.status == response.status })
            ?? (precision < 2 ? nil : waiting[key]?.indices.last),
          let other = waiting[key]?.remove(at: index)
        else { return true }
        response.changes(to: other) { say($0, response, $1, $2) }
        return false
      }
      let unpaired = Set(waiting.values.joined().map(\.number))
      rest = rest.filter { unpaired.contains($0.number) }
    }
    // Ignore a failure that a retry has replaced by a success: it occurred by chance.
    func withoutRetried(_ responses: [ComparedResponse], in all: [ComparedResponse]) -> [ComparedResponse] {
      let successes = all.filter { 200..<400 ~= $0.status }.map { ($0.keys[2], $0.number) }
      let last = Dictionary(successes, uniquingKeysWith: max)
      return responses.filter { response in
        let isFailure = response.status >= 500 || [0, 408, 429].contains(response.status)
        return !isFailure || last[response.keys[2], default: -1] < response.number
      }
    }
    (left, rest) = (withoutRetried(left, in: old), withoutRetried(rest, in: new))
    let (before, after) = (Set(old.map { "\($0.keys[2]) \($0.status)" }), Set(new.map { "\($0.keys[2]) \($0.status)" }))
    for response in left where !after.contains("\(response.keys[2]) \(response.status)") {
      say(.note, response, "request", "was not made this time")
    }
    let known = Set(old.map(\.keys[2]))
    for response in rest where !before.contains("\(response.keys[2]) \(response.status)") {
      let isKnown = known.contains(response.keys[2])
      say(
        isKnown ? .error : .note, response, isKnown ? "status" : "request",
        isKnown ? "is \(response.status), was another" : "is new")
    }
    return found.sorted { $0.severity > $1.severity }
  }
}

/// A response prepared for comparison.
private struct ComparedResponse: Sendable {
  let number: Int
  let content: Content
  /// The method and the URL, without a query.
  let name: String
  let status: Int
  let error: String?
  /// Hashes shared by requests that count as equal: by URL and body, by the URL, and by the URL except for identifiers
  /// and query values.
  let keys: [Int]

  init(_ entry: HAR.Entry, _ content: Content, number: Int) {
    (self.number, self.content, status) = (number, content, entry.response.status)
    name = "\(entry.request.method) \(entry.request.url.prefix { $0 != "?" })"
    error = entry.extensions["_error"]?.string
    let items = entry.request.url.drop { $0 != "?" }.dropFirst().split(separator: "&").sorted()
    let names = items.map { String($0.prefix { $0 != "=" }) }
    keys = [
      [name] + items.map(String.init) + [entry.request.body?.data.base64EncodedString() ?? ""],
      [name] + items.map(String.init), [Identifier.path(name)] + names,
    ].map(\.hashValue)
  }

  func changes(to new: ComparedResponse, _ say: (Drift.Severity, String, String) -> Void) {
    guard status == new.status else {
      let now = new.status == 0 ? "none: \(new.error ?? "no response")" : "\(new.status)"
      return say(.error, "status", "is \(now), was \(status)")
    }
    content.changes(to: new.content, say)
  }

  struct Content: Hashable, Sendable {
    private enum Body: Hashable {
      case none
      case json(Shape)
      /// The data of server-sent events, by event name.
      case events([String: Shape])
      /// The elements of XML, or the columns of a table.
      case names(Set<String>)
      case other
    }

    private let mediaType: String
    private let fields: [String: String]
    private let body: Body

    init(_ entry: HAR.Entry) {
      mediaType = Self.mediaType(of: entry)
      (fields, body) = (Self.fields(of: entry), Self.body(of: entry, mediaType))
    }

    func changes(to new: Content, _ say: (Drift.Severity, String, String) -> Void) {
      let (type, other) = (mediaType, new.mediaType)
      if type != other, !type.isEmpty, new.body != .none {
        say(.error, "field Content-Type", "is \(other.isEmpty ? "missing" : other), was \(type)")
      }
      let (before, after) = (fields, new.fields)
      for name in before.keys.sorted() where after[name] == nil {
        say(.warning, "field \(before[name] ?? name)", "is gone")
      }
      for name in after.keys.sorted() where before[name] == nil { say(.note, "field \(after[name] ?? name)", "is new") }
      switch (body, new.body) {
      case (.none, .none), (.other, .other): break
      case (.none, _): say(.note, "body", "is new")
      case (_, .none): say(.error, "body", "is gone")
      case (.json(let old), .json(let new)): old.changes(to: new, at: "$", say)
      case (.events(let old), .events(let new)):
        let others = Set(new.keys).subtracting(old.keys).sorted().joined(separator: ", ")
        for (name, shape) in old.sorted(by: { $0.key < $1.key }) {
          if let now = new[name] {
            shape.changes(to: now, at: "event \(name) $", say)
          } else if !others.isEmpty {
            say(.error, "event \(name)", "is gone; new: \(others)")
          }
        }
      case (.names(let old), .names(let new)):
        for name in old.subtracting(new).sorted() { say(.error, "body", "has no \(name) any more") }
      default: say(.error, "body", "is of another kind")
      }
    }

    private static func mediaType(of entry: HAR.Entry) -> String {
      let field = entry.response.headers.first { $0.name.lowercased() == "content-type" }?.value
      let type = (field ?? entry.response.body.mediaType).prefix { $0 != ";" }
      return type.trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// Names of the header fields that the application sets: in lower case, and as written.
    private static func fields(of entry: HAR.Entry) -> [String: String] {
      var fields: [String: String] = [:]
      for field in entry.response.headers { fields[field.name.lowercased()] = field.name }
      // Only login cookies are expected in each recording.
      for cookie in entry.response.cookies where Redaction.standard.hides(cookie.name) {
        fields["set-cookie \(cookie.name)"] = "Set-Cookie \(cookie.name)"
      }
      return fields.filter { name, _ in !transportFields.contains(name) && !prefixes.contains { name.hasPrefix($0) } }
    }

    /// Fields set by the transport, by intermediaries or per machine.
    private static let transportFields = Set(
      """
      age alt-svc connection content-encoding content-length content-type date expires keep-alive nel p3p pragma \
      proxy-connection report-to reporting-endpoints server server-timing set-cookie strict-transport-security te trailer \
      transfer-encoding upgrade vary via warning x-powered-by x-request-id x-runtime traceparent tracestate
      """.split(separator: " ").map(String.init))
    private static let prefixes = [
      ":", "cf-", "fly-", "x-amz", "x-b3-", "x-cache", "x-envoy-", "x-served", "x-timer", "x-vercel-",
    ]

    private static func body(of entry: HAR.Entry, _ mediaType: String) -> Body {
      let data = entry.response.body.data
      guard !data.isEmpty, entry.request.method != "HEAD" else { return .none }
      if mediaType == "text/event-stream" { return .events(events(String(decoding: data, as: UTF8.self))) }
      if let json = try? JSONValue(reading: data) { return .json(Shape(json)) }
      let text = String(decoding: data, as: UTF8.self)
      if mediaType.hasSuffix("xml") {
        return .names(Set(text.matches(of: /<([A-Za-z_][\w.:\-]*)/).map { "<\($0.output.1)>" }))
      }
      if mediaType.hasSuffix("csv") {
        return .names(Set(text.prefix { !$0.isNewline }.split(separator: ",").map { "column \($0)" }))
      }
      let lines = data.split(separator: 10).map { Data($0) }.compactMap { try? JSONValue(reading: $0) }
      guard let first = lines.first, mediaType.contains("json") || lines.count > 1 else { return .other }
      return .json(lines.dropFirst().reduce(into: Shape(first)) { $0.merge(Shape($1)) })
    }

    private static func events(_ text: String) -> [String: Shape] {
      var events: [String: Shape] = [:]
      var (name, data) = ("message", "")
      for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
        guard !line.isEmpty else {
          if let json = try? JSONValue(reading: Data(data.utf8)) {
            events[name, default: Shape(json)].merge(Shape(json))
          }
          (name, data) = ("message", "")
          continue
        }
        let value = line.drop { $0 != ":" }.dropFirst()
        let text = value.first == " " ? value.dropFirst() : value
        if line.hasPrefix("event:") { name = String(text) } else if line.hasPrefix("data:") { data += text + "\n" }
      }
      return events
    }
  }
}
