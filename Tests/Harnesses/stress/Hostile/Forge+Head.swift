import Foundation
import TestOrigin

extension Forge {
  /// The head as it goes on the wire.
  mutating func head() -> Data {
    if dice.chance(15) { interim() }
    var extra: [Data] = []
    if dice.chance(25) { extra = oddLines() }
    let first = statusLine()
    var head = Data((first + lineEnd).utf8)
    // Among the others, not behind them all.
    let place = lines.isEmpty ? 0 : dice.roll(lines.count)
    for (index, line) in lines.enumerated() {
      if index == place { for line in extra { head += line + Data(lineEnd.utf8) } }
      head += Data((line + lineEnd).utf8)
    }
    head += Data(lineEnd.utf8)
    if dice.chance(2) {
      reply.note("closed in the head", .wrong, .malformed)
      head = Data(head.prefix(dice.roll(head.count - 1)))
      wire = Data()
      reply.isWhole = false
      reply.version = nil
      hasExcess = false
      reply.script.end = dice.pick([.close, .reset])
    }
    return head
  }

  private mutating func statusLine() -> String {
    let status = reply.status
    guard dice.chance(12) else { return "HTTP/1.1 \(status) Fine" }
    switch dice.roll(12) {
    case 0: return "HTTP/1.1 \(status)"
    case 1: return "HTTP/1.1 \(status) "
    case 2:
      reply.note("HTTP/1.0")
      return "HTTP/1.0 \(status) Fine"
    case 3:
      reply.note("a long reason")
      return "HTTP/1.1 \(status) " + String(repeating: "why ", count: 2_000)
    case 4: return "HTTP/1.1 \(status) Schön 好"
    case 5: return odd("HTTP/1.1  \(status) Fine", .either)
    case 6: return odd("JUNK")
    case 7: return odd("HTTP/1.1 2x0 Fine")
    case 8: return odd("HTTP/1.1 20 Fine")
    case 9: return odd("HTTP/1.1 2000 Fine")
    case 10: return odd("HTTP/1.1 Fine")
    default:
      return odd(dice.pick(["HTTP/1.1 000 Fine", "HTTP/1.1 -200 Fine", "HTTP/1.1 099 Fine", "HTTP/7.7 200 Fine"]))
    }
  }

  private mutating func odd(_ line: String, _ verdict: Forgery.Verdict = .wrong) -> String {
    reply.note("the line \"\(line)\"", verdict, .malformed)
    if case .keep = reply.script.end { reply.script.end = .close }
    if verdict == .wrong {
      reply.isWhole = false
      reply.version = nil
    }
    return line
  }

  private mutating func interim() {
    let fields = "X-Interim: leaked\r\nLink: </a>; rel=preload\r\nETag: \"interim\"\r\nCache-Control: max-age=9\r\n"
    switch dice.roll(6) {
    case 0: before = Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)
    case 1: before = Data("HTTP/1.1 103 Early Hints\r\n\(fields)\r\n".utf8)
    case 2: before = Data(String(repeating: "HTTP/1.1 102 Processing\r\n\(fields)\r\n", count: dice.roll(2...12)).utf8)
    case 3: before = Data("HTTP/1.1 199 Odd\r\n\(fields)Content-Encoding: gzip\r\n\r\n".utf8)
    case 4:
      before = Data("HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
      reply.note("a 103 with a length", .either, .malformed)
    default:
      before = Data(String(repeating: "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n", count: 80).utf8)
      reply.note("80 interim responses", .either, .tooMuch)
    }
    reply.note("interim responses")
  }

  private mutating func oddLines() -> [Data] {
    func text(_ lines: String...) -> [Data] { lines.map { Data($0.utf8) } }
    switch dice.roll(15) {
    case 0:
      let count = dice.roll(1...80)
      return (0..<count).map { Data("X-Many-\($0): \($0)".utf8) }
    case 1:
      reply.note("more lines than anybody needs", .either, .tooMuch)
      return (0..<dice.roll(300...1_500)).map { Data("X-Many-\($0): \(String(repeating: "v", count: 40))".utf8) }
    case 2: return text("X-Long: " + String(repeating: "long ", count: dice.roll(1...1_600)))
    case 3:
      reply.note("a line without an end", .either, .tooMuch)
      return text("X-Long: " + String(repeating: "longer ", count: 30_000))
    case 4:
      reply.note("a line without a colon", .either, .malformed)
      return text("nothing of the kind")
    case 5:
      reply.note("a zero byte", .either, .malformed)
      return [Data("X-Zero: a\0b".utf8)]
    case 6: return text("X-Folded: one", "  two", "\tthree")
    case 7: return [Data("X-Latin: caf".utf8) + Data([0xE9, 0xFF, 0x80])]
    case 8: return text("X-Empty:", "X-Empty: ", ":", "").dropLast(2)
    case 9:
      reply.note("names that are none", .either, .malformed)
      return text(": nameless", "X Space: a", "X-Blank : b", "(x): c", "é: d")
    case 10:
      return text(
        "Set-Cookie: a=b; Path=/nowhere", "Set-Cookie: =; ;;;=", "Set-Cookie: c",
        "Set-Cookie: d=e; Expires=never; Max-Age=99999999999999999999",
        "Set-Cookie: f=g; Domain=example.com", "Set-Cookie: h=\"\u{1}\"; Path=/nowhere")
    case 11:
      reply.note("bare line feeds", .either, .malformed)
      lineEnd = "\n"
      return []
    case 12: return text("Connection: keep-alive", "Keep-Alive: timeout=0, max=-1")
    case 13:
      return text(
        "Trailer: X-Trailer", "Vary: X-Nothing", "Age: 99999999999999999999", "Expires: 0", "Last-Modified: -")
    default:
      return text(
        "Date: Thu, 99 Foo 0000 99:99:99 GMT", "Warning: 999", "Content-Range: bytes 0-0/0", "Accept-Ranges: none")
    }
  }
}
