public import Foundation

/// What the server does with a request.
public struct Reply: Sendable {
  /// The status.
  public var status: Int
  /// The header fields in order.
  public var fields: [(name: String, value: String)]
  /// The body and how it is sent.
  public var body: Body

  /// Makes a reply.
  public init(_ status: Int = 200, _ fields: [(name: String, value: String)] = [], _ body: Body = .whole(Data())) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// A body of text, with its length.
  public static func text(_ text: String, status: Int = 200, fields: [(name: String, value: String)] = []) -> Reply {
    Reply(status, [("Content-Type", "text/plain")] + fields, .whole(Data(text.utf8)))
  }

  /// How a body is sent.
  public enum Body: Sendable {
    /// With `Content-Length`, at once.
    case whole(Data)
    /// Chunked, one write each, with a pause of so many milliseconds between.
    case chunks([Data], pause: Int)
    /// Chunked; each chunk waits for ``TestOrigin/release(_:gate:)``.
    case gated(String)
    /// So many bytes of zeros with `Content-Length`, as fast as they are taken.
    case zeros(Int)
    /// Less than `Content-Length` says, then the connection is closed.
    case truncated(Data, declared: Int)
    /// A part of a chunked body, then the connection is reset.
    case reset(Data)
    /// Nothing at all, not even a head.
    case never
    /// The connection is closed without a head.
    case close
  }
}

extension Reply {
  /// The replies that every origin knows.
  ///
  /// | path | reply |
  /// |---|---|
  /// | `/echo` | JSON: method, target, head, body |
  /// | `/hello` | `hello` |
  /// | `/status/418` | that status, with a short body |
  /// | `/bytes/1000` | so many zeros |
  /// | `/chunks/3?pause=5` | `chunk 1`, `chunk 2`, …, chunked |
  /// | `/sse/3` | Server-Sent Events |
  /// | `/gate/name` | chunks as they are released |
  /// | `/slow/50` | `slow` after so many milliseconds |
  /// | `/never`, `/close`, `/truncated`, `/reset` | misbehaviour |
  /// | `/redirect/302?to=/hello` | a redirect |
  /// | `/loop` | a redirect to itself |
  /// | `/cookies/set?name=value` | `Set-Cookie` for each query item |
  /// | `/unauthorized` | a 401 with a Basic challenge |
  static func route(_ request: TestOrigin.Request) -> Reply {
    let parts = request.path.split(separator: "/").map(String.init)
    let number = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    switch parts.first ?? "" {
    case "hello": return .text("hello")
    case "echo": return echo(request)
    case "status": return .text("status \(number)", status: number)
    case "bytes": return Reply(200, [], .zeros(number))
    case "chunks":
      return Reply(
        200, [("Content-Type", "text/plain")],
        .chunks(
          (1...max(1, number)).map { Data("chunk \($0)\n".utf8) }, pause: Int(request.query("pause") ?? "") ?? 0))
    case "sse":
      return Reply(
        200, [("Content-Type", "text/event-stream")],
        .chunks((1...max(1, number)).map { Data("id: \($0)\ndata: event \($0)\n\n".utf8) }, pause: 1))
    case "gate": return Reply(200, [], .gated(parts.count > 1 ? parts[1] : ""))
    case "slow": return Reply(200, [], .chunks([Data(), Data("slow".utf8)], pause: number))
    case "never": return Reply(200, [], .never)
    case "close": return Reply(200, [], .close)
    case "truncated": return Reply(200, [], .truncated(Data("half".utf8), declared: 100))
    case "reset": return Reply(200, [], .reset(Data("half".utf8)))
    case "redirect": return .text("moved", status: number, fields: [("Location", request.query("to") ?? "/hello")])
    case "loop": return .text("again", status: 302, fields: [("Location", "/loop")])
    case "cookies":
      let items = URLComponents(string: request.target)?.queryItems ?? []
      return .text("set", fields: items.map { ("Set-Cookie", "\($0.name)=\($0.value ?? "")") })
    case "unauthorized":
      return .text("who are you?", status: 401, fields: [("WWW-Authenticate", "Basic realm=\"test\"")])
    default: return .text("no route \(request.path)", status: 404)
    }
  }

  private static func echo(_ request: TestOrigin.Request) -> Reply {
    let echo = Echo(
      method: request.method, target: request.target, head: request.head,
      body: String(decoding: request.body, as: UTF8.self))
    return Reply(200, [("Content-Type", "application/json")], .whole((try? JSONEncoder().encode(echo)) ?? Data()))
  }
}

/// What `/echo` answers, as JSON.
public struct Echo: Codable, Sendable {
  /// The method.
  public let method: String
  /// Path and query.
  public let target: String
  /// Request line and header fields.
  public let head: String
  /// The body as text.
  public let body: String
}
