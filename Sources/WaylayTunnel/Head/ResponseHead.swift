#if Tunnel
  import NIOCore
  import WaylayCore

  extension ByteBufferView {
    /// The end of a head, including its empty line, searched from an index on.
    func endOfHead(from start: Index) -> Index? {
      guard start + 4 <= endIndex else { return nil }
      let end = (start...endIndex - 4).first { self[$0] == 13 && self[$0...].starts(with: "\r\n\r\n".utf8) }
      return end.map { $0 + 4 }
    }
  }

  /// Holds back the response to a plain `http` request until its head has passed the rewriter's check.
  struct HeldResponse {
    /// The maximum size of a head.
    private static let limit = 64 << 10

    private(set) var bytes = ByteBuffer()

    /// Appends bytes; returns the interim heads, and the final head once it is complete. Throws for a malformed head.
    mutating func append(
      _ more: ByteBuffer
    ) throws -> (interim: ByteBuffer, head: (status: HTTPResponse.Status, fields: HTTPFields)?) {
      bytes.writeImmutableBuffer(more)
      var interim = ByteBuffer()
      while let end = bytes.readableBytesView.endOfHead(from: bytes.readerIndex) {
        let lines = try ProxyHead.lines(bytes.readableBytesView[..<end])
        let words = lines[0].split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count >= 2, words[0].starts(with: "HTTP/1.".utf8),
          let code = Int(String(decoding: words[1], as: UTF8.self)), (100...999).contains(code)
        else { throw ChannelError.eof }
        if code >= 200 { return (interim, (.init(code: code), try ProxyHead.fields(lines.dropFirst()))) }
        interim.writeBytes(bytes.readableBytesView[..<end])
        bytes.moveReaderIndex(to: end)
      }
      guard bytes.readableBytes <= Self.limit else { throw ChannelError.eof }
      return (interim, nil)
    }
  }
#endif
