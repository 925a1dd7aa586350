import Foundation

/// Why a message or a stub in JSON was refused.
package struct JSONRefusal: LocalizedError {
  package let code: String
  package let message: String

  package init(_ code: String, _ message: String) { (self.code, self.message) = (code, message) }

  package var errorDescription: String? { message }
}

/// Reads the members of a JSON object, and refuses those that nothing has read.
package struct JSONMembers {
  private let code: String
  private var left: [String: JSONValue]

  /// - Parameter code: The code of refusals for values of a wrong kind.
  package init(_ json: JSONValue, refusing code: String) throws(JSONRefusal) {
    guard let left = json.object else { throw JSONRefusal(code, "\(Self.excerpt(json)) is not an object.") }
    (self.code, self.left) = (code, left)
  }

  /// Removes a member, and returns its value, converted by `read`; `nil` without the member.
  package mutating func take<Value>(
    _ name: String, _ read: (JSONValue) throws(JSONRefusal) -> Value?
  ) throws(JSONRefusal) -> Value? {
    guard let json = left.removeValue(forKey: name) else { return nil }
    guard let value = try read(json) else { throw Self.refusal(code, name, json) }
    return value
  }

  /// Throws if members are left.
  package func end() throws(JSONRefusal) {
    guard let name = left.keys.min() else { return }
    throw JSONRefusal("unknownMember", "The member \(Self.excerpt(JSONValue(name))) is unknown.")
  }

  package static func refusal(_ code: String, _ name: String, _ json: JSONValue) -> JSONRefusal {
    JSONRefusal(code, "The value of \(excerpt(JSONValue(name))) is invalid: \(excerpt(json))")
  }

  private static func excerpt(_ json: JSONValue) -> String { Excerpt.of(json.description) }
}
