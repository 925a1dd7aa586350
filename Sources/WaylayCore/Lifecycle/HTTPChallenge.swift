import Foundation

/// One challenge of a `WWW-Authenticate` field (RFC 9110, section 11.6.1).
struct HTTPChallenge: Equatable, Sendable {
  /// The scheme in lower case, `basic` for example.
  let scheme: String
  /// The parameters, their names in lower case. Of a name that comes twice the first counts.
  var parameters: [String: String] = [:]

  var realm: String? { parameters["realm"] }

  /// All challenges of a response, in the order of the server's liking. What cannot be read is left out; nothing in it
  /// is an error.
  ///
  /// A field may hold several challenges, and a challenge several parameters, both separated by commas: a token that is
  /// followed by `=` is a parameter, any other one begins a challenge.
  static func parse(_ fields: [String]) -> [HTTPChallenge] {
    fields.flatMap { field in
      var parser = Parser(rest: field.utf8[...])
      return parser.challenges()
    }
  }
}

extension HTTPChallenge {
  private struct Parser {
    var rest: Substring.UTF8View

    mutating func challenges() -> [HTTPChallenge] {
      var found: [HTTPChallenge] = []
      while !rest.isEmpty {
        skip { $0.isBlank || $0 == UInt8(ascii: ",") }
        guard let name = token() else {
          // Not a list element: go on behind the next comma.
          skip { $0 != UInt8(ascii: ",") }
          continue
        }
        let afterName = rest
        skip(\.isBlank)
        if rest.first == UInt8(ascii: "="), !found.isEmpty {
          rest.removeFirst()
          skip(\.isBlank)
          guard let value = quoted() ?? token() else { continue }
          let last = found.count - 1
          if found[last].parameters[name.lowercased()] == nil { found[last].parameters[name.lowercased()] = value }
        } else {
          rest = afterName
          found.append(HTTPChallenge(scheme: name.lowercased()))
          skipToken68()
        }
      }
      return found
    }

    /// The one text that may follow a scheme in place of parameters, and that ends at a comma.
    private mutating func skipToken68() {
      let start = rest
      skip(\.isBlank)
      skip(\.isToken68)
      skip { $0 == UInt8(ascii: "=") }
      skip(\.isBlank)
      if let next = rest.first, next != UInt8(ascii: ",") { rest = start }
    }

    private mutating func token() -> String? {
      let token = rest.prefix(while: \.isToken)
      rest = rest.dropFirst(token.count)
      return token.isEmpty ? nil : String(Substring(token))
    }

    private mutating func quoted() -> String? {
      guard rest.first == UInt8(ascii: "\"") else { return nil }
      rest.removeFirst()
      var text: [UInt8] = []
      while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
        text.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
      }
      return String(decoding: text, as: UTF8.self)
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
      rest = rest.drop(while: isSkipped)
    }
  }
}
