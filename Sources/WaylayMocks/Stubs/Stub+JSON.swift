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
    stub = stub.where(try RequestMatcher.conditions(&members) + (try members.take("where", RequestMatcher.list) ?? []))
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
    var rest: [JSONValue] = []
    for condition in pattern.conditions {
      guard let json = condition.json else { throw notPortable("the condition \"\(condition)\"") }
      // A condition that a member of the stub can hold is there.
      let member = json.members?.count == 1 ? json.members?.first : nil
      switch (member?.name, member?.value) {
      case ("query"?, let value?), ("fields"?, let value?):
        guard let name = member?.name else { break }
        members[name] = JSONValue(.object((members[name]?.members ?? []) + (value.members ?? [])))
      case ("body"?, let value?) where members["body"] == nil: members["body"] = value
      case ("graphQL"?, let value?) where members["graphQL"] == nil: members["graphQL"] = value
      default: rest.append(json)
      }
    }
    if !rest.isEmpty { members["where"] = JSONValue(rest) }
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
    if json.string != nil { return json.short.map { $0 == "*" ? .any : URLPattern($0) } }
    var members = try JSONMembers(json, refusing: "badStub")
    let patterns = [
      try members.take("regex") { $0.short.map { .regex($0) } },
      try members.take("literal") { $0.short.flatMap { URL(string: $0) }?.urlPattern },
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
