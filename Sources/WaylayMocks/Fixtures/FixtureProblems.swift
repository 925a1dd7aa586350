/// What is wrong with the files of one load, gathered so that all of it is said at once.
final class FixtureProblems {
  private(set) var messages: [String] = []

  /// Notes a mistake.
  ///
  /// - Parameters:
  ///   - file: The file's name.
  ///   - line: The line in it, from 1; `nil` for the file itself.
  ///   - entry: Which of several entries it is in.
  ///   - message: What is wrong and what to do.
  func note(_ file: String, line: Int? = nil, entry: String? = nil, _ message: String) {
    let line = line.map { $0 > 0 ? ", line \($0)" : "" } ?? ""
    messages.append("\(file)\(line)\(entry.map { ", \($0)" } ?? ""): \(message)")
  }

  /// Throws what was noted, if anything was.
  func check(at location: MockSourceLocation) throws(MockError) {
    guard let first = messages.first else { return }
    throw MockError(
      .invalidFixture,
      messages.count == 1
        ? first : "\(messages.count) mistakes in fixtures:\n" + messages.map { "- " + $0 }.joined(separator: "\n"),
      location: location)
  }
}
