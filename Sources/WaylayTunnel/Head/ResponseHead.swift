#if Tunnel
  import NIOCore
  import WaylayCore

  /// Holds the response to a request of plain http back until its head has passed the rewriter's check.
  struct HeldResponse {
    /// As long as a head may be.
    private static let limit = 64 << 10

    private(set) var bytes = ByteBuffer()
    private var start = 0

    /// Takes more bytes, and returns the head once it is there, interim ones left out; throws when there is none.
    mutating func append(_ more: ByteBuffer) throws -> (status: HTTPResponse.Status, fields: HTTPFields)? {
      bytes.writeImmutableBuffer(more)
      let view = bytes.readableBytesView
      while true {
        let rest = view.dropFirst(start)
        var end = rest.startIndex
        while end + 4 <= rest.endIndex, !rest[end..<end + 4].elementsEqual([13, 10, 13, 10]) { end += 1 }
        guard end + 4 <= rest.endIndex else {
          guard rest.count <= Self.limit else { throw ChannelError.eof }
          return nil
        }
        let lines = try ProxyHead.lines(rest[..<(end + 4)])
        let words = lines[0].split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count >= 2, words[0].starts(with: "HTTP/1.".utf8),
          let code = Int(String(decoding: words[1], as: UTF8.self)), (100...999).contains(code)
        else { throw ChannelError.eof }
        start += end + 4 - rest.startIndex
        if code < 200 { continue }
        return (.init(code: code), try ProxyHead.fields(lines.dropFirst()))
      }
    }
  }
#endif
