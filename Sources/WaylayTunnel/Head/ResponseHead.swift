#if Tunnel
  import NIOCore
  import WaylayCore

  extension ByteBufferView {
    /// Where a head ends, with the empty line that ends it, looked for from an index on.
    func endOfHead(from start: Index) -> Index? {
      guard start + 4 <= endIndex else { return nil }
      let end = (start...endIndex - 4).first { self[$0] == 13 && self[$0...].starts(with: "\r\n\r\n".utf8) }
      return end.map { $0 + 4 }
    }
  }

  /// Holds the response to a request of plain http back until its head has passed the rewriter's check.
  struct HeldResponse {
    /// As long as a head may be, with interim ones before it.
    private static let limit = 64 << 10

    private(set) var bytes = ByteBuffer()
    private var start = 0

    /// Takes more bytes, and returns the head once it is there, interim ones left out; throws when there is none.
    mutating func append(_ more: ByteBuffer) throws -> (status: HTTPResponse.Status, fields: HTTPFields)? {
      bytes.writeImmutableBuffer(more)
      let view = bytes.readableBytesView
      while let end = view.endOfHead(from: start) {
        let lines = try ProxyHead.lines(view[start..<end])
        let words = lines[0].split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count >= 2, words[0].starts(with: "HTTP/1.".utf8),
          let code = Int(String(decoding: words[1], as: UTF8.self)), (100...999).contains(code)
        else { throw ChannelError.eof }
        start = end
        if code >= 200 { return (.init(code: code), try ProxyHead.fields(lines.dropFirst())) }
      }
      guard view.count <= Self.limit else { throw ChannelError.eof }
      return nil
    }
  }
#endif
