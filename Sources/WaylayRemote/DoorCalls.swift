#if InspectorServer && DEBUG
  import Foundation
  import WaylayCore
  import WaylayHAR
  import WaylayInspector
  import WaylayInterceptors
  import WaylayMocks
  import WaylayRemoteControl

  /// The calls of the door (`Internals/RemoteDoor.md`), without the network.
  final class DoorCalls: Sendable {
    private struct State {
      var stubs: [Int: StubHandle] = [:]
      var nextID = 1
    }

    /// The maximum number of stubs, and the bytes of the entries of a response.
    private static let (mostStubs, mostBytes) = (10_000, 16 << 20)
    private static let needed: [String: RemoteDoor.Permissions] = [
      "exchanges": .reading, "exchange": .reading, "har": .reading, "requests": .reading, "issues": .reading,
      "explain": .reading, "addStubs": .stubs, "removeStubs": .stubs, "setConditions": .conditions,
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

    /// Applies the stubs and conditions of an invitation, whatever a remote process may change later.
    func begin(_ invitation: RemoteInvitation) throws(JSONRefusal) {
      if !invitation.stubs.isEmpty { _ = try add(invitation.stubs, to: theMocks(), replacing: []) }
      guard invitation.conditions.members?.isEmpty == false else { return }
      var members = try JSONMembers(invitation.conditions, refusing: "badConditions")
      try setConditions(&members)
    }

    /// Responds to a message, in JSON.
    func perform(_ text: String) throws(JSONRefusal) -> String {
      guard let json = try? JSONValue(reading: text.utf8) else { throw JSONRefusal("badMessage", "This is not JSON.") }
      var members = try JSONMembers(json, refusing: "badMessage")
      let call = try members.take("call") { $0.string } ?? ""
      guard let needed = Self.needed[call] else { throw JSONRefusal("unknownCall", "There is no such call.") }
      guard permissions.contains(needed) else {
        throw JSONRefusal("notAllowed", "RemoteDoor.open of the app does not allow the call \(call).")
      }
      switch call {
      case "exchanges": return try exchanges(&members)
      case "exchange":
        let exchange = try exchange(&members)
        try members.end()
        return "{\"exchange\":\(String(decoding: exchange.entry.data(), as: UTF8.self))}"
      case "har":
        let (found, leftOut) = try select(&members)
        return har(found.map(\.entry), leftOut)
      case "requests": return try requests(&members)
      case "issues": return try issues(members)
      case "explain": return try explain(&members)
      case "addStubs": return try addStubs(&members)
      case "removeStubs": return try removeStubs(&members)
      default:
        try setConditions(&members)
        return "{}"
      }
    }

    // MARK: Reading

    /// The newest exchanges that a message asks for, and the number of those left out.
    private func select(_ members: inout JSONMembers) throws(JSONRefusal) -> ([Inspector.Exchange], Int) {
      let text = try members.take("query") { $0.string.flatMap { $0.utf8.count > 4_096 ? nil : $0 } }
      let query = ExchangeQuery(text ?? "")
      if let mistake = query.mistakes.first { throw JSONRefusal("badMessage", mistake) }
      let limit = try limit(&members)
      let before = try members.take("before") { $0.int } ?? .max
      try members.end()
      var matching = 0
      let found = inspector.exchanges { exchange in
        guard exchange.id < before, query.matches(exchange) else { return false }
        matching += 1
        return matching <= limit
      }
      return (found.map { inspector.shown($0) }, matching - found.count)
    }

    private func limit(_ members: inout JSONMembers) throws(JSONRefusal) -> Int {
      try members.take("limit") { $0.int.flatMap { (1...1_000).contains($0) ? $0 : nil } } ?? 100
    }

    private func exchanges(_ members: inout JSONMembers) throws(JSONRefusal) -> String {
      let (found, leftOut) = try select(&members)
      let rows = found.map { exchange -> JSONValue in
        let response = exchange.entry.response
        let row: JSONLiteral = [
          "id": exchange.id, "method": exchange.request.method, "url": exchange.request.url, "status": response.status,
          "state": exchange.state.description, "source": exchange.source?.description, "type": response.body.mediaType,
          "time": exchange.entry.time, "size": response.body.size, "error": exchange.failure?.description,
        ]
        return row.jsonValue
      }
      let reply: JSONLiteral = ["exchanges": rows, "leftOut": leftOut]
      return reply.jsonValue.description
    }

    private func exchange(_ members: inout JSONMembers) throws(JSONRefusal) -> Inspector.Exchange {
      guard let id = try members.take("id", { $0.int }), let exchange = inspector.exchange(id) else {
        throw JSONRefusal("notFound", "There is no exchange with this id; the oldest ones are not kept.")
      }
      return inspector.shown(exchange)
    }

    /// An archive of the newest entries that fit.
    private func har(_ entries: [HAR.Entry], _ leftOut: Int) -> String {
      var bytes = 0
      let kept = entries.reversed().prefix { entry in
        defer { bytes += entry.data().count }
        return bytes == 0 || bytes + entry.data().count <= Self.mostBytes
      }
      let har = String(decoding: HAR(entries: kept.reversed()).data(isPretty: false), as: UTF8.self)
      return "{\"har\":\(har),\"leftOut\":\(leftOut + entries.count - kept.count)}"
    }

    private func requests(_ members: inout JSONMembers) throws(JSONRefusal) -> String {
      let method = try members.take("method") { $0.string.map { HTTPRequest.Method.named($0) } }
      let url = try members.take("url", URLPattern.make) ?? .any
      let limit = try limit(&members)
      try members.end()
      if let problem = url.problem { throw JSONRefusal("badMessage", problem.message) }
      let found = try theMocks().requests(RequestPattern(method, url))
      return har(found.suffix(limit).map { inspector.redacted($0.entry) }, max(0, found.count - limit))
    }

    private func issues(_ members: JSONMembers) throws(JSONRefusal) -> String {
      try members.end()
      let issues = try theMocks().issues
      let rows = issues.prefix(200).map { issue -> JSONValue in
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
      } else {
        let exchange = try exchange(&members)
        parts.append(exchange.text())
        request = exchange.request
      }
      try members.end()
      if let mocks { parts.append(mocks.explanation(of: request) ?? "The URL or the method makes no request.") }
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
      let ids = try add(list, to: theMocks(), replacing: replaced ?? [])
      return JSONValue(["stubs": ids]).description
    }

    /// Adds stubs before it removes others, so that a request always finds one of them.
    private func add(
      _ list: [JSONValue], to mocks: MockInterceptor, replacing replaced: Set<Int>
    ) throws(JSONRefusal) -> [Int] {
      var stubs: [Stub] = []
      for json in list { stubs.append(try Stub(json: json)) }
      guard state.withLock({ $0.stubs.count }) + stubs.count <= Self.mostStubs else {
        throw JSONRefusal("badStub", "There are too many stubs: remove some first.")
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
      for handle in removed.values { handle.remove() }
      return removed.count
    }

    private static func ids(_ json: JSONValue) -> Set<Int>? {
      json.array.flatMap { list in list.allSatisfy { $0.int != nil } ? Set(list.compactMap(\.int)) : nil }
    }

    private func removeStubs(_ members: inout JSONMembers) throws(JSONRefusal) -> String {
      let ids = try members.take("ids", Self.ids)
      try members.end()
      return JSONValue(["removed": remove(ids)]).description
    }

    private func setConditions(_ members: inout JSONMembers) throws(JSONRefusal) {
      let fault = try members.take("fault") { $0.string.flatMap { NetworkFault.named($0) } }
      let network = try members.take("network", NetworkProfile.make)
      try members.end()
      guard let conditions else { throw JSONRefusal("notThere", "The app gave RemoteDoor.open no conditions.") }
      conditions.set(fault, network)
    }
  }
#endif
