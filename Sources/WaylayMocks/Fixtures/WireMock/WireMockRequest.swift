import Foundation
import HTTPTypes

/// The `request` of a mapping.
struct WireMockRequest {
  private let object: FixtureObject
  private let origin: String
  private let ignoring: Set<String>

  init(_ object: FixtureObject, origin: String, ignoring: Set<String>) {
    self.object = object
    self.origin = origin
    self.ignoring = ignoring
  }

  /// The pattern, or `nil` for one with a mistake, which is noted.
  var pattern: RequestPattern? {
    let name = object.string("method")?.uppercased()
    let method = name.flatMap { $0 == "ANY" ? nil : HTTPRequest.Method($0) }
    if let name, name != "ANY", method == nil { object.note("method", "\"\(name)\" is not a valid method.") }
    var conditions: [RequestMatcher] = []
    let url = url(&conditions)
    for member in object.members("queryParameters") {
      if let condition = text(member) { conditions.append(condition.matcher(ofQuery: member.name)) }
    }
    for member in object.members("headers") {
      if let condition = text(member) { conditions.append(condition.matcher(ofHeader: member.name)) }
    }
    if let credentials = object.object("basicAuthCredentials") {
      let (user, password) = (credentials.string("username"), credentials.string("password"))
      credentials.finish(ignoring: ignoring)
      let token = Data("\(user ?? ""):\(password ?? "")".utf8).base64EncodedString()
      conditions.append(.header("Authorization", "Basic \(token)"))
    }
    for node in object.elements("bodyPatterns") ?? [] {
      guard let inner = FixtureObject(node, in: object.file, entry: object.entry, object.problems) else { continue }
      if let condition = WireMockBody(inner, ignoring: ignoring).matcher { conditions.append(condition) }
    }
    object.finish(ignoring: ignoring)
    guard let url else { return nil }
    return conditions.reduce(RequestPattern(method, url)) { $0.where($1) }
  }

  private func text(_ member: JSONNode.Member) -> WireMockText? {
    guard let inner = FixtureObject(member.node, in: object.file, entry: object.entry, object.problems) else {
      return nil
    }
    let condition = WireMockText(inner)
    inner.finish(ignoring: ignoring)
    if condition == nil {
      inner.problems.note(inner.file, line: member.line, entry: inner.entry, "\"\(member.name)\" has no condition.")
    }
    return condition
  }

  private func url(_ conditions: inout [RequestMatcher]) -> URLPattern? {
    let keys = ["url", "urlPattern", "urlPath", "urlPathPattern", "urlPathTemplate"].filter { object.node[$0] != nil }
    if keys.count > 1 {
      object.note(keys[1], "the request has \(keys.joined(separator: " and ")): use only one.")
    }
    var any = URLPattern.anyPath(of: origin)
    if let url = object.string("url") {
      guard let pattern = URLPattern(literally: url, origin: origin, isWhole: true) else { return invalid("url", url) }
      any = pattern
    }
    if let path = object.string("urlPath") {
      guard let pattern = URLPattern(literally: path, origin: origin, isWhole: false) else {
        return invalid("urlPath", path)
      }
      any = pattern
    }
    if let template = object.string("urlPathTemplate") {
      any = URLPattern(
        origin
          + template.replacing("*", with: "%2A").replacing(":", with: "%3A").replacing("{", with: ":").replacing(
            "}", with: ""))
    }
    for (key, isPath) in [("urlPattern", false), ("urlPathPattern", true)] {
      guard let text = object.string(key) else { continue }
      let regex = TextRegex(WireMockText.whole(text))
      if let problem = regex.problem { object.note(key, problem.message) }
      conditions.append(
        .predicate("\(isPath ? "path" : "path and query") matching /\(text)/") { request in
          regex.matches(isPath ? request.url.writtenPath : request.url.target)
        })
    }
    if let problem = any.problem { object.note(keys.first ?? "url", problem.message) }
    return any
  }

  private func invalid(_ key: String, _ text: String) -> URLPattern? {
    object.note(key, "\"\(text)\" is not a URL path: begin it with a slash.")
    return nil
  }
}

extension URL {
  /// The path as it was written.
  fileprivate var writtenPath: String {
    let path = path(percentEncoded: true)
    return path.isEmpty ? "/" : path
  }

  /// Path and query as they were written.
  fileprivate var target: String { writtenPath + (query(percentEncoded: true).map { "?" + $0 } ?? "") }
}

extension URLPattern {
  /// Every path of an origin.
  fileprivate static func anyPath(of origin: String) -> URLPattern {
    origin.isEmpty ? .any : URLPattern(origin + "/**")
  }

  /// A path and, for a whole, exactly its query, in which nothing means anything but itself; `nil` for what is no path.
  fileprivate init?(literally text: String, origin: String, isWhole: Bool) {
    guard text.hasPrefix("/"), let url = URL(string: "http://host" + text) else { return nil }
    self = origin.isEmpty ? .any : URLPattern(origin + "/")
    let parsed = ParsedURL(url)
    path = PathPattern(literally: parsed.segments)
    query = isWhole ? QueryPattern(QueryItems(parsed.query ?? ""), isExact: true) : nil
  }
}
