// The calls of a remote door and of `waylay mcp` that only read exchanges (Internals/RemoteDoor.md).

extension Inspector {
  /// The maximum number of bytes of a response.
  package static let mostBytes = 16 << 20

  /// Responds to a call, in JSON; `nil` for an unknown call.
  package func perform(_ call: String, _ members: inout JSONMembers) throws(JSONRefusal) -> String? {
    switch call {
    case "exchanges":
      let (found, leftOut) = try select(&members)
      let reply: JSONLiteral = ["exchanges": found.map(\.row), "leftOut": leftOut]
      return reply.jsonValue.description
    case "exchange": return "{\"exchange\":\(String(decoding: try exchange(&members).entry.data(), as: UTF8.self))}"
    case "har":
      let (found, leftOut) = try select(&members)
      return Self.har(found.map(\.entry), leftOut)
    case "explain": return JSONValue(["explanation": try exchange(&members).text()]).description
    default: return nil
    }
  }

  /// The newest exchanges that a message asks for, and the number of those left out.
  private func select(_ members: inout JSONMembers) throws(JSONRefusal) -> ([Exchange], Int) {
    let text = try members.take("query") { $0.string.flatMap { $0.utf8.count > 4_096 ? nil : $0 } }
    let query = ExchangeQuery(text ?? "")
    if let mistake = query.mistakes.first { throw JSONRefusal("badMessage", mistake) }
    let limit = try members.limit()
    let before = try members.take("before") { $0.int } ?? .max
    try members.end()
    var matching = 0
    let found = self.exchanges { exchange in
      guard exchange.id < before, query.matches(exchange) else { return false }
      matching += 1
      return matching <= limit
    }
    return (found.map { shown($0) }, matching - found.count)
  }

  /// The exchange that a message asks for.
  package func exchange(_ members: inout JSONMembers) throws(JSONRefusal) -> Exchange {
    guard let id = try members.take("id", { $0.int }), let exchange = self.exchange(id) else {
      throw JSONRefusal(
        "notFound", "There is no exchange with this id: search for those there are; the oldest are not kept.")
    }
    try members.end()
    return shown(exchange)
  }

  /// An archive of the newest entries that fit.
  package static func har(_ entries: [HAR.Entry], _ leftOut: Int) -> String {
    // The head of the archive has fewer bytes than this.
    var bytes = 1 << 10
    let kept = entries.reversed().prefix { entry in
      bytes += entry.data().count + 1
      return bytes <= mostBytes
    }
    let har = String(decoding: HAR(entries: kept.reversed()).data(isPretty: false), as: UTF8.self)
    return "{\"har\":\(har),\"leftOut\":\(leftOut + entries.count - kept.count)}"
  }
}

extension JSONMembers {
  /// The maximum number of elements of a list.
  package mutating func limit() throws(JSONRefusal) -> Int {
    try take("limit") { $0.int.flatMap { (1...1_000).contains($0) ? $0 : nil } } ?? 100
  }
}

extension Inspector.Exchange {
  /// The exchange as a row of a list.
  fileprivate var row: JSONValue {
    let members: JSONLiteral = [
      "id": id, "method": request.method, "url": request.url, "status": response?.status,
      "state": state.description, "source": source?.description, "type": response?.body.mediaType, "time": entry.time,
      "size": response?.body.size, "error": failure?.description,
    ]
    return members.jsonValue
  }
}
