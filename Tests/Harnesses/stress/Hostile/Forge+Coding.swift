import Foundation

extension Forge {
  /// Codes the content, or says so and does not.
  mutating func code() {
    let plain = reply.body
    switch dice.roll(10) {
    case 0, 1:
      reply.note("gzip")
      wire = Gzip.stored(plain)
      lines.append("Content-Encoding: gzip")
    case 2:
      reply.note("x-gzip")
      wire = Gzip.stored(plain)
      lines.append("Content-Encoding: X-GZip")
    case 3:
      reply.note("a bomb")
      (wire, reply.body) = Gzip.bomb
      reply.version = nil
      lines.append("Content-Encoding: gzip")
    case 4:
      // A stream that does not reach its end, in a message that does: libcurl gives what there is of it and says
      // nothing, to a plain session as well, so that nobody behind it can know. The guide (Transports) says so.
      wire = Gzip.stored(plain)
      wire = Data(wire.prefix(dice.roll(wire.count)))
      reply.note("a gzip stream that is cut off", .either, .coding)
      reply.isBeginning = !isBodyless
      lines.append("Content-Encoding: gzip")
    case 5:
      wire = Gzip.stored(plain)
      wire[wire.count - 5 - dice.roll(4)] ^= 0x55
      refuse("gzip with a wrong checksum")
      lines.append("Content-Encoding: gzip")
    case 6:
      // Less than the head of a stream is to libcurl one that is cut off, as above.
      if wire.count < 10 { wire = Data("no gzip at all".utf8) }
      refuse("gzip that is none")
      lines.append("Content-Encoding: gzip")
    case 7:
      // Left as it is: the app may know the coding.
      reply.note("an unknown coding", method == "POST" ? .either : .right, .coding)
      lines.append("Content-Encoding: cow")
    case 8:
      reply.note("identity")
      lines.append("Content-Encoding: identity")
    default:
      // Behind the end of the stream (RFC 1952 lets a reader ignore it, or look for another member).
      wire = Gzip.stored(plain) + Data("rest".utf8)
      reply.note("gzip with a rest", .either, .coding)
      lines.append("Content-Encoding: gzip")
    }
  }

  private mutating func refuse(_ trait: String) {
    guard !isBodyless else { return reply.note(trait) }
    reply.note(trait, .wrong, .coding)
  }
}
