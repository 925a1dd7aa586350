/// A prefix tree of a mock's stubs by method, host and path segment: a lookup visits only stubs with equal literal parts.
///
/// The nodes are reference types, accessed only under the mock's lock.
struct StubIndex {
  private var methods: [String: Hosts] = [:]
  private var anyMethod = Hosts()

  private final class Hosts {
    var named: [String: Node] = [:]
    let any = Node()
  }

  /// A prefix shared by patterns.
  private final class Node {
    /// By the next segment, if it is a literal.
    var children: [String: Node] = [:]
    /// For a next segment that is a wildcard or an expression.
    var wild: Node?
    /// Patterns that end here.
    var ends: [StubEntry] = []
    /// Patterns that end here with an exact query, by that query.
    var endsByQuery: [QueryItems: [StubEntry]] = [:]
    /// Patterns without a path, or with `**` as the next segment.
    var open: [StubEntry] = []
  }

  init(of entries: [StubEntry] = []) {
    for entry in entries where entry.canMatch { insert(entry) }
  }

  mutating func insert(_ entry: StubEntry) {
    change(entry) { $0.insert(entry) }
  }

  mutating func remove(_ entry: StubEntry) {
    change(entry) { list in list.removeAll { $0 === entry } }
  }

  private mutating func change(_ entry: StubEntry, _ change: (inout [StubEntry]) -> Void) {
    let pattern = entry.stub.pattern
    let hosts: Hosts
    if let method = pattern.method {
      hosts = methods[method] ?? Hosts()
      methods[method] = hosts
    } else {
      hosts = anyMethod
    }
    var node = hosts.any
    if let host = pattern.url.host.exactHost {
      node = hosts.named[host] ?? Node()
      hosts.named[host] = node
    }
    guard let path = pattern.url.path else { return change(&node.open) }
    for segment in path.segments {
      switch segment {
      case .literal(let text):
        let child = node.children[text] ?? Node()
        node.children[text] = child
        node = child
      case .any, .expression:
        let child = node.wild ?? Node()
        node.wild = child
        node = child
      case .rest: return change(&node.open)
      }
    }
    if let key = pattern.url.query?.key {
      change(&node.endsByQuery[key, default: []])
    } else {
      change(&node.ends)
    }
  }

  /// The stubs that may match a request, by precedence.
  func entries(for facts: RequestFacts) -> [StubEntry] {
    var found: [StubEntry] = []
    if let hosts = methods[facts.method] { Self.collect(hosts, facts, &found) }
    Self.collect(anyMethod, facts, &found)
    if found.count > 1 { found.sort { $0.precedes($1) } }
    return found
  }

  private static func collect(_ hosts: Hosts, _ facts: RequestFacts, _ found: inout [StubEntry]) {
    if !hosts.named.isEmpty, let node = hosts.named[facts.url.host] { collect(node, facts, 0, &found) }
    collect(hosts.any, facts, 0, &found)
  }

  private static func collect(_ node: Node, _ facts: RequestFacts, _ depth: Int, _ found: inout [StubEntry]) {
    if !node.open.isEmpty { found += node.open }
    guard depth < facts.url.segments.count else {
      if !node.ends.isEmpty { found += node.ends }
      if !node.endsByQuery.isEmpty, let entries = node.endsByQuery[facts.query.sortedByName] { found += entries }
      return
    }
    if !node.children.isEmpty, let child = node.children[facts.url.segments[depth]] {
      collect(child, facts, depth + 1, &found)
    }
    if let wild = node.wild { collect(wild, facts, depth + 1, &found) }
  }
}

extension [StubEntry] {
  /// Inserts an entry by precedence.
  fileprivate mutating func insert(_ entry: StubEntry) {
    // Fast path: the newest entry usually comes first.
    guard let first, first.precedes(entry) else { return insert(entry, at: startIndex) }
    var (low, high) = (1, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].precedes(entry) { low = middle + 1 } else { high = middle }
    }
    insert(entry, at: low)
  }
}

extension QueryPattern {
  /// The only query that matches, normalized; `nil` if several can match.
  var key: QueryItems? {
    guard isExact else { return nil }
    var items: [QueryItems.Item] = []
    for expectation in expectations {
      for value in expectation.values {
        guard case .exactly(let text) = value else { return nil }
        items.append(QueryItems.Item(name: expectation.name, value: text))
      }
    }
    return QueryItems(items: items).sortedByName
  }
}
