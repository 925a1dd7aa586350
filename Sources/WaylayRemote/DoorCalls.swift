#if InspectorServer && DEBUG
  import Foundation
  import WaylayCore
  import WaylayHAR
  import WaylayInspector
  import WaylayInterceptors
  import WaylayMocks
  import WaylayRemoteControl

  /// The calls of the door (`Internals/RemoteDoor.md`), without the network. The stubs and conditions that came through
  /// the door end with it.
  final class DoorCalls: Sendable {
    private struct State {
      var stubs: [Int: StubHandle] = [:]
      var nextID = 1
      var hasSetConditions = false
    }

    private static let mostStubs = 10_000
    /// What each call that changes something needs.
    private static let changes: [String: RemoteDoor.Permissions] = [
      "addStubs": .stubs, "removeStubs": .stubs, "setConditions": .conditions,
    ]

    private let inspector: Inspector
    private let mocks: MockInterceptor?
    private let conditions: NetworkConditions?
    private let permissions: RemoteDoor.Permissions
    private let state = Locked(State())

    init(
      _ inspector: Inspector, _ mocks: MockInterceptor?, _ conditions: NetworkConditions?,
      _ permissions: RemoteDoor.Permissions
    ) {
      (self.inspector, self.mocks, self.conditions, self.permissions) = (inspector, mocks, conditions, permissions)
    }

    deinit {
      _ = remove(nil)
      if state.withLock({ $0.hasSetConditions }) { conditions?.reset() }
    }

    /// Applies the stubs and conditions of an invitation, regardless of the permissions.
    func begin(_ invitation: RemoteInvitation) throws(JSONRefusal) {
      if !invitation.stubs.isEmpty { _ = try add(invitation.stubs, replacing: []) }
      guard invitation.conditions.members?.isEmpty == false else { return }
      var members = try JSONMembers(invitation.conditions, refusing: "badConditions")
      try setConditions(&members)
    }

    /// Responds to a message, in JSON. Messages come one after the other.
    func perform(_ text: String) throws(JSONRefusal) -> String {
      guard let json = try? JSONValue(reading: text.utf8) else { throw JSONRefusal("badMessage", "This is not JSON.") }
      var members = try JSONMembers(json, refusing: "badMessage")
      let call = try members.take("call") { $0.string } ?? ""
      guard permissions.contains(Self.changes[call] ?? .reading) else {
        throw JSONRefusal("notAllowed", "RemoteDoor.open of the app does not allow this call.")
      }
      let reply = try perform(call, &members)
      guard reply.utf8.count <= Inspector.mostBytes else {
        throw JSONRefusal("tooLarge", "The response has more than 16 MiB: narrow the query, or lower the limit.")
      }
      return reply
    }

    private func perform(_ call: String, _ members: inout JSONMembers) throws(JSONRefusal) -> String {
      switch call {
      case "requests": return try requests(&members)
      case "issues": return try issues(members)
      case "explain": return try explain(&members)
      case "addStubs": return try addStubs(&members)
      case "removeStubs":
        let ids = try members.take("ids", Self.ids)
        try members.end()
        return JSONValue(["removed": remove(ids)]).description
      case "setConditions":
        try setConditions(&members)
        return "{}"
      default:
        guard let reply = try inspector.perform(call, &members) else {
          throw JSONRefusal("unknownCall", "There is no such call.")
        }
        return reply
      }
    }

    // MARK: Reading

    private func requests(_ members: inout JSONMembers) throws(JSONRefusal) -> String {
      let method = try members.take("method") { $0.string.map { HTTPRequest.Method.named($0) } }
      let url = try members.take("url", URLPattern.make) ?? .any
      let limit = try members.limit()
      try members.end()
      if let problem = url.problem { throw JSONRefusal("badMessage", problem.message) }
      let found = try theMocks().requests(RequestPattern(method, url))
      // As in the Inspector, bodies are cut before they are searched for secrets.
      let entries = found.suffix(limit).map { inspector.redacted(inspector.cut($0.entry)) }
      return Inspector.har(entries, max(0, found.count - limit))
    }

    private func issues(_ members: JSONMembers) throws(JSONRefusal) -> String {
      try members.end()
      let issues = try theMocks().issues
      // List the last issues: those of unmatched requests come last.
      let rows = issues.suffix(200).map { issue -> JSONValue in
        let row: JSONLiteral = [
          "kind": issue.kind.description, "message": inspector.redacted(issue.message),
          "place": issue.location.description, "isWarning": issue.isWarning,
        ]
        return row.jsonValue
      }
      let reply: JSONLiteral = ["issues": rows, "leftOut": issues.count - rows.count]
      return reply.jsonValue.description
    }

    private func explain(_ members: inout JSONMembers) throws(JSONRefusal) -> String {
      var parts: [String] = []
      let request: HAR.Request
      if let url = try members.take("url", { $0.string }) {
        request = HAR.Request(method: try members.take("method") { $0.string } ?? "GET", url: url)
        try members.end()
      } else {
        let exchange = try inspector.exchange(&members)
        parts.append(exchange.text())
        if mocks != nil { parts.append("Matched again, with the redacted request:") }
        request = exchange.request
      }
      if let mocks { parts.append(mocks.explanation(of: request) ?? "The URL or the method is invalid.") }
      if let conditions { parts.append("Network conditions: \(conditions.summary)") }
      return JSONValue(["explanation": inspector.redacted(parts.joined(separator: "\n"))]).description
    }

    // MARK: Changing

    private func theMocks() throws(JSONRefusal) -> MockInterceptor {
      guard let mocks else { throw JSONRefusal("notThere", "The app gave RemoteDoor.open no mocks.") }
      return mocks
    }

    private func addStubs(_ members: inout JSONMembers) throws(JSONRefusal) -> String {
      let list = try members.take("stubs") { $0.array } ?? []
      let replaced = try members.take("replacing") { json in
        json.bool == true ? Set(state.withLock { $0.stubs.keys }) : Self.ids(json)
      }
      try members.end()
      return JSONValue(["stubs": try add(list, replacing: replaced ?? [])]).description
    }

    /// Adds stubs before it removes others, so that a request always finds one of them.
    private func add(_ list: [JSONValue], replacing replaced: Set<Int>) throws(JSONRefusal) -> [Int] {
      let mocks = try theMocks()
      var stubs: [Stub] = []
      for json in list { stubs.append(try Stub(json: json)) }
      let kept = state.withLock { $0.stubs.keys.filter { !replaced.contains($0) }.count }
      guard kept + stubs.count <= Self.mostStubs else {
        throw JSONRefusal("badStub", "There may be 10 000 stubs at once: remove some first.")
      }
      let handles = mocks.handles(of: stubs)
      let ids = state.withLock { state in
        let ids = Array(state.nextID..<state.nextID + handles.count)
        state.nextID += handles.count
        for (id, handle) in zip(ids, handles) { state.stubs[id] = handle }
        return ids
      }
      _ = remove(replaced)
      return ids
    }

    private func remove(_ ids: Set<Int>?) -> Int {
      let removed = state.withLock { state in
        let removed = state.stubs.filter { ids?.contains($0.key) ?? true }
        for id in removed.keys { state.stubs[id] = nil }
        return removed
      }
      mocks?.remove(Array(removed.values))
      return removed.count
    }

    private static func ids(_ json: JSONValue) -> Set<Int>? {
      json.array.flatMap { list in list.allSatisfy { $0.int != nil } ? Set(list.compactMap(\.int)) : nil }
    }

    private func setConditions(_ members: inout JSONMembers) throws(JSONRefusal) {
      let fault = try members.take("fault") { $0.string.flatMap { NetworkFault.named($0) } }
      let network = try members.take("network", NetworkProfile.make)
      try members.end()
      guard let conditions else { throw JSONRefusal("notThere", "The app gave RemoteDoor.open no conditions.") }
      state.withLock { $0.hasSetConditions = true }
      conditions.set(fault, network)
    }
  }
#endif
