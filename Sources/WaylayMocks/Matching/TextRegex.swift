/// A regular expression, compiled at initialization; `problem` has the compiler's error.
///
/// `NSRegularExpression` rather than `Regex`, because it is documented to be safe to use from any thread and `Regex` is
/// not `Sendable`.
struct TextRegex: Sendable, CustomStringConvertible {
  let pattern: String
  let names: [String]
  let problem: MockError?
  private let compiled: NSRegularExpression?

  init(_ pattern: String) {
    self.pattern = pattern
    do {
      compiled = try NSRegularExpression(pattern: pattern)
      problem = nil
    } catch {
      compiled = nil
      problem = MockError(
        .invalidRegex, "\"\(pattern)\" is not a regular expression (ICU syntax): check its brackets and escapes.",
        underlying: error)
    }
    names = compiled == nil ? [] : Self.names(in: pattern)
  }

  var description: String { "/\(pattern)/" }

  /// Whether the expression matches in `text`; adds the values of its named groups.
  func matches(_ text: String, whole isWhole: Bool = false, _ parameters: inout [String: String]) -> Bool {
    let all = NSRange(text.startIndex..., in: text)
    guard let found = match(in: text, all, isWhole), !isWhole || found.range == all else { return false }
    for name in names {
      if let range = Range(found.range(withName: name), in: text) { parameters[name] = String(text[range]) }
    }
    return true
  }

  func matches(_ text: String) -> Bool { match(in: text, NSRange(text.startIndex..., in: text), false) != nil }

  /// The first match. Matching may take time exponential in the length of the text: the search ends without a match
  /// after a number of steps far above that length, which takes a fraction of a second.
  private func match(in text: String, _ range: NSRange, _ isWhole: Bool) -> NSTextCheckingResult? {
    var (found, left): (NSTextCheckingResult?, Int) = (nil, range.length + 500)
    compiled?.enumerateMatches(
      in: text, options: isWhole ? [.anchored, .reportProgress] : .reportProgress, range: range
    ) { match, _, stop in
      (found, left) = (match, left - 1)
      if match != nil || left < 0 { stop.pointee = true }
    }
    return found
  }

  /// The names of the groups `(?<name>…)`.
  private static func names(in pattern: String) -> [String] {
    pattern.matches(of: #/\(\?<([A-Za-z][A-Za-z0-9]*)>/#).map { String($0.1) }
  }
}
