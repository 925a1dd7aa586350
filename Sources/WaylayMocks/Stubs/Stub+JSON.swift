import Foundation
package import WaylayHAR

// The JSON form of stubs (Internals/RemoteDoor.md): of the remote door, `waylay har to-stubs --json`, and files.

extension Stub {
  package init(json: JSONValue) throws(JSONRefusal) {
    var members = try JSONMembers(json, refusing: "badStub")
    let place = try members.take("place") { $0.string } ?? "a stub in JSON"
    let method = try members.take("method") { $0.string.flatMap { $0.isEmpty ? nil : HTTPRequest.Method.named($0) } }
    guard let url = try members.take("url", URLPattern.make) else {
      throw JSONRefusal("badStub", "The stub has no member \"url\": write a pattern such as \"/users/:id\".")
    }
    var responses: [MockResponse] = []
    for response in try members.take("responses", { $0.array }) ?? [] {
      responses.append(try MockResponse(json: response))
    }
    var stub = Stub(RequestPattern(method, url), responses: responses, at: MockSourceLocation(place: place))
    var conditions: [RequestMatcher] = []
    for item in try members.take("query", { $0.members }) ?? [] {
      let value = try item.text(orNull: true)
      conditions.append(item.value == true ? .query(item.name) : .query(item.name, value))
    }
    for item in try members.take("fields", { $0.members }) ?? [] {
      conditions.append(try item.text().map { .field(item.name, $0) } ?? .field(item.name))
    }
    stub = stub.where(conditions)
    if let body = try members.take("body", BodyMatcher.make) { stub = stub.where(.body(body)) }
    if let name = try members.take("graphQL", { $0.string }) { stub = stub.where(.graphQL(name)) }
    if let times = try members.take("times", Self.times) { stub = stub.times(times) }
    if try members.take("optional", { $0.bool }) == true { stub = stub.optional }
    if try members.take("required", { $0.bool }) == true { stub = stub.required }
    if try members.take("cycling", { $0.bool }) == true { stub = stub.cycling }
    if let priority = try members.take("priority", { $0.int }) { stub = stub.priority(priority) }
    try members.end()
    if let problem = stub.problems.first { throw JSONRefusal("badStub", problem.message) }
    self = stub
  }

  private static func times(_ json: JSONValue) -> ClosedRange<Int>? {
    guard let first = json.int ?? json[0]?.int, let last = json.int ?? json[1]?.int, first <= last,
      json.array?.count ?? 2 == 2
    else { return nil }
    return first...last
  }

  /// The stub in JSON.
  ///
  /// - Throws: `MockError.notPortable` for a part that cannot be sent to another process, such as a closure.
  package func json() throws(MockError) -> JSONValue {
    if let problem = problems.first { throw problem }
    guard let listed else { throw notPortable("the closure that computes its response") }
    var members = ["url": pattern.url.json, "place": JSONValue(location.description)]
    members["method"] = pattern.method.map { JSONValue($0) }
    var (query, fields): ([JSONValue.Member], [JSONValue.Member]) = ([], [])
    for condition in pattern.conditions {
      switch condition.kind {
      case .query(let items) where !items.isExact && items.expectations.allSatisfy({ $0.values.count == 1 }):
        query += items.expectations.map { JSONValue.Member(name: $0.name, value: $0.values[0].json) }
      case .field(let name, .any): fields.append(JSONValue.Member(name: name, value: true))
      case .field(let name, .exactly(let value)):
        fields.append(JSONValue.Member(name: name, value: JSONValue(value)))
      case .body(let matcher) where matcher.json != nil && members["body"] == nil: members["body"] = matcher.json
      case .graphQL(let name) where members["graphQL"] == nil: members["graphQL"] = JSONValue(name)
      default: throw notPortable("the condition \"\(condition)\"")
      }
    }
    if !query.isEmpty { members["query"] = JSONValue(.object(query)) }
    if !fields.isEmpty { members["fields"] = JSONValue(.object(fields)) }
    members["responses"] = try listed.map { response throws(MockError) in
      guard let json = try response.json() else { throw notPortable("the response \"\(response)\"") }
      return json
    }.jsonValue
    if let least = life.minimum, let most = life.maximum { members["times"] = [least, most].jsonValue }
    if let requirement { members[requirement == .optional ? "optional" : "required"] = true }
    if life.cycles { members["cycling"] = true }
    if life.priority != 0 { members["priority"] = life.priority.jsonValue }
    return members.jsonValue
  }

  private func notPortable(_ part: String) -> MockError {
    MockError(
      .notPortable,
      """
      \(self) cannot be sent to another process because of \(part): write it with conditions and responses that are \
      values, or make the stub in the app.
      """, location: location)
  }
}

extension MockSourceLocation {
  /// A location outside of this process.
  init(place: String) {
    self.init(fileID: "remote", filePath: "remote", line: 1, column: 1)
    test = place
  }
}

extension URLPattern {
  /// Reads a pattern, an expression or a literal URL, of at most 2 KiB.
  package static func make(_ json: JSONValue) throws(JSONRefusal) -> URLPattern? {
    func short(_ json: JSONValue) -> String? { json.string.flatMap { $0.utf8.count > 2_048 ? nil : $0 } }
    if json.string != nil { return short(json).map { $0 == "*" ? .any : URLPattern($0) } }
    var members = try JSONMembers(json, refusing: "badStub")
    let patterns = [
      try members.take("regex") { short($0).map { .regex($0) } },
      try members.take("literal") { short($0).flatMap { URL(string: $0) }?.urlPattern },
    ].compactMap { $0 as URLPattern? }
    try members.end()
    return patterns.count == 1 ? patterns[0] : nil
  }

  package var json: JSONValue {
    if let regex { return ["regex": JSONValue(regex.pattern)] }
    if isLiteral { return ["literal": JSONValue(description)] }
    return path == nil && query == nil && scheme == nil ? "*" : JSONValue(description)
  }
}

extension JSONValue.Member {
  /// Reads the expected text; `nil` for `true`, which matches any text.
  fileprivate func text(orNull takesNull: Bool = false) throws(JSONRefusal) -> String? {
    guard value.string != nil || value == true || takesNull && value.isNull else {
      throw JSONMembers.refusal("badStub", name, value)
    }
    return value.string
  }
}

extension QueryPattern.Value {
  fileprivate var json: JSONValue { if case .exactly(let value) = self { value.jsonValue } else { true } }
}

extension BodyMatcher {
  fileprivate static func make(_ json: JSONValue) throws(JSONRefusal) -> BodyMatcher? {
    if let word = json.string { return ["empty": .empty, "present": .present][word] }
    var members = try JSONMembers(json, refusing: "badStub")
    let ignoresOrder = try members.take("anyOrder") { $0.bool } ?? false
    let matchers = [
      try members.take("json") { .json($0, ignoringArrayOrder: ignoresOrder) },
      try members.take("jsonSubset") { .jsonSubset($0, ignoringArrayOrder: ignoresOrder) },
      try members.take("text") { $0.string.map { .text($0) } },
      try members.take("base64") { $0.string.flatMap { Data(base64Encoded: $0) }.map { .data($0) } },
    ].compactMap { $0 as BodyMatcher? }
    try members.end()
    return matchers.count == 1 ? matchers[0] : nil
  }

  fileprivate var json: JSONValue? {
    switch kind {
    case .json(let comparison):
      let (name, value) = (comparison.ignoresExtras ? "jsonSubset" : "json", comparison.expected)
      return comparison.ignoresOrder ? JSONValue([name: value, "anyOrder": true]) : JSONValue([name: value])
    case .text(let text): return ["text": JSONValue(text)]
    case .data(let data): return ["base64": JSONValue(data.base64EncodedString())]
    case .empty: return "empty"
    case .present: return "present"
    default: return nil
    }
  }
}

extension MockResponse {
  fileprivate init(json: JSONValue) throws(JSONRefusal) {
    var members = try JSONMembers(json, refusing: "badStub")
    let kinds = ["json", "text", "base64", "error", "never", "passThrough"].filter { (json[$0] ?? false) != false }
    guard kinds.count < 2 else {
      throw JSONRefusal("badStub", "A response has one of these members only: \(kinds.joined(separator: ", ")).")
    }
    let status = try members.take("status") { $0.int } ?? 200
    var response = MockResponse.status(status)
    if let value = try members.take("json", { $0 }) { response = .json(value, status: status) }
    if let text = try members.take("text", { $0.string }) { response = .data(Data(text.utf8), status: status) }
    if let data = try members.take("base64", { $0.string.flatMap { Data(base64Encoded: $0) } }) {
      response = .data(data, status: status)
    }
    for field in try members.take("fields", { $0.members }) ?? [] {
      let values = field.value.array ?? [field.value]
      response = response.removingField(field.name)
      for value in values { response = response.addingField(field.name, value.string ?? value.description) }
    }
    if let code = try members.take("error", { $0.int.flatMap { URLError.Code(rawValue: $0) } }) {
      response = .error(code)
    }
    if try members.take("never", { $0.bool }) == true { response = .never }
    if try members.take("passThrough", { $0.bool }) == true { response = .passThrough }
    if let fault = try members.take("fault", { $0.string.flatMap { NetworkFault.named($0) } }) {
      response = response.fault(fault)
    }
    if let delay = try members.take("delay", { $0.double.flatMap { $0 < 0 ? nil : $0 } }) {
      response = response.delay(.ofSeconds(delay))
    }
    try members.end()
    self = response
  }

  /// Returns `nil` for a response that cannot be sent to another process.
  fileprivate func json() throws(MockError) -> JSONValue? {
    guard edits.isEmpty, credentials == nil, !servesRanges, !timing.pacesBody else { return nil }
    var members: [String: JSONValue] = [:]
    switch content {
    case .message(let message):
      guard let data = try message.data() else { return nil }
      members["status"] = message.status.code.jsonValue
      let text = String(decoding: data, as: UTF8.self)
      if Data(text.utf8) != data {
        members["base64"] = JSONValue(data.base64EncodedString())
      } else if !data.isEmpty {
        members["text"] = JSONValue(text)
      }
      let fields = Dictionary(grouping: message.fields) { $0.name.canonicalName }.values
        .map { ($0[0].name.rawName, $0.map(\.value)) }
      if !fields.isEmpty { members["fields"] = Dictionary(uniqueKeysWithValues: fields).jsonValue }
      if let bodyFault { members["fault"] = JSONValue(bodyFault.description) }
    case .failure(let failure):
      members = failure.fault.map { ["fault": JSONValue($0)] } ?? ["error": failure.urlErrorCode.rawValue.jsonValue]
    case .never: members["never"] = true
    case .passThrough: members["passThrough"] = true
    case .error: return nil
    }
    members["delay"] = timing.firstByte.map { JSONValue($0.inSeconds) }
    return members.jsonValue
  }
}

extension MockResponse.Message {
  /// The body's bytes; `nil` for a stream.
  fileprivate func data() throws(MockError) -> Data? {
    switch body {
    case .message(let body): return body.inMemory
    case .file(let file):
      do { return try Data(contentsOf: file) } catch {
        throw MockError(.unreadableFile, "the file \(file.path) of a response cannot be read.", underlying: error)
      }
    }
  }
}

extension NetworkProfile {
  /// Reads a profile: `3G`, or an object.
  package static func make(_ json: JSONValue) throws(JSONRefusal) -> NetworkProfile? {
    if json.string == threeG.description { return .threeG }
    var members = try JSONMembers(json, refusing: "badConditions")
    let profile = NetworkProfile(
      try members.take("name") { $0.string } ?? "custom",
      latency: .ofSeconds(try members.take("latency") { $0.double } ?? 0),
      downstream: try members.take("downstream") { $0.double } ?? 125_000_000,
      upstream: try members.take("upstream") { $0.double }, loss: try members.take("loss") { $0.double } ?? 0)
    try members.end()
    return profile.defect == nil ? profile : nil
  }

  package var json: JSONValue {
    let members: JSONLiteral = [
      "name": description, "latency": latency.inSeconds, "downstream": downstream, "upstream": upstream, "loss": loss,
    ]
    return members.jsonValue
  }
}
