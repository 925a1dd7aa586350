extension JSONNode {
  /// The value as a text without spaces; numbers as they were written, members in their order.
  package var text: String {
    switch value {
    case .null: "null"
    case .bool(let truth): truth ? "true" : "false"
    case .number(let digits): digits
    case .string(let text): "\"" + Self.escaped(text) + "\""
    case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { "\"\(Self.escaped($0.name))\":\($0.node.text)" }.joined(separator: ",") + "}"
    }
  }

  /// A text as it stands between the quotes of a JSON string.
  static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0.value < 0x20 || $0 == "\"" || $0 == "\\" }) else { return text }
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": escaped += "\\\""
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\r": escaped += "\\r"
      case "\t": escaped += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

extension JSONNode {
  /// The value with a merge patch applied (RFC 7396): members of the patch replace those here, `null` removes one,
  /// anything but an object replaces the whole.
  package func merging(_ patch: JSONNode) -> JSONNode {
    guard case .object(let changes) = patch.value else { return patch }
    var result = members ?? []
    for change in changes {
      let position = result.lastIndex { $0.name == change.name }
      if change.node.isNull {
        result.removeAll { $0.name == change.name }
      } else if let position {
        result[position].node = result[position].node.merging(change.node)
      } else {
        result.append(Member(name: change.name, node: JSONNode(.null).merging(change.node)))
      }
    }
    return JSONNode(.object(result))
  }
}
