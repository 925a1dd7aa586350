import Foundation
import HTTPTypes

/// What the name of a fixture's file says of its request and answer.
struct FixtureName {
  /// `nil` for any.
  let method: HTTPRequest.Method?
  /// Path and query as a ``URLPattern``.
  let pattern: String
  /// How many of the path's segments may be anything.
  let wildcards: Int
  let hasQuery: Bool
  let status: Int
  /// The extension, without a dot; empty for an answer without a body.
  let pathExtension: String

  private static let methods = [
    "ANY", "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE",
  ]

  /// Reads a name; `folders` are those between the fixture's folder and the file.
  init(_ name: String, folders: [String]) throws(Failure) {
    var rest = name[...]
    let method = rest.prefix { $0.isUppercase && $0.isASCII }
    guard Self.methods.contains(String(method)) else {
      throw Failure(
        "the name does not begin with a method, as in GET_users_42.json: rename the file, move it elsewhere, or write an "
          + "index.json."
      )
    }
    rest = rest[method.endIndex...]
    guard rest.first == "_" || rest.first == "." || rest.first == "?" || rest.isEmpty else {
      throw Failure("an underscore must follow \(method), as in \(method)_users.json.")
    }
    if rest.first == "_" { rest = rest.dropFirst() }
    self.method = method == "ANY" ? nil : HTTPRequest.Method(String(method))
    var (status, pathExtension) = (200, "")
    // A status or an extension, or one and then the other.
    if let part = Self.takeSuffix(&rest) {
      if let code = Self.status(part) {
        status = code
      } else {
        pathExtension = String(part)
        var before = rest
        if let part = Self.takeSuffix(&before), let code = Self.status(part) {
          status = code
          rest = before
        }
      }
    }
    self.status = status
    self.pathExtension = pathExtension
    let mark = rest.firstIndex(of: "?") ?? rest.endIndex
    let own = rest[..<mark]
    var wildcards = 0
    var path = ""
    for name in folders.map({ $0[...] }) + (own.isEmpty ? [] : Self.segments(own)) {
      path += "/" + (try Self.segment(name, &wildcards))
    }
    self.wildcards = wildcards
    hasQuery = mark < rest.endIndex
    pattern = (path.isEmpty ? "/" : path) + rest[mark...]
  }

  /// Why a name cannot be read.
  struct Failure: Error {
    let message: String
    init(_ message: String) { self.message = message }
  }

  private static func takeSuffix(_ rest: inout Substring) -> Substring? {
    guard let dot = rest.lastIndex(of: "."), !rest[dot...].contains("_"), !rest[dot...].contains("}") else {
      return nil
    }
    defer { rest = rest[..<dot] }
    return rest[rest.index(after: dot)...]
  }

  private static func status(_ text: Substring) -> Int? {
    guard text.utf8.count == 3, let code = Int(text), (200...999).contains(code) else { return nil }
    return code
  }

  /// Splits at single underscores; two are one.
  private static func segments(_ text: Substring) -> [Substring] {
    text.replacing("__", with: "\0").split(separator: "_", omittingEmptySubsequences: false)
      .map { $0.replacing("\0", with: "_")[...] }
  }

  /// A segment as a pattern has it: what means something there is percent-encoded.
  private static func segment(_ name: Substring, _ wildcards: inout Int) throws(Failure) -> String {
    if name.hasPrefix("{"), name.hasSuffix("}") {
      let inner = name.dropFirst().dropLast()
      guard let first = inner.first, first.isASCII, first.isLetter,
        inner.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
      else {
        throw Failure("\"\(name)\" is not a valid segment name: put letters and digits between the braces, as in {id}.")
      }
      wildcards += 1
      return ":" + inner
    }
    return String(name).replacing("*", with: "%2A").replacing(":", with: "%3A").replacing("(", with: "%28").replacing(
      ")", with: "%29"
    )
    .replacing("#", with: "%23")
  }
}
