import Foundation
import TestOrigin

/// Makes a reply, part by part: content, coding, framing, head, delivery.
struct Forge {
  var dice: Dice
  let method: String
  var reply = Forgery()
  /// The header fields, as lines without their ends.
  var lines: [String] = []
  /// What comes before the head: interim responses.
  var before = Data()
  /// The message's body on the wire.
  var wire = Data()
  /// Whether bytes follow that belong to no message: then nothing may come later, where it could be taken for an
  /// answer.
  var hasExcess = false
  /// How lines of the head end.
  var lineEnd = "\r\n"

  init(_ dice: Dice, method: String, exchange: Int) {
    self.dice = dice
    self.method = method
    lines = ["X-Exchange: \(exchange)"]
  }

  /// Whether the answer has no body, whatever it says (RFC 9112, section 6.3).
  var isBodyless: Bool { method == "HEAD" || reply.status == 204 || reply.status == 304 }

  /// Makes an answer of some content.
  mutating func answer(_ status: Int, _ content: Data, mayCode: Bool = true) -> Forgery {
    reply.status = status
    reply.body = content
    wire = content
    if mayCode, dice.chance(12) { code() }
    frame()
    let head = head()
    deliver(head)
    return reply
  }

  /// Puts it on the wire: at once, in pieces, or byte by byte.
  private mutating func deliver(_ head: Data) {
    let all = before + head + wire
    if hasExcess || dice.chance(60) {
      reply.script.pieces = [all]
    } else if all.count < 300, dice.chance(20) {
      reply.note("bytewise")
      reply.script.pieces = all.map { Data([$0]) }
    } else {
      reply.note("in pieces")
      var cuts = (0..<dice.roll(1...4)).map { _ in dice.roll(all.count + 1) }
      cuts.sort()
      var pieces: [Data] = []
      var start = 0
      for cut in cuts + [all.count] where cut > start {
        pieces.append(Data(all[start..<cut]))
        start = cut
      }
      reply.script.pieces = pieces
    }
  }
}
