import Foundation

/// Reads a query word by word. It looks at each character a few times at most.
struct QueryReader {
  private typealias Failure = Inspector.QueryError
  private static let mostTerms = 64
  private static let keys = [
    "host", "status", "method", "type", "duration", "size", "body", "url", "header", "error", "source", "state",
    "phase",
  ]

  private let text: [Character]
  private var index = 0

  init(_ text: String) {
    self.text = Array(text)
  }

  mutating func terms() throws(Inspector.QueryError) -> [Inspector.Query.Term] {
    var terms: [Inspector.Query.Term] = []
    while true {
      while index < text.count, text[index].isWhitespace { index += 1 }
      guard index < text.count else { return terms }
      guard terms.count < Self.mostTerms else {
        throw Failure(at: index, "the query has more than \(Self.mostTerms) words")
      }
      terms.append(try term())
    }
  }

  private mutating func term() throws(Inspector.QueryError) -> Inspector.Query.Term {
    let start = index
    let isNegated = text[index] == "-" && index + 1 < text.count && !text[index + 1].isWhitespace
    if isNegated { index += 1 }
    let word = index
    while index < text.count, !text[index].isWhitespace, text[index] != ":", text[index] != "\"" { index += 1 }
    let key = String(text[word..<index])
    // A URL is no word of ours, and neither is what stands in quotes.
    guard index < text.count, text[index] == ":", !key.isEmpty, !isNext("//", at: index + 1) else {
      index = word
      return Inspector.Query.Term(isNegated: isNegated, condition: .text(Needle(try value(at: start))))
    }
    let name = key.lowercased()
    guard Self.keys.contains(name) else {
      let known = Self.keys.joined(separator: ", ")
      throw Failure(
        at: word, "\"\(shown(key)):\" is not known. Write one of \(known), or put the text into quotes to look for it")
    }
    index += 1
    let place = index
    let value = try value(at: place)
    return Inspector.Query.Term(isNegated: isNegated, condition: try condition(name, value, place))
  }

  /// A word, or a text in quotes.
  private mutating func value(at place: Int) throws(Inspector.QueryError) -> String {
    guard index < text.count, !text[index].isWhitespace else {
      throw Failure(at: index, "a value is missing here. Write it without a space before it")
    }
    guard text[index] == "\"" else {
      let start = index
      while index < text.count, !text[index].isWhitespace { index += 1 }
      return String(text[start..<index])
    }
    let quote = index
    index += 1
    var value = ""
    while index < text.count, text[index] != "\"" {
      if text[index] == "\\", index + 1 < text.count, text[index + 1] == "\"" || text[index + 1] == "\\" { index += 1 }
      value.append(text[index])
      index += 1
    }
    guard index < text.count else {
      throw Failure(at: quote, "the quote that begins here has no end. Write \" after the text")
    }
    index += 1
    guard !value.isEmpty else {
      throw Failure(at: quote, "there is nothing between these quotes. Write what to look for")
    }
    return value
  }

  private func isNext(_ expected: String, at index: Int) -> Bool {
    text[min(index, text.count)...].starts(with: expected)
  }

  private func shown(_ text: some StringProtocol) -> String { text.count > 40 ? text.prefix(40) + "…" : String(text) }

  // MARK: What a value asks for

  private func condition(
    _ key: String, _ value: String, _ place: Int
  ) throws(Inspector.QueryError) -> Inspector.Query.Condition {
    let values = value.split(separator: ",").map(String.init)
    guard !values.isEmpty else {
      throw Failure(at: place, "there is nothing between these commas. Write what to look for")
    }
    switch key {
    case "host": return .host(values.map { HostGlob($0) })
    case "method": return .method(values.map { $0.uppercased() })
    case "type": return .type(values.map { Needle($0) })
    case "source": return .source(values.map { $0.lowercased() })
    case "state": return .state(values.map { $0.lowercased() })
    case "phase": return .phase(values.map { $0.lowercased() })
    case "status":
      var ranges: [ClosedRange<Int>] = []
      for value in values { ranges.append(try status(value, place)) }
      return .status(ranges)
    case "duration":
      return .duration(
        try comparison(
          value, place, ["us": 0.001, "ms": 1, "s": 1000, "min": 60_000], unit: "ms", example: "duration:>500ms"))
    case "size":
      return .size(
        try comparison(
          value, place, ["b": 1, "kb": 1024, "mb": 1_048_576, "gb": 1_073_741_824], unit: "b", example: "size:>100kb"))
    case "url": return .url(Needle(value))
    case "header": return .header(Needle(value))
    case "error": return .error(Needle(value))
    default: return .body(Needle(value))
    }
  }

  private func status(_ value: String, _ place: Int) throws(Inspector.QueryError) -> ClosedRange<Int> {
    let failure = Failure(
      at: place, "\"\(shown(value))\" is not a status. Write status:404, status:4xx, status:400-499 or status:>=400")
    func number(_ text: some StringProtocol) throws(Inspector.QueryError) -> Int {
      guard text.count <= 3, text.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(text) else {
        throw failure
      }
      return number
    }
    if value.count == 3, value.lowercased().hasSuffix("xx") {
      let first = try number(value.prefix(1))
      return first * 100...first * 100 + 99
    }
    if value.hasPrefix(">=") { return try number(value.dropFirst(2))...999 }
    if value.hasPrefix("<=") { return 1...max(1, try number(value.dropFirst(2))) }
    if value.hasPrefix(">") { return min(try number(value.dropFirst()) + 1, 999)...999 }
    if value.hasPrefix("<") { return 1...max(1, try number(value.dropFirst()) - 1) }
    let ends = value.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else {
      let status = try number(value)
      return status...status
    }
    let (first, last) = (try number(ends[0]), try number(ends[1]))
    guard first <= last else { throw failure }
    return first...last
  }

  private func comparison(
    _ value: String, _ place: Int, _ units: [String: Double], unit: String, example: String
  ) throws(Inspector.QueryError) -> Inspector.Query.Comparison {
    var (order, rest) = (Inspector.Query.Comparison.Order.notLess, value.lowercased()[...])
    let signs: [(String, Inspector.Query.Comparison.Order)] = [
      (">=", .notLess), ("<=", .notMore), (">", .more), ("<", .less), ("=", .equal),
    ]
    if let (sign, meaning) = signs.first(where: { rest.hasPrefix($0.0) }) {
      (order, rest) = (meaning, rest.dropFirst(sign.count))
    }
    let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let name = rest.dropFirst(digits.count)
    guard digits.count <= 18, let number = Double(digits), let factor = units[name.isEmpty ? unit : String(name)] else {
      let known = units.sorted { $0.value < $1.value }.map(\.key).joined(separator: ", ")
      throw Failure(at: place, "\"\(shown(value))\" is not an amount. Write \(example); the units are \(known)")
    }
    return Inspector.Query.Comparison(order: order, value: number * factor)
  }
}
