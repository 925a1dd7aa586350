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

  /// The body of a message: finds its end, and rewrites its framing (RFC 9112, section 7.1).
  struct FramedBody {
    private enum State { case content, contentEnd, size, trailers, over }

    /// The maximum length of a line of framing, and of all trailer fields.
    private static let limit = 16 << 10

    private let framing: ProxyHead.Body
    /// The names of trailer fields that are not forwarded.
    private let dropped: Set<String>
    private var state = State.size
    /// The number of remaining bytes of the content, or of a chunk.
    private var count: UInt64 = 0
    private var line: [UInt8] = []
    private var trailers = 0

    var isOver: Bool { state == .over }

    init(_ framing: ProxyHead.Body, dropping dropped: Set<String>) {
      (self.framing, self.dropped) = (framing, dropped)
      if case .length(let count) = framing { (state, self.count) = (count == 0 ? .over : .content, count) }
    }

    /// Removes the bytes that belong to the body, and returns what is forwarded; `nil` for invalid chunked coding. Chunk
    /// extensions, which concern one connection, are left out.
    mutating func take(_ bytes: inout ByteBuffer) -> ByteBuffer? {
      var passed = ByteBuffer()
      while !isOver, bytes.readableBytes > 0 {
        if state == .content {
          let piece = bytes.readSlice(length: Int(min(count, UInt64(bytes.readableBytes)))) ?? ByteBuffer()
          count -= UInt64(piece.readableBytes)
          passed.writeImmutableBuffer(piece)
          if count == 0 { state = framing == .chunked ? .contentEnd : .over }
          continue
        }
        guard let byte = bytes.readInteger(as: UInt8.self), line.count < Self.limit else { return nil }
        line.append(byte)
        guard byte == 10 else { continue }
        guard line.dropLast().last == 13, end(of: line.dropLast(2), &passed) else { return nil }
        line = []
      }
      return passed
    }

    private mutating func end(of line: ArraySlice<UInt8>, _ passed: inout ByteBuffer) -> Bool {
      guard line.allSatisfy({ $0 == 9 || $0 >= 32 && $0 != 127 }) else { return false }
      switch state {
      case .contentEnd where line.isEmpty: state = .size
      case .size:
        let digits = line.prefix { Character(UnicodeScalar($0)).isHexDigit }
        let rest = line.dropFirst(digits.count).drop { $0 == 9 || $0 == 32 }
        guard digits.count < 16, rest.first ?? 59 == 59,
          let count = UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
        else { return false }
        (self.count, state) = (count, count == 0 ? .trailers : .content)
        passed.writeBytes(digits)
      case .trailers where line.isEmpty: state = .over
      case .trailers:
        trailers += line.count
        guard trailers < Self.limit, let field = try? ProxyHead.fields([Array(line)]) else { return false }
        passed.writeBytes(field.lines(without: dropped))
        return true
      default: return false
      }
      passed.writeBytes([13, 10])
      return true
    }
  }
#endif
