import Foundation

extension Reply {
  /// The replies that every origin knows.
  ///
  /// | path | reply |
  /// |---|---|
  /// | `/hello` | `hello` |
  /// | `/echo` | JSON: method, target, head, body |
  /// | `/status/418` | that status, with a short body |
  /// | `/bytes/1000` | so many zeros |
  /// | `/range/1000` | so many bytes of a pattern, or the range that is asked for; `ETag`, `If-Range`, `If-None-Match` |
  /// | `/range/1000?cut=300` | the same, broken off after so many bytes |
  /// | `/gzip` | `hello`, compressed; `/gzip/broken` is not what it says |
  /// | `/chunks/3?pause=5` | `chunk 1`, `chunk 2`, …, chunked |
  /// | `/trailers` | `hello`, chunked, and after it the field `X-Trailer: end` |
  /// | `/sse/3` | Server-Sent Events |
  /// | `/gate/name` | chunks as they are released |
  /// | `/slow/50` | `slow` after so many milliseconds |
  /// | `/redirect/302?to=/hello` | a redirect |
  /// | `/loop` | a redirect to itself |
  /// | `/cookies/set?name=value` | `Set-Cookie` for each query item |
  /// | `/unauthorized` | a 401 with a Basic challenge |
  /// | `/basic/user/password` | `welcome user` for these credentials, else a 401 |
  /// | `/digest/user/password` | the same with Digest; `?algorithm=MD5` or `SHA-256` offers one of the two only |
  /// | `/bearer/token` | `welcome` for this token, else a 401 |
  /// | `/never`, `/close`, `/truncated`, `/reset` | no reply, the end of the connection in place of it or in the middle |
  /// | `/unread` | a response at the request's head; then the stream is reset, or the connection closed |
  /// | `/hangup` | `hello`, then the end of the connection, though nothing says so |
  /// | `/bytewise` | `hello`, every byte of the message a write of its own |
  /// | `/early/103` | that interim response with a `Link`, then `hello` |
  /// | `/early/103/never` | that interim response, and no other |
  /// | `/garbage` | bytes that are no HTTP |
  /// | `/garbage/status` | a status line without a status |
  /// | `/garbage/field` | a header line without a colon |
  /// | `/garbage/length` | two different values of `Content-Length` |
  /// | `/garbage/chunk` | a chunk whose size is no number |
  /// | `/garbage/header?size=1000000` | a field of so many bytes |
  static func route(_ request: TestOrigin.Request) -> Reply {
    let parts = request.path.split(separator: "/").map(String.init)
    let argument = parts.count > 1 ? parts[1] : ""
    let number = Int(argument) ?? 0
    return switch parts.first ?? "" {
    case "hello": .text("hello")
    case "echo": echo(request)
    case "status": .text("status \(number)", status: number)
    case "bytes": Reply(200, [], .zeros(number))
    case "range": range(request, count: number)
    case "gzip": gzip(isBroken: argument == "broken")
    case "chunks": chunks(number, pause: Int(request.query("pause") ?? "") ?? 0)
    case "trailers": chunked("hello").with { $0.trailers = [("X-Trailer", "end")] }
    case "sse": events(number)
    // With a type: Apple's sessions hold back the beginning of a body whose type they have to find out.
    case "gate": Reply(200, [("Content-Type", "application/octet-stream")], .gated(argument))
    case "slow": Reply(200, [], .chunks([Data(), Data("slow".utf8)], pause: number))
    case "redirect": .text("moved", status: number, fields: [("Location", request.query("to") ?? "/hello")])
    case "loop": .text("again", status: 302, fields: [("Location", "/loop")])
    case "cookies": cookies(request)
    case "unauthorized": unauthorized(["Basic realm=\"test\""])
    case "basic" where parts.count == 3: basic(request, user: parts[1], password: parts[2])
    case "digest" where parts.count == 3: digest(request, user: parts[1], password: parts[2])
    case "bearer" where parts.count == 2: bearer(request, token: parts[1])
    case "never": Reply(200, [], .never)
    case "close": Reply(200, [], .close)
    case "truncated": Reply(200, [], .truncated(Data("half".utf8), declared: 100))
    case "reset": Reply(200, [], .reset(Data("half".utf8)))
    case "hangup": .text("hello").with { $0.hangsUp = true }
    case "bytewise": .text("hello").with { $0.isBytewise = true }
    case "early": early(number, isLast: parts.last == "never")
    case "garbage": garbage(argument, size: Int(request.query("size") ?? "") ?? 1_000_000)
    default: .text("no route \(request.path)", status: 404)
    }
  }
}
