import Foundation
import WaylayCore
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
  /// - Parameter ignoring: The paths of members that may change, including their contents. `$.rates.*` says that the
  ///   object is a map, of which the names of members do not count, but the values do.
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

    /// Adds an entry.
    ///
    /// - Parameter shown: The entry as it may be shown, if it may not be as it is. Requests are paired by the whole one.
    package mutating func add(_ entry: HAR.Entry, showing shown: HAR.Entry? = nil) {
      let content = contents.insert(ComparedResponse.Content(shown ?? entry)).memberAfterInsert
      responses.append(ComparedResponse(entry, showing: shown ?? entry, content, number: responses.count))
    }
  }

  package static func between(_ old: Recording, _ new: Recording, ignoring: [String] = []) -> [Drift] {
    let (old, new) = (old.responses, new.responses)
    var found: [Drift] = []
    var said: Set<String> = []
    let maps = Set(ignoring.filter { $0.hasSuffix(".*") })
    let ignoring = ignoring.filter { !maps.contains($0) }
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
        response.changes(to: other, maps: maps) { say($0, response, $1, $2) }
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

  init(_ entry: HAR.Entry, showing shown: HAR.Entry, _ content: Content, number: Int) {
    func name(_ request: HAR.Request) -> String { "\(request.method) \(request.url.prefix { $0 != "?" })" }
    (self.number, self.content, status) = (number, content, entry.response.status)
    (self.name, error) = (name(shown.request), shown.extensions["_error"]?.string)
    let name = name(entry.request)
    let items = entry.request.url.drop { $0 != "?" }.dropFirst().split(separator: "&").sorted()
    let names = items.map { String($0.prefix { $0 != "=" }) }
    keys = [
      [name] + items.map(String.init) + [entry.request.body?.data.base64EncodedString() ?? ""],
      [name] + items.map(String.init), [Identifier.path(name)] + names,
    ].map(\.hashValue)
  }

  func changes(to new: ComparedResponse, maps: Set<String>, _ say: (Drift.Severity, String, String) -> Void) {
    guard status == new.status else {
      let now = new.status == 0 ? "none: \(new.error ?? "no response")" : "\(new.status)"
      return say(.error, "status", "is \(now), was \(status)")
    }
    content.changes(to: new.content, maps: maps, say)
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
    /// Parts of header fields that an application depends on, by the name of the field.
    private let traits: [String: Set<String>]
    private let body: Body

    init(_ entry: HAR.Entry) {
      mediaType = Self.mediaType(of: entry)
      (fields, traits, body) = (Self.fields(of: entry), Self.traits(of: entry), Self.body(of: entry, mediaType))
    }

    func changes(to new: Content, maps: Set<String>, _ say: (Drift.Severity, String, String) -> Void) {
      let (type, other) = (mediaType, new.mediaType)
      if type != other, !type.isEmpty, new.body != .none {
        say(.error, "field Content-Type", "is \(other.isEmpty ? "missing" : other), was \(type)")
      }
      let (before, after) = (fields, new.fields)
      for name in before.keys.sorted() where after[name] == nil {
        say(.warning, "field \(before[name] ?? name)", "is gone")
      }
      for name in after.keys.sorted() where before[name] == nil { say(.note, "field \(after[name] ?? name)", "is new") }
      for (name, old) in traits.sorted(by: { $0.key < $1.key }) {
        guard let now = new.traits[name] else { continue }
        let (gone, added) = (old.subtracting(now).sorted(), now.subtracting(old).sorted())
        if !gone.isEmpty {
          let other = added.isEmpty ? "" : ", but \(added.joined(separator: ", "))"
          say(.warning, "field \(name)", "has no \(gone.joined(separator: ", "))\(other)")
        } else if !added.isEmpty {
          say(.note, "field \(name)", "also has \(added.joined(separator: ", "))")
        }
      }
      switch (body, new.body) {
      case (.none, .none), (.other, .other): break
      case (.none, _): say(.note, "body", "is new")
      case (_, .none): say(.error, "body", "is gone")
      case (.json(let old), .json(let new)): old.changes(to: new, at: "$", maps: maps, say)
      case (.events(let old), .events(let new)):
        let others = Set(new.keys).subtracting(old.keys).sorted().joined(separator: ", ")
        for (name, shape) in old.sorted(by: { $0.key < $1.key }) {
          if let now = new[name] {
            shape.changes(to: now, at: "event \(name) $", maps: maps, say)
          } else {
            // An event may be missing by chance, but not the mark.
            let isCertain = !others.isEmpty || name == ServerSentEvent.endMark
            say(isCertain ? .error : .warning, "event \(name)", "is gone" + (others.isEmpty ? "" : "; new: \(others)"))
          }
        }
      case (.names(let old), .names(let new)):
        for name in old.subtracting(new).sorted() { say(.error, "body", "has no \(name) any more") }
      default: say(.error, "body", "is of another kind")
      }
    }

    private static func contentType(of entry: HAR.Entry) -> String {
      entry.response.headers.first { $0.name.lowercased() == "content-type" }?.value ?? entry.response.body.mediaType
    }

    private static func mediaType(of entry: HAR.Entry) -> String {
      contentType(of: entry).prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// The character set of the body, the path of a redirect, the schemes of challenges, the attributes of cookies.
    private static func traits(of entry: HAR.Entry) -> [String: Set<String>] {
      let charset = contentType(of: entry).lowercased().firstMatch(of: /;\s*charset="?([^";\s]+)/)?.output.1
      var traits: [String: Set<String>] = ["Content-Type": charset.map { ["charset \($0)"] } ?? []]
      let base = URL(string: entry.request.url)
      for field in entry.response.headers {
        switch field.name.lowercased() {
        case "location":
          let path = URL(string: field.value, relativeTo: base)?.path ?? ""
          traits["Location"] = ["path \(Identifier.path(path))"]
        case "www-authenticate":
          let schemes = HTTPChallenge.parse([field.value]).map { "scheme \($0.scheme)" }
          traits["WWW-Authenticate", default: []].formUnion(schemes)
        case "set-cookie":
          // Some archives join several fields by line breaks.
          for cookie in field.value.split(whereSeparator: \.isNewline) {
            let parts = cookie.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            let name = parts.first?.prefix { $0 != "=" } ?? ""
            traits["Set-Cookie \(name)"] = Set(
              parts.dropFirst().map { attribute in
                let name = attribute.prefix { $0 != "=" }.lowercased()
                return ["expires", "max-age"].contains(name) ? name : attribute.lowercased()
              })
          }
        default: break
        }
      }
      return traits
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
        return .names(Set(columns(text).map { "column \($0)" }))
      }
      let lines = data.split(separator: 10).map { Data($0) }.compactMap { try? JSONValue(reading: $0) }
      guard let first = lines.first, mediaType.contains("json") || lines.count > 1 else { return .other }
      return .json(lines.dropFirst().reduce(into: Shape(first)) { $0.merge(Shape($1)) })
    }

    /// The names in the first line of CSV (RFC 4180).
    private static func columns(_ text: String) -> [String] {
      var (names, isQuoted) = ([""], false)
      // Without a byte order mark. A quote within quotes is doubled: it ends them and begins them again.
      for character in text.drop(while: { $0 == "\u{FEFF}" }) {
        switch character {
        case "\"": isQuoted.toggle()
        case ",": if isQuoted { names[names.count - 1] += "," } else { names.append("") }
        case _ where character.isNewline && !isQuoted: return names
        default: names[names.count - 1].append(character)
        }
      }
      return names
    }

    private static func events(_ text: String) -> [String: Shape] {
      var events: [String: Shape] = [:]
      for event in ServerSentEvent.all(in: text) {
        let shape = Shape((try? JSONValue(reading: event.data.utf8)) ?? JSONValue(event.data))
        let isEnd = event.data == ServerSentEvent.endMark
        events[isEnd ? ServerSentEvent.endMark : event.name.isEmpty ? "message" : event.name, default: shape].merge(
          shape)
      }
      return events
    }
  }
}
