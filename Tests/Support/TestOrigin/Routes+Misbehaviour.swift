import Foundation

extension Reply {
  static func early(_ status: Int, isLast: Bool) -> Reply {
    let final = isLast ? Reply(200, [], .never) : .text("hello")
    return final.with { $0.interim = [(status, [("Link", "</style.css>; rel=preload; as=style")])] }
  }

  /// Messages that a client should turn down (RFC 9112); some take one or the other. The connection is closed after
  /// each, so that nobody waits for the rest.
  static func garbage(_ kind: String, size: Int) -> Reply {
    let text =
      switch kind {
      case "status": "HTTP/1.1 abc\r\nContent-Length: 5\r\n\r\nhello"
      case "field": "HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 5\r\n\r\nhello"
      case "length": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"
      case "chunk": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n0\r\n\r\n"
      case "header":
        "HTTP/1.1 200 OK\r\nX-Huge: \(String(repeating: "a", count: size))\r\nContent-Length: 5\r\n\r\nhello"
      default: "\u{1}\u{2} this is no HTTP at all\r\n\r\n"
      }
    return .raw(text).with { $0.hangsUp = true }
  }
}
