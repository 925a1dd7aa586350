import Foundation

/// The search language of the page (`3-query.js`), for exchanges: terms that must all match.
package struct ExchangeQuery: Sendable {
  private typealias Test = @Sendable (Inspector.Exchange) -> Bool

  /// The invalid terms, each with the reason. They match everything.
  package private(set) var mistakes: [String] = []
  private var tests: [Test] = []

  package init(_ text: String) {
    // An unterminated quote extends to the end of the text.
    let word = #/(-(?=\S))?(?:([A-Za-z]+):(?!//)("(?:\\["\\]|[^"])*"?|\S*)|("(?:\\["\\]|[^"])*"?|\S+))/#
    for match in text.matches(of: word) {
      var (term, value) = (String(match.2 ?? "").folded, String(match.3 ?? match.4 ?? "").folded)
      // A host with a port, or the beginning of a URL.
      if !Self.terms.contains(term), match.2 != nil, value.wholeMatch(of: #/(/.*|\d+(/.*)?)?/#) != nil {
        (term, value) = ("", "\(term):\(value)")
      }
      if value.hasPrefix("\"") {
        value = String(value.dropFirst()).replacing(#/\\(["\\])|"/#) { $0.1 ?? "" }
      }
      if value.isEmpty, term.isEmpty || Self.terms.contains(term) { continue }
      if ["OR", "AND", "NOT", "||", "&&", "|"].contains(match.0) {
        mistakes.append("\(match.0): all words must match; commas separate alternatives, as in status:404,503")
      } else if let test = Self.test(term, of: value) {
        let isNegated = match.1 != nil
        tests.append { test($0) != isNegated }
      } else {
        mistakes.append("\(match.0): " + (Self.hints[term] ?? "there is no term \(term)"))
      }
    }
  }

  /// Whether an exchange matches.
  package func matches(_ exchange: Inspector.Exchange) -> Bool { tests.allSatisfy { $0(exchange) } }

  private static let hints = [
    "status": "write status:404, status:4xx, status:400-499 or status:>=400",
    "duration": "write duration:>500ms; the units are us, ms, s and min",
    "size": "write size:>100kb; the units are b, kb, mb and gb",
  ]
  private static let times = ["us": 0.001, "ms": 1, "s": 1000, "min": 60_000]
  private static let sizes = ["b": 1, "kb": 1024, "mb": 1_048_576, "gb": 1_073_741_824.0]
  private static let lists: Set = ["host", "method", "type", "source", "state", "phase", "status"]
  private static let terms = lists.union(["duration", "size", "body", "url", "header", "error"])

  /// The test of a term, which passes if one of its values matches; `nil` for an invalid term.
  private static func test(_ term: String, of value: String) -> Test? {
    guard lists.contains(term) else { return test(term, value) }
    let values = value.split(separator: ",").map { test(term, String($0)) }
    let tests = values.compactMap { $0 }
    guard tests.count == values.count else { return nil }
    return { exchange in tests.isEmpty || tests.contains { $0(exchange) } }
  }

  private static func test(_ term: String, _ value: String) -> Test? {
    let part = Data(value.utf8)
    switch term {
    case "": return { $0.texts.contains { $0.holds(part) } }
    case "host": return { isHost($0.host, value) }
    case "status": return status(value).map { range -> Test in { range.contains($0.entry.response.status) } }
    case "method": return { $0.request.method.folded == value }
    case "type": return { $0.mediaType.holds(part) }
    case "duration": return comparison(value, times, "ms").map { test -> Test in { test($0.entry.time) } }
    case "size":
      return comparison(value, sizes, "b").map { test -> Test in { test(Double($0.entry.response.body.size)) } }
    case "body": return { [$0.entry.response.body.data, $0.request.body?.data ?? Data()].contains { $0.holds(part) } }
    case "url": return { $0.request.url.holds(part) }
    case "header": return { $0.fieldTexts.contains { $0.holds(part) } }
    case "error": return { $0.failure?.message.holds(part) ?? false }
    case "source": return { $0.source?.description.folded == value }
    case "state": return { $0.state.description.folded == value }
    case "phase": return { $0.failure?.phase?.description.folded == value }
    default: return nil
    }
  }

  /// A host and its subdomains; a star matches any text.
  private static func isHost(_ host: String, _ pattern: String) -> Bool {
    let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count > 1 else { return host == pattern || host.hasSuffix("." + pattern) }
    guard host.hasPrefix(parts[0]) else { return false }
    var rest = host.dropFirst(parts[0].count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return rest.hasSuffix(parts[parts.count - 1])
  }

  private static func status(_ text: String) -> ClosedRange<Int>? {
    guard let match = text.wholeMatch(of: #/(\d)xx|(>=|<=|>|<)?(\d{1,3})(?:-(\d{1,3}))?/#) else { return nil }
    if let digit = match.1.flatMap({ Int($0) }) { return digit * 100...digit * 100 + 99 }
    guard let first = match.3.flatMap({ Int($0) }) else { return nil }
    switch (match.2, match.4.flatMap { Int($0) }) {
    case (nil, let last): return first <= last ?? first ? first...(last ?? first) : nil
    case (">="?, nil): return first...999
    case (">"?, nil): return min(first + 1, 999)...999
    case ("<="?, nil): return 1...max(1, first)
    case ("<"?, nil): return 1...max(1, first - 1)
    default: return nil
    }
  }

  /// `>500ms`, `<=2s`, `100kb`: a comparison of numbers, "not less" by default.
  private static func comparison(
    _ text: String, _ units: [String: Double], _ unit: String
  ) -> (@Sendable (Double) -> Bool)? {
    guard let match = text.wholeMatch(of: #/(>=|<=|>|<|=)?(\d+\.?\d*|\.\d+)([a-z]*)/#), let number = Double(match.2),
      let factor = units[match.3.isEmpty ? unit : String(match.3)]
    else { return nil }
    let bound = number * factor
    switch match.1 {
    case ">": return { $0 > bound }
    case "<": return { $0 < bound }
    case "<=": return { $0 <= bound }
    case "=": return { $0 == bound }
    default: return { $0 >= bound }
    }
  }
}

extension Data {
  /// Whether the data contains `part`, which is in lower case; the case of ASCII letters is ignored.
  fileprivate func holds(_ part: Data) -> Bool { part.isEmpty || Data(map(\.lowercased)).range(of: part) != nil }
}

extension String {
  /// With ASCII letters in lower case: only these have a case in queries.
  fileprivate var folded: String { String(decoding: utf8.map(\.lowercased), as: UTF8.self) }

  fileprivate func holds(_ part: Data) -> Bool { Data(utf8).holds(part) }
}

extension Inspector.Exchange {
  fileprivate var fieldTexts: [String] {
    (request.headers + entry.response.headers).flatMap { [$0.name, $0.value] }
  }

  fileprivate var mediaType: String {
    let body = entry.response.body.mediaType
    return body.isEmpty ? entry.response.headers.first { $0.name.folded == "content-type" }?.value ?? "" : body
  }

  /// The texts that free-text terms search.
  fileprivate var texts: [String] {
    [
      request.method, request.url, request.httpVersion, entry.response.statusText, entry.response.httpVersion,
      entry.serverAddress ?? "", failure?.message ?? "", entry.comment ?? "",
    ] + fieldTexts
  }

  /// The host of the URL, which need not be valid, without its port.
  fileprivate var host: String {
    String(request.url.firstMatch(of: #/^[^:]+://(?:[^/?\#]*@)?([^/?\#]*?)(?::\d*)?(?:[/?\#]|$)/#)?.1 ?? "").folded
  }
}
