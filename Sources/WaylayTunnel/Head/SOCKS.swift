#if Tunnel
  import NIOCore
  import WaylayCore

  /// The messages of a SOCKS client: version 5 (RFC 1928) with user name and password (RFC 1929). Each parser removes a
  /// complete message from the bytes, and returns `nil` while it is incomplete.
  enum SOCKS {
    /// The last message to a refused client.
    struct Refusal: Error {
      let message: [UInt8]

      static let noMethod = Refusal(message: [5, 0xFF])
      static let wrongPassword = Refusal(message: [1, 1])
      static let notAllowed = Refusal(message: reply(2))
      static let unsupported = Refusal(message: reply(7))
    }

    static let version: UInt8 = 5
    static let usesPassword: [UInt8] = [5, 2]
    static let welcome: [UInt8] = [1, 0]
    static func reply(_ code: UInt8) -> [UInt8] { [5, code, 0, 1, 0, 0, 0, 0, 0, 0] }

    /// The client's authentication methods, which must include the password.
    static func greeting(_ bytes: inout ByteBuffer) throws -> ByteBuffer? {
      guard try readVersion(&bytes, version), let methods = bytes.readLengthPrefixedSlice(as: UInt8.self) else {
        return nil
      }
      guard methods.readableBytesView.contains(2) else { throw Refusal.noMethod }
      return methods
    }

    static func login(_ bytes: inout ByteBuffer) throws -> (user: ByteBuffer, password: ByteBuffer)? {
      guard try readVersion(&bytes, 1), let user = bytes.readLengthPrefixedSlice(as: UInt8.self),
        let password = bytes.readLengthPrefixedSlice(as: UInt8.self)
      else { return nil }
      return (user, password)
    }

    /// The host and port of a CONNECT.
    static func request(_ bytes: inout ByteBuffer) throws -> (host: HostName, port: Int)? {
      guard try readVersion(&bytes, version),
        let (command, reserved, kind) = bytes.readMultipleIntegers(as: (UInt8, UInt8, UInt8).self)
      else { return nil }
      guard command == 1, reserved == 0, [1, 3, 4].contains(kind) else { throw Refusal.unsupported }
      let place =
        kind == 3 ? bytes.readLengthPrefixedSlice(as: UInt8.self) : bytes.readSlice(length: kind == 1 ? 4 : 16)
      guard let place, let port = bytes.readInteger(as: UInt16.self) else { return nil }
      let text = kind == 3 ? String(buffer: place) : HostAddress(bytes: place.readableBytesView)?.literal ?? ""
      guard port > 0, kind != 3 || text.utf8.count == place.readableBytes, let host = try? HostName(text) else {
        throw ChannelError.eof
      }
      return (host, Int(port))
    }

    /// Whether the version is available; throws if it is another one.
    private static func readVersion(_ bytes: inout ByteBuffer, _ wanted: UInt8) throws -> Bool {
      guard let version = bytes.readInteger(as: UInt8.self) else { return false }
      guard version == wanted else { throw ChannelError.eof }
      return true
    }
  }

  /// Finds the end of a request's body: later bytes must not be forwarded.
  struct BodyCount {
    /// The parser expects these bytes, then `data` bytes of content, then the next chunk length, unless it has read the
    /// last chunk.
    private var expected: ArraySlice<UInt8> = []
    private var data: UInt64 = 0
    private var isLast = false
    /// The length of the current chunk, parsed so far.
    private var length: UInt64?

    var isOver: Bool { isLast && data == 0 && expected.isEmpty }

    init(_ body: ProxyHead.Body) {
      if case .length(let count) = body { (data, isLast) = (count, true) }
    }

    /// How many of the bytes belong to the body; `nil` for invalid chunked coding.
    mutating func take(_ bytes: some Collection<UInt8>) -> Int? {
      var rest = bytes[...]
      while let byte = rest.first, !isOver {
        if data == 0 || !expected.isEmpty {
          guard step(byte) else { return nil }
          rest = rest.dropFirst()
          continue
        }
        let count = min(data, UInt64(rest.count))
        data -= count
        rest = rest.dropFirst(Int(count))
        if data == 0, !isLast { expected = [13, 10] }
      }
      return bytes.count - rest.count
    }

    /// Parses one byte of framing. Chunk extensions and trailers, which clients do not send, are refused.
    private mutating func step(_ byte: UInt8) -> Bool {
      if let next = expected.popFirst() { return byte == next }
      if byte == 13, let count = length {
        (data, isLast, length) = (count, count == 0, nil)
        expected = isLast ? [10, 13, 10] : [10]
        return true
      }
      guard let digit = Character(UnicodeScalar(byte)).hexDigitValue, length ?? 0 < 1 << 40 else { return false }
      length = (length ?? 0) << 4 | UInt64(digit)
      return true
    }
  }
#endif
