import Foundation
import TestOrigin

extension Forge {
  /// Says how long the message is, and is as long or not (RFC 9112, section 6.3).
  mutating func frame() {
    if isBodyless { return frameNothing() }
    switch dice.roll(100) {
    case ..<30: length()
    case ..<45: chunks()
    case ..<55: close()
    case ..<70: lyingLength()
    case ..<78: unreadableLength()
    case ..<94: brokenChunks()
    default: transferCoding()
    }
  }

  private mutating func end(_ choices: [ScriptedOrigin.Script.End]) {
    reply.script.end = dice.pick(choices)
  }

  // MARK: What is right

  private mutating func length() {
    lines.append("Content-Length: \(wire.count)")
    switch dice.roll(10) {
    case 0:
      reply.note("closed after the end")
      reply.script.end = .close
    case 1:
      // What has come may be lost with the connection.
      reply.note("reset after the end", .either, .lost)
      reply.script.end = .reset
    case 2:
      reply.note("bytes after the end")
      excess()
    default: reply.note("a length")
    }
  }

  /// Bytes that came with an answer must not be taken for the next one. Those that come after the next request has gone
  /// out look like the answer to it, for any reader (RFC 9112, section 11.1): so only what the network carries in
  /// one piece has any.
  private static let largestWithExcess = 8_000

  private mutating func excess() {
    guard wire.count <= Self.largestWithExcess else { return reply.note("which is too large for that") }
    hasExcess = true
    // An answer that nobody asked for: it must not be taken for that to the next request.
    wire.append(
      dice.chance(70)
        ? Data("HTTP/1.1 200 OK\r\nContent-Length: 6\r\nCache-Control: max-age=1000\r\n\r\npoison".utf8)
        : Data("poison".utf8))
  }

  private mutating func chunks() {
    lines.append("Transfer-Encoding: \(dice.pick(["chunked", "Chunked", " chunked "]))")
    switch dice.roll(8) {
    case 0:
      reply.note("chunks beside a length", .either, .malformed)
      lines.append("Content-Length: \(dice.pick([0, 1, wire.count, wire.count + 10, 1 << 40]))")
      wire = chunked(wire)
    case 1:
      reply.note("trailers")
      wire = chunked(wire, trailers: ["X-Trailer: 1", "X-Exchange: trailer", "Content-Length: 3"])
    case 2:
      reply.note("chunk extensions")
      wire = chunked(wire, extension: ";name=value;other=\"a;b\"")
    case 3:
      reply.note("bytes after the chunks")
      wire = chunked(wire)
      excess()
    case 4:
      reply.note("chunks, closed")
      wire = chunked(wire)
      reply.script.end = .close
    default:
      reply.note("chunks")
      wire = chunked(wire)
    }
  }

  private mutating func close() {
    lines.append("Connection: close")
    if dice.chance(80) {
      reply.note("until the end of the connection")
      reply.script.end = .close
    } else {
      reply.note("until the connection is reset", .wrong, .lost)
      reply.script.end = .reset
      reply.isWhole = false
    }
  }

  // MARK: What is not

  private mutating func lyingLength() {
    switch dice.roll(4) {
    case 0, 1:
      reply.isWhole = false
      let more = dice.pick([1, 2, 100, 1 << 20, 1 << 31, 1 << 40, Int.max - wire.count])
      lines.append("Content-Length: \(wire.count + more)")
      reply.note("\(more) bytes short", .wrong, .lost)
      // Who collects a body may refuse what is too large before it has come.
      if more > 1 << 29 { reply.codes.insert(.dataLengthExceedsMaximum) }
      end([.close, .reset])
    case 2:
      // Of what is no gzip a few bytes are to libcurl a stream that is cut off.
      guard wire.count > 1, wire.count <= Self.largestWithExcess, reply.body == wire, reply.verdict != .wrong else {
        return length()
      }
      let length = dice.roll(wire.count)
      lines.append("Content-Length: \(length)")
      reply.note("\(wire.count - length) bytes too many")
      reply.body = Data(reply.body.prefix(length))
      reply.version = nil
      hasExcess = true
    default:
      reply.isWhole = false
      let cut = dice.roll(wire.count + 1)
      lines.append("Content-Length: \(wire.count + 1)")
      wire = Data(wire.prefix(cut))
      reply.note("cut at \(cut)", .wrong, .lost)
      end([.close, .reset])
    }
  }

  private mutating func unreadableLength() {
    // Who reads on until the end has to see that it comes.
    reply.script.end = .close
    switch dice.roll(10) {
    case 0: refuse(["Content-Length: -1"])
    case 1: refuse(["Content-Length: 99999999999999999999"])
    case 2: refuse(["Content-Length: \(wire.count)x"])
    case 3: refuse(["Content-Length: 0x10"])
    case 4: refuse(["Content-Length: \(wire.count)", "Content-Length: \(wire.count + 1)"])
    case 5: refuse(["Content-Length: \(wire.count), \(wire.count + 1)"])
    case 6: refuse(["Content-Length: "])
    case 7: refuse(["Content-Length: +\(wire.count)"])
    case 8:
      // The same number again may be taken for one (RFC 9112, section 6.3).
      lines += ["Content-Length: \(wire.count)", "Content-Length: \(wire.count)"]
      reply.note("a length, twice", .either, .malformed)
    default:
      lines.append("Content-Length: \(wire.count), \(wire.count)")
      reply.note("a length, twice in one line", .either, .malformed)
    }
  }

  private mutating func refuse(_ lengths: [String]) {
    lines += lengths
    reply.isWhole = false
    reply.version = nil
    reply.note(lengths.joined(separator: " and "), .wrong, .malformed)
  }

  private mutating func brokenChunks() {
    lines.append("Transfer-Encoding: chunked")
    reply.isWhole = false
    let whole = chunked(wire)
    if dice.chance(50) {
      // But for the very last byte, which adds nothing.
      let cut = dice.roll(whole.count - 1)
      wire = Data(whole.prefix(cut))
      reply.note("chunks, cut at \(cut)", .wrong, .lost)
      return end([.close, .reset])
    }
    reply.script.end = .close
    let sizes = [
      "FFFFFFFFFFFFFFFF", "7FFFFFFFFFFFFFFF", "10000000000000000", String(repeating: "F", count: 40), "-5", "xyz", "",
      "7FFFFFFFFFFFFFF0",
    ]
    switch dice.roll(3) {
    case 0:
      let size = dice.pick(sizes)
      // Nothing but the page behind it: some of the sizes are numbers, and what comes is then the beginning of such a
      // chunk.
      wire = Data("\(size)\r\n".utf8) + wire
      reply.note("a chunk of size \"\(size)\"", .wrong, .transferCoding)
    case 1:
      if !wire.isEmpty { wire = Data("\(String(wire.count, radix: 16))\r\n".utf8) + wire }
      wire += Data("missing0\r\n\r\n".utf8)
      reply.note("a chunk without its end of line", .wrong, .transferCoding)
    default:
      let size = dice.pick(sizes)
      let front = wire.prefix(wire.count / 2)
      wire = chunked(Data(front)).dropLast(5) + Data("\(size)\r\n".utf8) + wire.dropFirst(front.count)
      reply.note("a second chunk of size \"\(size)\"", .wrong, .transferCoding)
    }
  }

  private mutating func transferCoding() {
    switch dice.roll(3) {
    case 0:
      lines.append("Transfer-Encoding: cow")
      reply.isWhole = false
      reply.note("an unknown transfer coding", .wrong, .transferCoding)
      reply.script.end = .close
    case 1:
      lines.append("Transfer-Encoding: cow, chunked")
      wire = chunked(wire)
      reply.isWhole = false
      reply.note("an unknown transfer coding and chunks", .wrong, .transferCoding)
      reply.script.end = .close
    default:
      lines.append("Transfer-Encoding: identity")
      reply.note("identity, which is no transfer coding any more", .either, .transferCoding)
      reply.script.end = .close
    }
  }

  // MARK: Nothing

  /// An answer without a body, which may talk of one, or even have one.
  private mutating func frameNothing() {
    reply.body = Data()
    let full = wire
    wire = Data()
    switch dice.roll(6) {
    case 0:
      lines.append("Content-Length: \(full.count)")
      reply.note("a body where there is none")
      wire = full.prefix(Self.largestWithExcess)
      hasExcess = true
    case 1:
      lines.append("Transfer-Encoding: chunked")
      reply.note("chunks where there is no body")
      wire = chunked(full.prefix(Self.largestWithExcess))
      hasExcess = true
    case 2:
      lines.append("Content-Length: \(Int.max)")
      reply.note("the largest length of nothing")
    case 3:
      lines.append("Content-Length: -1")
      reply.note("no length of nothing", .either, .malformed)
    default:
      if reply.status != 204 { lines.append("Content-Length: \(full.count)") }
      reply.note("no body")
    }
    if dice.chance(20) { reply.script.end = .close }
  }

  /// The content in chunks of many sizes.
  mutating func chunked(_ content: Data, extension more: String = "", trailers: [String] = []) -> Data {
    var result = Data()
    var rest = content
    while !rest.isEmpty {
      let chunk = rest.prefix(dice.pick([1, 7, 100, 5_000, 100_000]) + dice.roll(20))
      rest = rest.dropFirst(chunk.count)
      let size = String(chunk.count, radix: 16, uppercase: dice.chance(50))
      result += Data("\(dice.chance(10) ? "00" : "")\(size)\(more)\r\n".utf8) + chunk + Data("\r\n".utf8)
    }
    return result + Data(("0\(more)\r\n" + trailers.map { "\($0)\r\n" }.joined() + "\r\n").utf8)
  }
}
