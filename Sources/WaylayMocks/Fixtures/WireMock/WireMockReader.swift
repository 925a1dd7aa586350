import Foundation

/// Reads WireMock's mappings (https://wiremock.org/docs/standalone/admin-api-reference).
struct WireMockReader {
  private let place: URL
  private let origin: String
  private let ignoring: Set<String>
  private let location: MockSourceLocation
  private let problems: FixtureProblems

  /// A mapping before the states of its scenario are known.
  private struct Draft {
    var stub: Stub
    let entry: FixtureObject
    let scenario: String?
    let required: String?
    let next: String?
  }

  init(
    _ place: URL, origin: String?, ignoring: Set<String>, _ location: MockSourceLocation, _ problems: FixtureProblems
  ) {
    self.place = place
    self.origin = origin.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? ""
    self.ignoring = ignoring
    self.location = location
    self.problems = problems
  }

  func stubs() -> [Stub] {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: place.path, isDirectory: &isDirectory) else {
      problems.note(place.path, "there is no such file or folder: check its path.")
      return []
    }
    guard isDirectory.boolValue else {
      let folder = place.deletingLastPathComponent()
      let root = folder.lastPathComponent == "mappings" ? folder.deletingLastPathComponent() : folder
      return joined(drafts(of: place, named: place.lastPathComponent, files: Self.files(of: root)))
    }
    let mappings = place.appendingPathComponent("mappings")
    let hasMappings = FileManager.default.fileExists(atPath: mappings.path)
    let folder = hasMappings ? mappings : place
    let root = hasMappings || place.lastPathComponent != "mappings" ? place : place.deletingLastPathComponent()
    return joined(
      Self.names(in: folder).flatMap {
        drafts(of: folder.appendingPathComponent($0), named: $0, files: Self.files(of: root))
      })
  }

  private static func files(of root: URL) -> URL { root.appendingPathComponent("__files") }

  /// The files of a folder and those below it, in order.
  private static func names(in folder: URL) -> [String] {
    let all = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return all.filter {
      $0.hasSuffix(".json") && !$0.hasPrefix("__files/") && !$0.split(separator: "/").contains { $0.hasPrefix(".") }
    }
    .sorted()
  }

  private func drafts(of file: URL, named name: String, files: URL) -> [Draft] {
    guard let root = JSONNode.read(file, named: name, problems) else { return [] }
    guard root["mappings"] != nil else {
      return FixtureObject(root, in: name, entry: Self.entry(root, nil), problems).flatMap { draft($0, files) }.map {
        [$0]
      } ?? []
    }
    guard let list = FixtureObject(root, in: name, problems) else { return [] }
    let mappings = list.elements("mappings") ?? []
    list.skip("meta", "importOptions")
    list.finish(ignoring: ignoring)
    return mappings.enumerated().compactMap { number, node in
      FixtureObject(node, in: name, entry: Self.entry(node, number), problems).flatMap { draft($0, files) }
    }
  }

  /// What messages call a mapping; the only one of a file without a name needs none.
  private static func entry(_ node: JSONNode, _ number: Int?) -> String? {
    let number = number.map { "mapping \($0 + 1)" }
    guard let name = node["name"]?.string else { return number }
    return "\(number ?? "mapping") (\(name))"
  }

  private func draft(_ entry: FixtureObject, _ files: URL) -> Draft? {
    let pattern = entry.object("request").flatMap { WireMockRequest($0, origin: origin, ignoring: ignoring).pattern }
    if entry.node["request"] == nil { entry.note("request", "the mapping has no \"request\".") }
    let response =
      entry.object("response").map { WireMockResponse($0, files: files, ignoring: ignoring).response } ?? .status(200)
    if entry.node["response"] == nil { entry.note("response", "the mapping has no \"response\".") }
    let priority = entry.integer("priority") ?? 5
    let scenario = entry.string("scenarioName")
    let required = entry.string("requiredScenarioState")
    let next = entry.string("newScenarioState")
    if scenario == nil, required != nil || next != nil {
      entry.note(
        required == nil ? "newScenarioState" : "requiredScenarioState", "there is a state but no \"scenarioName\".")
    }
    entry.skip("id", "uuid", "name", "persistent", "metadata", "insertionIndex")
    entry.finish(ignoring: ignoring)
    guard let pattern else { return nil }
    let (turned, overflow) = 5.subtractingReportingOverflow(priority)
    let stub = Stub(pattern, responses: [response], at: location).optional.priority(overflow ? .min : turned)
    return Draft(stub: stub, entry: entry, scenario: scenario, required: required, next: next)
  }

  /// The stubs, with their scenarios: those have the states that the mappings name.
  private func joined(_ drafts: [Draft]) -> [Stub] {
    var states: [String: [String]] = [:]
    for draft in drafts {
      guard let scenario = draft.scenario else { continue }
      for state in [draft.required, draft.next].compactMap({ $0 })
      where !states[scenario, default: ["Started"]].contains(state) {
        states[scenario, default: ["Started"]].append(state)
      }
    }
    return drafts.map { draft in
      guard let name = draft.scenario else { return draft.stub }
      let scenario = Scenario(name, states: states[name] ?? ["Started"])
      return draft.stub.scenario(scenario, requires: draft.required, next: draft.next)
    }
  }
}
