import Foundation

/// What the program prints: results to standard output, everything else to standard error.
///
/// Without a buffer, and not by `print`: that goes on forever when nobody reads any more.
enum Output {
  /// Nobody reads standard output any more: whoever did has had enough.
  struct Closed: Error {}

  /// Writes bytes to standard output.
  static func write(_ data: Data) throws {
    try data.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Foundation.write(STDOUT_FILENO, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count >= 0 {
          rest = rest.dropFirst(count)
        } else if errno == EPIPE {
          throw Closed()
        } else if errno != EINTR && errno != EAGAIN {
          throw ToolFailure(.files, "output", "standard output cannot be written: \(String(cString: strerror(errno))).")
        }
      }
    }
  }

  /// Writes a line for people: what a terminal would act on is not in it.
  static func line(_ text: String = "") throws { try write(Data((shown(text) + "\n").utf8)) }

  /// Writes a text as it is, source for example.
  static func text(_ text: String) throws { try write(Data(text.utf8)) }

  /// Writes one JSON object, with its keys in order.
  static func json(_ value: some Encodable) throws { try write(try encoded(value) + Data("\n".utf8)) }

  /// A value as JSON on one line.
  static func encoded(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    return try encoder.encode(value)
  }

  /// Says something to standard error; what nobody reads is lost.
  static func complain(_ text: String) {
    FileHandle.standardError.write(Data("waylay: \(shown(text))\n".utf8))
  }

  /// A text without what a terminal acts on, or shows in another order than it is.
  static func shown(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHostile) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { result.append(isHostile(scalar) ? "\u{FFFD}" : scalar) }
    return String(result)
  }

  private static func isHostile(_ scalar: Unicode.Scalar) -> Bool {
    if scalar == "\n" || scalar == "\t" { return false }
    // Marks that turn the direction of what follows.
    if (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value) { return true }
    return scalar.properties.generalCategory == .control
  }
}

/// A JSON object with one long list, written element by element: `{"entries":[…],"count":2}`.
struct JSONList {
  private var isFirst = true

  init(_ name: String) throws { try Output.text("{\"\(name)\":[") }

  mutating func append(_ element: some Encodable) throws {
    try Output.write((isFirst ? Data() : Data(",\n".utf8)) + Output.encoded(element))
    isFirst = false
  }

  /// Ends the object with what comes after the list.
  func end(_ rest: some Encodable) throws {
    let members = try Output.encoded(rest).dropFirst()
    try Output.write(Data((members.count > 1 ? "]," : "]").utf8) + members + Data("\n".utf8))
  }
}
