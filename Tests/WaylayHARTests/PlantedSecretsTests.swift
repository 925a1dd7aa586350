import Foundation
import TestSupport
import Testing
import WaylayHAR

@Suite("Planted secrets", .heavy)
struct PlantedSecretsTests {
  @Test("are all found, and once is enough", arguments: Plantings.all)
  func found(planting: Plantings.Planting) {
    #expect(Plantings.isSeen(in: planting.entry), "it is not there at all")
    let redacted = Redaction.standard.redacted(planting.entry)
    #expect(!Plantings.isSeen(in: redacted), "\(String(decoding: redacted.data(), as: UTF8.self))")
    #expect(Redaction.standard.redacted(redacted) == redacted)
  }

  @Test("are found elsewhere in every spelling once a name has shown them")
  func echoes() {
    let secret = Plantings.secret
    for echo in [
      secret, "you are \(secret).", Plantings.escaped(secret), "https://b.test/x/\(Plantings.escaped(secret))/y",
      Plantings.quoted(secret), Plantings.base64(secret), "a \(Plantings.base64("user:\(secret)")) b",
      Plantings.unpadded("ab\(secret)"),
      Plantings.entities(secret), "(\(secret))", "x,\(secret),y", "密码\(secret)是",
    ] {
      for (type, body) in [
        ("text/plain", echo), ("application/json", "{\"a\":\(Plantings.quoted(echo)),\"n\":1}"),
        ("text/csv", "1,\(echo),2"),
        ("application/octet-stream", "\u{0}\u{1}\(echo)\u{2}"), ("text/xml", "<a>\(Plantings.entities(echo))</a>"),
      ] {
        var entry = Plantings.entry(headers: [.init("X-Api-Key", secret)], Data(body.utf8), type)
        entry.comment = echo
        let redacted = Redaction.standard.redacted(entry)
        #expect(!Plantings.isSeen(in: redacted), "\(type): \(String(decoding: redacted.data(), as: UTF8.self))")
      }
    }
  }
}
