public import Foundation

/// What the server does with a request.
public struct Reply: Sendable {
  /// The status.
  public var status: Int
  /// The header fields in order.
  public var fields: [(name: String, value: String)]
  /// The body and how it is sent.
  public var body: Body
  /// Heads that are sent before the final one, such as 103 with `Link` fields.
  public var interim: [(status: Int, fields: [(name: String, value: String)])] = []
  /// The fields after the body. HTTP/1.1 sends them only where the body is chunked.
  public var trailers: [(name: String, value: String)] = []
  /// Whether every byte is a write of its own, those of the head included.
  public var isBytewise = false
  /// Whether the connection is closed after the reply, though nothing says that it will be.
  public var hangsUp = false

  /// Milliseconds until anything of the reply is sent.
  public var delay = 0
  /// The gate that ``TestOrigin/release(_:gate:)`` has to open before anything of the reply is sent. Each reply needs one
  /// of its own.
  public var gate: String?

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

  /// Bytes that are sent as they are, in place of an HTTP message.
  public static func raw(_ text: String) -> Reply {
    Reply(200, [], .raw(Data(text.utf8)))
  }

  /// The reply with something changed.
  public func with(_ change: (inout Reply) -> Void) -> Reply {
    var reply = self
    change(&reply)
    return reply
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
    /// Less than `Content-Length` says, then the connection is closed; with HTTP/2, the stream is reset.
    case truncated(Data, declared: Int)
    /// A part of a chunked body, then the connection is reset.
    case reset(Data)
    /// Nothing at all, not even a head.
    case never
    /// The connection is closed without a head.
    case close
    /// These bytes in place of the whole message, head included; with HTTP/2, in place of frames.
    case raw(Data)
  }
}
