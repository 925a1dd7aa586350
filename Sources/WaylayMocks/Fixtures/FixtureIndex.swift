import Foundation
import HTTPTypes

/// Reads the `index.json` of a folder.
struct FixtureIndex {
  private let folder: URL
  private let origin: String?
  private let location: MockSourceLocation
  private let problems: FixtureProblems

  init(_ folder: URL, origin: String?, _ location: MockSourceLocation, _ problems: FixtureProblems) {
    self.folder = folder
    self.origin = origin
    self.location = location
    self.problems = problems
  }

  func stubs(of file: URL) -> [Stub] {
    let name = file.lastPathComponent
    guard let root = JSONNode.read(file, named: name, problems) else { return [] }
    var origin = origin
    var entries = root.elements ?? []
    if root.elements == nil {
      guard let object = FixtureObject(root, in: name, problems) else { return [] }
      origin = object.string("origin") ?? origin
      entries = object.elements("stubs") ?? []
      if object.node["stubs"] == nil { object.note("stubs", "the list \"stubs\" is missing.") }
      object.skip("comment")
      object.finish()
    }
    let prefix = origin.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? ""
    return entries.enumerated().compactMap { number, node in
      let url = node["url"]?.string.map { " (\(node["method"]?.string ?? "ANY") \($0))" } ?? ""
      return FixtureObject(node, in: name, entry: "entry \(number + 1)\(url)", problems).flatMap { stub($0, prefix) }
    }
  }

  private func stub(_ entry: FixtureObject, _ origin: String) -> Stub? {
    let url = entry.string("url")
    let method = entry.string("method")
    let httpMethod = method.flatMap { $0.uppercased() == "ANY" ? nil : HTTPRequest.Method($0.uppercased()) }
    if let method, method.uppercased() != "ANY", httpMethod == nil {
      entry.note("method", "\"\(method)\" is not a valid method.")
    }
    let response = response(entry)
    let times = entry.integer("times")
    let priority = entry.integer("priority")
    let required = entry.bool("required")
    entry.skip("comment")
    entry.finish()
    guard let url else {
      if entry.node["url"] == nil {
        entry.note("url", "the entry has no \"url\": write a pattern such as \"/users/:id\".")
      }
      return nil
    }
    // A query alone is for any path.
    let whole = url.hasPrefix("/") ? origin + url : url.hasPrefix("?") && !origin.isEmpty ? origin + "/**" + url : url
    let pattern = RequestPattern(httpMethod, whole)
    for problem in pattern.problems { entry.note("url", problem.message) }
    var stub = Stub(pattern, responses: [response], at: location)
    stub = required == true ? stub.required : stub.optional
    if let times {
      if times < 1 {
        entry.note("times", "\"times\" is \(times): a stub must be used at least once.")
      } else {
        stub = stub.times(times)
      }
    }
    return priority.map { stub.priority($0) } ?? stub
  }

  private func response(_ entry: FixtureObject) -> MockResponse {
    let status = entry.integer("status") ?? 200
    let type = entry.string("type")
    var response = MockResponse.status(status).checked(by: entry, "status")
    let bodies = ["file", "text", "json", "base64", "template"].filter { entry.node[$0] != nil }
    if bodies.count > 1 {
      entry.note(bodies[1], "the entry has \(bodies.joined(separator: " and ")): use only one.")
    }
    if let name = entry.string("file") { response = self.file(name, entry, status) }
    if let text = entry.string("text") { response = .text(text) }
    if let value = entry.value("json") { response = .data(Data(value.text.utf8), type: "application/json") }
    if let base64 = entry.string("base64") {
      if let data = Data(base64Encoded: base64) {
        response = .data(data)
      } else {
        entry.note("base64", "\"base64\" is not Base64 (RFC 4648, section 4).")
      }
    }
    if let template = entry.string("template") {
      response = .template(template, type: type ?? "text/plain; charset=utf-8").checked(by: entry, "template")
    }
    if entry.node["status"] != nil, (200...999).contains(status) { response = response.status(status) }
    if let type { response = response.header("Content-Type", type).checked(by: entry, "type") }
    response = response.headers(of: entry)
    guard let delay = entry.number("delay") else { return response }
    return response.delay(delay < 0 ? .seconds(-1) : .ofSeconds(delay)).checked(by: entry, "delay")
  }

  private func file(_ name: String, _ entry: FixtureObject, _ status: Int) -> MockResponse {
    let file = folder.appendingPathComponent(name)
    do { _ = try MessageBody.existing(file) } catch {
      entry.note("file", "the file \(name) is not in the folder, or cannot be read.")
      return .status(200)
    }
    return file.pathExtension == "http" ? .raw(contentsOf: file).checked(by: entry, "file") : .file(file)
  }
}

extension MockResponse {
  /// The same, unless it is broken: then the mistake is noted, and goes no further.
  func checked(by entry: FixtureObject, _ key: String) -> MockResponse {
    guard let defect else { return self }
    entry.note(key, defect.message)
    return .status(200)
  }

  /// The same with the member `headers` of a fixture: texts, or lists of texts for a field that occurs more than once.
  func headers(of entry: FixtureObject) -> MockResponse {
    entry.members("headers").reduce(self) { response, member in
      let values = member.node.elements?.map(\.string) ?? [member.node.string]
      guard let first = values.first ?? nil, values.allSatisfy({ $0 != nil }) else {
        entry.problems.note(
          entry.file, line: member.line, entry: entry.entry,
          "the header field \"\(member.name)\" must be a string or a list of strings.")
        return response
      }
      let changed = values.dropFirst().reduce(response.header(member.name, first)) {
        $0.addingHeader(member.name, $1 ?? "")
      }
      if response.defect == nil, let defect = changed.defect {
        entry.problems.note(entry.file, line: member.line, entry: entry.entry, defect.message)
        return response
      }
      return changed
    }
  }
}

extension JSONNode {
  /// The JSON of a file; what is wrong with it is noted.
  static func read(_ file: URL, named name: String, _ problems: FixtureProblems) -> JSONNode? {
    do {
      return try JSONNode(parsing: Data(contentsOf: file))
    } catch let error as JSONSyntaxError {
      problems.note(name, line: error.line, "column \(error.column): \(error.message).")
    } catch {
      problems.note(name, "the file cannot be read: check its path.")
    }
    return nil
  }
}
