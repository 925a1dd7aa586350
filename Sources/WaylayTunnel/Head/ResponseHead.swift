#if Tunnel
  import NIOCore
  import WaylayCore

  extension ByteBufferView {
    /// The end of a head, including its empty line, searched from an index on. It is found with a bare LF too, which
    /// makes the head malformed.
    func endOfHead(from start: Index) -> Index? {
      for index in start..<endIndex where self[index] == 10 {
        let rest = self[(index + 1)...]
        if rest.first == 10 { return index + 2 }
        if rest.starts(with: [13, 10]) { return index + 3 }
      }
      return nil
    }
  }

  /// Holds back the response to a plain `http` request until its head has passed the rewriter's check.
  struct HeldResponse {
    /// The maximum size of a head.
    private static let limit = 64 << 10

    /// The final head for the client, once it is complete.
    private(set) var head = ByteBuffer()
    /// The bytes after the heads.
    var bytes = ByteBuffer()
    /// The body, if it is chunked: fields of the connection are removed from its trailers as well.
    private(set) var body: FramedBody?

    /// Appends bytes; returns the interim heads, and the final head once it is complete. The heads are without the fields
    /// of the origin's connection; the final one says that the client's connection ends too. Throws for a malformed head.
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
        let fields = try ProxyHead.fields(lines.dropFirst())
        // Keep the fields of the framing, because the body is unchanged.
        let dropped = fields.ofConnection.subtracting(["content-length", "transfer-encoding"])
        let version = String(decoding: words[0], as: UTF8.self)
        let head = lines[0] + [13, 10] + fields.lines(without: dropped) + HTTPFields.via(version)
        bytes.moveReaderIndex(to: end)
        guard code < 200 else {
          if fields[values: .transferEncoding].map({ $0.lowercased() }) == ["chunked"] {
            body = FramedBody(.chunked, dropping: fields.ofConnection.union(["content-length", "transfer-encoding"]))
          }
          self.head.writeBytes(head + Array("Connection: close\r\n\r\n".utf8))
          return (interim, (.init(code: code), fields))
        }
        interim.writeBytes(head + [13, 10])
      }
      guard bytes.readableBytes <= Self.limit else { throw ChannelError.eof }
      return (interim, nil)
    }
  }
#endif
