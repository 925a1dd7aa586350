import WaylayHAR

extension RequestFacts {
  /// The GraphQL operations of a request, see ``RequestMatcher/graphQL(_:)``; `nil` for an element of a batch without one.
  func readGraphQL() -> [GraphQL.Operation?] {
    func asked(_ name: String) -> String? { query.items.first { $0.name == name }.flatMap(\.value) }
    var found: [GraphQL.Operation?]
    if MultipartForm.mediaType(field("Content-Type")) == "application/graphql" {
      found = [GraphQL.Operation(text, named: asked("operationName"))]
    } else {
      // An upload has its operations in a part of that name.
      let operations = multipart?.first { $0.name == "operations" }
      let body = operations.map { try? JSONValue(reading: $0.body) } ?? json
      found = (body?.array ?? [body].compactMap(\.self)).map { request in
        let name = request["operationName"]?.string ?? (body?.array == nil ? asked("operationName") : nil)
        return GraphQL.Operation(request["query"]?.string, named: name)
      }
    }
    if !found.contains(where: { $0 != nil }) {
      found = [GraphQL.Operation(asked("query"), named: asked("operationName"))]
    }
    return found
  }

  /// The operations of the request: `query Orders`, `mutation`; `operation Orders` if only the name is sent. `nil` if an
  /// element of a batch has none.
  var graphQLOperations: [String]? {
    let operations = graphQL.compactMap { $0?.description }
    return operations.count == graphQL.count ? operations : nil
  }
}

/// Documents of GraphQL (specification of October 2021, section 2).
enum GraphQL {
  /// An operation that a request asks for.
  struct Operation: CustomStringConvertible {
    /// `query`, `mutation` or `subscription`; `nil` without a document.
    let kind: String?
    let name: String?

    /// - Returns: `nil` without a document with an operation and without a name.
    init?(_ document: String?, named name: String?) {
      let all = document.map { GraphQL.operations(in: $0) } ?? []
      if let name, !name.isEmpty {
        (kind, self.name) = (all.first { $0.name == name }?.kind, name)
      } else if let first = all.first {
        (kind, self.name) = (first.kind, first.name)
      } else {
        return nil
      }
    }

    var description: String { [kind ?? "operation", name].compactMap(\.self).joined(separator: " ") }
  }

  /// The operations of a document, with `query`, `mutation` or `subscription` as kind.
  static func operations(in document: String) -> [(kind: String, name: String?)] {
    var rest = Array(document.utf8)[...]
    var operations: [(kind: String, name: String?)] = []
    var (depth, isStart, kind) = (0, true, String?.none)
    while let byte = rest.first {
      if let known = kind, "{(@".utf8.contains(byte) {
        operations.append((known, nil))
        kind = nil
      }
      switch byte {
      case UInt8(ascii: "#"): rest = rest.drop { $0 != 0x0A && $0 != 0x0D }
      case UInt8(ascii: "\""): rest = afterString(rest)
      case UInt8(ascii: "{"), UInt8(ascii: "("):
        if isStart, depth == 0, byte == UInt8(ascii: "{") { operations.append(("query", nil)) }
        depth += 1
        rest = rest.dropFirst()
      case UInt8(ascii: "}"), UInt8(ascii: ")"):
        depth -= 1
        isStart = depth == 0 && byte == UInt8(ascii: "}")
        rest = rest.dropFirst()
      case _ where byte.isOfWord:
        let word = String(decoding: rest.prefix(while: \.isOfWord), as: UTF8.self)
        if let known = kind {
          operations.append((known, word))
          kind = nil
        } else if isStart, depth == 0, ["query", "mutation", "subscription"].contains(word) {
          kind = word
        }
        isStart = false
        rest = rest.drop(while: \.isOfWord)
      default: rest = rest.dropFirst()
      }
    }
    return operations
  }

  /// The text after the string, or the block string, at its beginning.
  private static func afterString(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let quotes = [UInt8](repeating: UInt8(ascii: "\""), count: 3)
    let end = text.starts(with: quotes) ? quotes : [UInt8(ascii: "\"")]
    var rest = text.dropFirst(end.count)
    while !rest.isEmpty, !rest.starts(with: end) { rest = rest.dropFirst(rest.first == UInt8(ascii: "\\") ? 2 : 1) }
    return rest.dropFirst(end.count)
  }
}
