import Foundation
import TestOrigin

/// Answers that an archive may store, and those that it must not, or not as what they say they are.
extension Forge {
  /// An answer to one round of an exchange: it may be honest, and it may be of another version than the one before.
  mutating func archived(_ seed: UInt64, _ number: Int, _ round: Int, _ request: ScriptedOrigin.Request) -> Forgery {
    let page = Page(seed, number, version: round > 0 && dice.chance(25) ? round : 0)
    let directives = dice.pick([
      "max-age=1000", "max-age=1000", "max-age=1000", "max-age=1000, must-revalidate", "no-cache", "no-store",
      "max-age=0", "public",
      "max-age=99999999999999999999", "max-age=-1", "max-age=0, stale-while-revalidate=100, stale-if-error=100",
      "=,;\"",
    ])
    lines.append("Cache-Control: \(directives)")
    if directives.contains("while") { reply.note("asked behind") }
    let isTagged = dice.chance(75)
    if isTagged {
      lines.append("ETag: \(page.tag)")
    } else if dice.chance(50) {
      lines.append("ETag: " + dice.pick(["W/\(page.tag)", "\(page.version)garbage", "\"\(page.version)", ""]))
      // What is no tag may be taken for one: it names a version too.
      reply.version = page.version
    }
    let isDated = dice.chance(30)
    if isDated { lines.append("Last-Modified: Sun, 06 Nov 1994 08:49:3\(page.version % 10) GMT") }
    if dice.chance(8) { lines.append("Vary: \(dice.pick(["Accept-Language", "*", "X-Nothing, , ", "Range"]))") }
    if isTagged || isDated { reply.version = page.version }
    if dice.chance(5) || request["If-None-Match"]?.contains(page.tag) == true && dice.chance(70) {
      reply.note("not modified")
      reply.isWhole = false
      return answer(304, page.bytes)
    }
    if let range = request["Range"], dice.chance(80) {
      let holds = request["If-Range"].map { $0 == page.tag } ?? true
      // Another version's part in spite of If-Range, where its tag says so: without one, nobody can know.
      if holds || isTagged && dice.chance(15) { return part(range, of: page) }
    }
    return answer(dice.chance(70) ? 200 : status(), page.bytes)
  }

  /// A part, or what is said to be one (RFC 9110, section 14.4).
  private mutating func part(_ range: String, of page: Page) -> Forgery {
    reply.isWhole = false
    let total = page.bytes.count
    let text =
      range.split(separator: "=").last.map {
        $0.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
      } ?? []
    var start = text.first.flatMap { $0 } ?? max(0, total - (text.last.flatMap { $0 } ?? 0))
    var end = text.first.flatMap { $0 } == nil ? total : min(total - 1, text.last.flatMap { $0 } ?? .max) + 1
    guard start < end else {
      lines.append("Content-Range: bytes */\(total)")
      return answer(416, Data(), mayCode: false)
    }
    var bytes = page.part(start..<end)
    // All of it is a part as well.
    if bytes.count == total { reply.version = page.version }
    var claim = "bytes \(start)-\(end - 1)/\(total)"
    (reply.part, reply.total) = (start..<end, total)
    switch dice.roll(20) {
    case 0:
      reply.note("a part of something longer", .either, .malformed)
      let more = total + dice.roll(1...1_000)
      reply.total = more
      claim = "bytes \(start)-\(end - 1)/\(more)"
    case 1:
      reply.note("a part without a place")
      reply.part = nil
      return answer(206, bytes, mayCode: false)
    case 2:
      claim = dice.pick([
        "bytes", "bytes */\(total)", "bytes -/-", "cows 1-2/3", "bytes 1-2", "", "bytes \(start)-/\(total)",
        "bytes 9223372036854775807-9223372036854775807/*",
        "bytes 0-9223372036854775807/*", "bytes 0-9223372036854775806/9223372036854775807",
        "bytes 99999999999999999999-99999999999999999999/*",
        "bytes \(end)-\(start)/\(total)", "bytes 0-\(total)/\(total)", "bytes=\(start)-\(end - 1)/\(total)",
      ])
      reply.note("a part at \"\(claim)\"", .either, .malformed)
      if claim == "bytes 0-\(Int64.max - 1)/\(Int64.max)" { reply.longest = bytes }
      reply.version = nil
      reply.part = nil
    case 3:
      bytes = bytes.prefix(dice.roll(bytes.count))
      reply.note("a part that is shorter than it says", .either, .malformed)
    case 4:
      bytes = page.part(start..<total) + Data("more".utf8)
      reply.note("a part that is longer than it says", .either, .malformed)
    case 5:
      start = dice.roll(end)
      bytes = page.part(start..<end)
      claim = "bytes \(start)-\(end - 1)/\(total)"
      reply.note("another part than was asked for", .either, .malformed)
      reply.part = start..<end
    case 6:
      end = dice.roll(start + 1...total)
      bytes = page.part(start..<end)
      claim = "bytes \(start)-\(end - 1)/\(total)"
      reply.note("less than was asked for", .either, .malformed)
      reply.part = start..<end
    case 7:
      claim = "bytes \(start)-\(end - 1)/*"
      reply.total = nil
      reply.note("a part of nobody knows what", .either, .malformed)
    case 8:
      lines.append("Content-Type: multipart/byteranges; boundary=a")
      reply.note("many parts", .either, .malformed)
      reply.version = nil
      reply.part = nil
      return answer(
        206, Data("--a\r\nContent-Range: \(claim)\r\n\r\n".utf8) + bytes + Data("\r\n--a--\r\n".utf8), mayCode: false)
    default: reply.note("a part")
    }
    lines.append("Content-Range: \(claim)")
    return answer(206, Data(bytes), mayCode: false)
  }
}
