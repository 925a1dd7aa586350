import Driver
import Foundation

@testable import WaylayHAR

@main
enum Target {
  static func main() { fuzz(test) }

  /// An archive is read, written, and read again: it says the same. What is secret is taken out once and for all.
  static func archive(_ data: Data) {
    guard let archive = try? HAR(data: data) else { return }
    guard let again = try? HAR(data: archive.data()) else { fatalError("what was written cannot be read") }
    require((try? HAR(data: again.data(isPretty: false))) == again, "what was written says something else")
    guard let redacted = try? Redaction.standard.redacted(again) else { fatalError("unread bodies are kept") }
    require((try? Redaction.standard.redacted(redacted)) == redacted, "a second redaction changes something")
    guard let kept = try? HAR(data: redacted.data()) else { fatalError("what was redacted cannot be read") }
    require(kept.entries.count == again.entries.count, "an entry was lost")
    for entry in kept.entries.prefix(4) { command(entry.request) }
  }

  /// Entries are found in pieces of a file as they are in the whole.
  static func pieces(_ bytes: [UInt8], size: Int) {
    func entries(_ size: Int) -> [[UInt8]] {
      var (scanner, found, rest) = (EntryScanner(), [[UInt8]](), bytes[...])
      while !rest.isEmpty, scanner.place != .after {
        var piece = rest.prefix(size)
        rest = rest.dropFirst(size)
        while scanner.scan(&piece) { found.append(scanner.take()) }
      }
      return found
    }
    require(entries(size) == entries(max(bytes.count, 1)), "pieces of \(size) bytes hold other entries")
  }

  /// A command line is words for a shell, each what it was, and nothing else: no word ends early, none begins a command.
  static func command(_ request: HAR.Request) {
    let line = request.curlCommand(isMultiline: false)
    guard let words = ShellWords(line)?.words else { fatalError("no shell reads this: \(line)") }
    let commands = words.split(separator: .bar).map { $0.map(\.text) }
    require(commands.last?.first == Array("curl".utf8), "something else is run: \(line)")
    require(
      commands.count == 1 || commands.count == 2 && commands[0].first == Array("printf".utf8), "more is run: \(line)")
    guard let place = commands.last?.firstIndex(of: Array("--url".utf8)) else { fatalError("no URL: \(line)") }
    require(commands.last?[place + 1] == Array(request.url.utf8), "another URL: \(line)")
  }

  static func request(_ data: Data) -> HAR.Request {
    let parts = data.split(separator: 0, maxSplits: 4, omittingEmptySubsequences: false)
    func text(_ number: Int) -> String { number < parts.count ? String(decoding: parts[number], as: UTF8.self) : "" }
    let body = parts.count > 4 ? HAR.Body(Data(parts[4]), mediaType: text(3)) : nil
    return HAR.Request(
      method: text(0), url: text(1), headers: [HAR.Field(text(2), text(3)), HAR.Field("X", text(1))], body: body)
  }
}

/// The words of a line as a POSIX shell takes it apart, as far as it is written with quotes.
private struct ShellWords {
  enum Word: Equatable {
    case text([UInt8])
    case bar

    var text: [UInt8] { if case .text(let text) = self { text } else { [] } }
  }

  private(set) var words: [Word] = []

  /// `nil` for what has a meaning to a shell outside of quotes.
  init?(_ line: String) {
    let bytes = Array(line.utf8)
    var (index, word) = (0, [UInt8]?.none)
    func isPlain(_ byte: UInt8) -> Bool {
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || "-@.".utf8.contains(byte)
    }
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: " "):
        if let text = word { words.append(.text(text)) }
        word = nil
      case UInt8(ascii: "|"):
        guard word == nil else { return nil }
        words.append(.bar)
      case UInt8(ascii: "'"):
        guard let end = bytes[index...].firstIndex(of: byte) else { return nil }
        word = (word ?? []) + bytes[index..<end]
        index = end + 1
      case UInt8(ascii: "\\"):
        guard index < bytes.count, bytes[index] == UInt8(ascii: "'") else { return nil }
        word = (word ?? []) + [bytes[index]]
        index += 1
      case UInt8(ascii: "\""):
        let call = Array("$(printf '".utf8)
        guard bytes[index...].starts(with: call) else { return nil }
        index += call.count
        while index + 4 <= bytes.count, bytes[index] == UInt8(ascii: "\\"),
          let byte = UInt8(String(decoding: bytes[(index + 1)..<(index + 4)], as: UTF8.self), radix: 8)
        {
          word = (word ?? []) + [byte]
          index += 4
        }
        guard bytes[index...].starts(with: Array("')\"".utf8)) else { return nil }
        index += 3
      default:
        guard isPlain(byte) else { return nil }
        word = (word ?? []) + [byte]
      }
    }
    if let text = word { words.append(.text(text)) }
  }
}

/// One input: the first byte says what it is.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  guard let kind = bytes.first else { return 0 }
  let rest = Data(bytes.dropFirst())
  switch kind % 4 {
  case 0: Target.command(Target.request(rest))
  case 1: Target.pieces(Array(rest), size: Int(kind >> 2) + 1)
  default: Target.archive(rest)
  }
  return 0
}
