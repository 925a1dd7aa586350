import Foundation
import WaylayHAR

// The JSON form of conditions (Internals/RemoteDoor.md).

extension RequestMatcher {
  /// The condition in JSON; `nil` for one with a closure.
  var json: JSONValue? {
    switch kind {
    case .method(let method): return ["method": JSONValue(method)]
    case .url(let pattern): return ["url": pattern.json]
    case .query(let pattern): return JSONValue(pattern.members("query", exactly: false))
    case .field(let name, let value): return ["fields": JSONValue([name: value.json])]
    case .body(let body): return ["body": body.json]
    case .graphQL(let name): return ["graphQL": JSONValue(name)]
    case .predicate: return nil
    case .and(let matchers): return Self.json("all", of: matchers)
    case .or(let matchers): return Self.json("any", of: matchers)
    case .not(let matcher): return matcher.json.map { ["not": $0] }
    }
  }

  private static func json(_ name: String, of matchers: [RequestMatcher]) -> JSONValue? {
    let list = matchers.compactMap(\.json)
    return list.count == matchers.count ? JSONValue([name: JSONValue(list)]) : Optional.none
  }

  /// Reads an object whose members are conditions.
  private static func make(_ json: JSONValue) throws(JSONRefusal) -> RequestMatcher {
    var members = try JSONMembers(json, refusing: "badStub")
    var found = try conditions(&members)
    if let method = try members.take("method", { $0.string.flatMap { $0.isEmpty ? nil : $0 } }) {
      found.append(.method(.named(method)))
    }
    if let url = try members.take("url", URLPattern.make) { found.append(.url(url)) }
    if let all = try members.take("all", list) { found.append(RequestMatcher(kind: .and(all))) }
    if let any = try members.take("any", list) { found.append(RequestMatcher(kind: .or(any))) }
    if let not = try members.take("not", make) { found.append(!not) }
    try members.end()
    return found.count == 1 ? found[0] : RequestMatcher(kind: .and(found))
  }

  static func list(_ json: JSONValue) throws(JSONRefusal) -> [RequestMatcher]? {
    guard let list = json.array else { return nil }
    return try list.map { condition throws(JSONRefusal) in try make(condition) }
  }

  /// Reads the conditions that are also members of a stub.
  static func conditions(_ members: inout JSONMembers) throws(JSONRefusal) -> [RequestMatcher] {
    var found: [RequestMatcher] = []
    let isExact = try members.take("exactly") { $0.bool } ?? false
    if let items = try members.take("query", QueryPattern.items) {
      // Values of one name have an order, so that they stay together.
      let names = items.map(\.name).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
      let patterns = isExact ? [items] : names.map { name in items.filter { $0.name == name } }
      found += patterns.map { RequestMatcher(kind: .query(QueryPattern($0, isExact: isExact))) }
    }
    for field in try members.take("fields", { $0.members }) ?? [] {
      guard let value = FieldValue(field.value) else { throw JSONMembers.refusal("badStub", field.name, field.value) }
      found.append(RequestMatcher(kind: .field(field.name, value)))
    }
    if let body = try members.take("body", BodyMatcher.make) { found.append(.body(body)) }
    if let name = try members.take("graphQL", { $0.string }) { found.append(.graphQL(name)) }
    return found
  }
}

extension RequestMatcher.FieldValue {
  fileprivate var json: JSONValue {
    switch self {
    case .any: true
    case .exactly(let value): JSONValue(value)
    case .regex(let regex): ["regex": JSONValue(regex.pattern)]
    }
  }

  fileprivate init?(_ json: JSONValue) {
    if json == true {
      self = .any
    } else if let value = json.string {
      self = .exactly(value)
    } else if let pattern = json["regex"]?.short, json.members?.count == 1 {
      self = .regex(TextRegex(pattern))
    } else {
      return nil
    }
  }
}

extension QueryPattern {
  /// The pattern as members of an object: the values by name, a list for a repeated name, and whether other items may follow
  /// if that is not the default.
  fileprivate func members(_ name: String, exactly isDefault: Bool) -> [String: JSONValue] {
    let values = expectations.map { expectation in
      let list = expectation.values.map { value -> JSONValue in
        if case .exactly(let text) = value { text.jsonValue } else { true }
      }
      return JSONValue.Member(name: expectation.name, value: list.count == 1 ? list[0] : JSONValue(list))
    }
    var members = [name: JSONValue(.object(values))]
    if isExact != isDefault { members["exactly"] = JSONValue(isExact) }
    return members
  }

  fileprivate static func items(_ json: JSONValue) throws(JSONRefusal) -> [(name: String, value: Value)]? {
    guard let members = json.members else { return nil }
    var items: [(name: String, value: Value)] = []
    for member in members {
      for value in member.value.array ?? [member.value] {
        guard value.string != nil || value.isNull || value == true else {
          throw JSONMembers.refusal("badStub", member.name, member.value)
        }
        items.append((member.name, value == true ? .any : .exactly(value.string)))
      }
    }
    return items
  }
}

extension BodyMatcher {
  fileprivate var json: JSONValue {
    switch kind {
    case .json(let comparison):
      let (name, value) = (comparison.ignoresExtras ? "jsonSubset" : "json", comparison.expected)
      return comparison.ignoresOrder ? JSONValue([name: value, "anyOrder": true]) : JSONValue([name: value])
    case .jsonPath(let path, let value?): return JSONValue(["jsonPath": JSONValue(path.description), "equals": value])
    case .jsonPath(let path, nil): return ["jsonPath": JSONValue(path.description)]
    case .text(let text): return ["text": JSONValue(text)]
    case .regex(let regex): return ["regex": JSONValue(regex.pattern)]
    case .data(let data): return ["base64": JSONValue(data.base64EncodedString())]
    case .form(let pattern): return JSONValue(pattern.members("form", exactly: true))
    case .multipart(let pattern):
      let parts = pattern.parts.map { JSONValue(["name": JSONValue($0.name), "body": $0.body.json]) }
      return JSONValue(["multipart": JSONValue(parts), "exactly": JSONValue(pattern.isExact)])
    case .file(let name, let type, let content):
      let file = ["name": name?.jsonValue, "type": type?.jsonValue, "content": content.json].compactMapValues(\.self)
      return JSONValue(["file": JSONValue(file)])
    case .empty: return "empty"
    case .present: return "present"
    // A stub with such a condition is refused before.
    case .broken: return .init(nilLiteral: ())
    }
  }

  fileprivate static func make(_ json: JSONValue) throws(JSONRefusal) -> BodyMatcher? {
    if let word = json.string { return ["empty": .empty, "present": .present][word] }
    var members = try JSONMembers(json, refusing: "badStub")
    let ignoresOrder = try members.take("anyOrder") { $0.bool } ?? false
    let isExact = try members.take("exactly") { $0.bool } ?? true
    let equal = try members.take("equals") { $0 }
    var found: [BodyMatcher] = []
    if let json = try members.take("json", { $0 }) { found.append(.json(json, ignoringArrayOrder: ignoresOrder)) }
    if let json = try members.take("jsonSubset", { $0 }) {
      found.append(.jsonSubset(json, ignoringArrayOrder: ignoresOrder))
    }
    if let path = try members.take("jsonPath", { $0.string }) {
      found.append(equal.map { .jsonPath(path, equals: $0) } ?? .jsonPath(exists: path))
    }
    if let text = try members.take("text", { $0.string }) { found.append(.text(text)) }
    if let pattern = try members.take("regex", { $0.short }) { found.append(.regex(pattern)) }
    if let data = try members.take("base64", { $0.string.flatMap { Data(base64Encoded: $0) } }) {
      found.append(.data(data))
    }
    if let items = try members.take("form", QueryPattern.items) {
      found.append(BodyMatcher(.form(QueryPattern(items, isExact: isExact))))
    }
    if let list = try members.take("multipart", { $0.array }) {
      let parts = try list.map { part throws(JSONRefusal) in try PartPattern(part) }
      found.append(
        BodyMatcher(.multipart(PartsPattern(parts, isExact: isExact)), problem: parts.compactMap(\.body.problem).first))
    }
    if let matcher = try members.take("file", file) { found.append(matcher) }
    try members.end()
    return found.count == 1 ? found[0] : nil
  }

  private static func file(_ json: JSONValue) throws(JSONRefusal) -> BodyMatcher? {
    var members = try JSONMembers(json, refusing: "badStub")
    let (name, type) = (try members.take("name") { $0.string }, try members.take("type") { $0.string })
    let content = try members.take("content", make) ?? .present
    try members.end()
    return .file(name, type: type, content: content)
  }
}

extension PartPattern {
  fileprivate init(_ json: JSONValue) throws(JSONRefusal) {
    var members = try JSONMembers(json, refusing: "badStub")
    self.init(
      name: try members.take("name") { $0.string } ?? "", body: try members.take("body", BodyMatcher.make) ?? .present)
    try members.end()
  }
}

extension JSONValue {
  /// A text of at most 2 KiB: a pattern or an expression.
  var short: String? { string.flatMap { $0.utf8.count > 2_048 ? nil : $0 } }
}
