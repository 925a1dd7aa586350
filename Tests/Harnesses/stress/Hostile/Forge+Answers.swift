import Foundation
import TestOrigin

extension Forge {
  /// A final status: mostly 200, or any.
  mutating func status() -> Int {
    if dice.chance(60) { return 200 }
    let known = [
      201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 304, 305, 306, 400, 402, 403, 404, 405, 406, 407, 408, 409, 410,
      411, 412, 413,
      414, 415, 416, 417, 418, 421, 422, 425, 426, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 507, 511, 599,
      600, 777, 999,
    ]
    return dice.chance(80)
      ? dice.pick(known) : [401, 301, 302, 303, 307, 308].reduce(dice.roll(200...999)) { $0 == $1 ? 200 : $0 }
  }

  /// The connection ends, and that is all.
  mutating func nothing() -> Forgery {
    reply.note("nothing", .wrong, .lost)
    reply.isWhole = false
    reply.script.end = dice.pick([.close, .reset])
    return reply
  }

  /// A demand for credentials, readable or not (RFC 9110, section 11.6.1).
  mutating func challenge(_ page: Page) -> Forgery {
    let challenges = [
      "Basic realm=\"a\"", "Basic", "basic realm=a, charset=\"UTF-8\"", "Basic realm=\"a",
      "Digest realm=\"a\", nonce=\"b\", qop=\"auth\"",
      "Digest realm=\"a\", nonce=\"b\", qop=\"auth\", stale=true, algorithm=SHA-256", "Digest", "Digest nonce",
      "Digest realm=\"a\", nonce=\"\u{1}\"",
      "Digest realm=\"a\", nonce=\"b\", algorithm=MD5-sess, qop=\"auth-int\"", "Bearer", "Negotiate",
      "NTLM TlRMTVNTUAABAAAA", "", ",,,,",
      "=", "\"",
      "Basic realm=\"a\", Digest realm=\"b\", nonce=\"c\"", "Digest " + String(repeating: "a=b, ", count: 1_000),
      "Basic realm=\"" + String(repeating: "\\", count: 999), "Digest realm=\"a\", nonce=\"b\", stale=true",
    ]
    for _ in 0..<dice.roll(4) { lines.append("WWW-Authenticate: " + dice.pick(challenges)) }
    reply.note("a challenge")
    return answer(401, page.bytes)
  }

  /// A redirect, to what is a place or is none (RFC 9110, section 15.4).
  mutating func redirect(_ kind: Int, _ page: Page, _ port: Int) -> Forgery {
    let good = [
      "/\(page.number)/land", "http://127.0.0.1:\(port)/\(page.number)/land?a=b#c",
      "//127.0.0.1:\(port)/\(page.number)/land",
      "\(page.number)/land",
    ]
    let followed = [301, 302, 303, 307, 308]
    switch kind {
    case 0...5:
      lines.append("Location: " + dice.pick(good))
      let reply = answer(dice.pick(followed), page.bytes)
      return leading(reply, "a redirect", [])
    case 6:
      lines.append("Location: \(dice.pick(["", "/"]))\(page.number)")
      return leading(answer(dice.pick(followed), page.bytes), "a loop", [.httpTooManyRedirects])
    case 7:
      lines.append("Location: " + dice.pick(good))
      reply.note("a redirect that nobody follows")
      return answer(dice.pick([300, 304, 305, 306]), page.bytes)
    case 8:
      reply.note("a redirect without a place")
      return answer(dice.pick(followed), page.bytes)
    default:
      let places = [
        "", " ", "ftp://127.0.0.1:\(port)/a", "file:///etc/passwd", "javascript:alert(1)", "data:text/plain,a",
        "http://[::1", "http://",
        "::::",
        "http:///", "https://127.0.0.1:1/", "http://127.0.0.1:1/", "http://127.0.0.1:99999/",
        "http://127.0.0.1:-1/",
        "/a b", "/%", "/%zz", "/%0d%0aX-A: b", "http://a b/", "//", "///", "?", "#",
        "http://user:secret@127.0.0.1:\(port)/\(page.number)/land",
        "http://127.0.0.1:\(port)\\@127.0.0.1:1/", "/é", "/\u{1}", String(repeating: "/a", count: 8_000), "about:blank",
        "blob:a",
        "HTTP://127.0.0.1:\(port)/\(page.number)/land",
      ]
      let place = dice.pick(places)
      lines.append("Location: " + place)
      if dice.chance(10) { lines.append("Location: " + dice.pick(places)) }
      reply.note("a redirect to \"\(place.prefix(60))\"", .either, .place)
      return answer(dice.pick(followed), page.bytes)
    }
  }

  /// A redirect is no answer of its own: it leads on, unless something else is wrong with it.
  private func leading(_ made: Forgery, _ trait: String, _ codes: Set<URLError.Code>) -> Forgery {
    var made = made
    made.note(trait, .wrong, codes)
    return made
  }
}
