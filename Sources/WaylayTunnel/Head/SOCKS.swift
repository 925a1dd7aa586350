#if Tunnel
  import WaylayCore

  /// The messages of a SOCKS client: version 5 alone (RFC 1928), with user name and password (RFC 1929).
  enum SOCKS {
    /// What has been read of a message.
    enum Reading<Message> {
      case incomplete
      case message(Message, length: Int)
      case malformed
    }

    static let version: UInt8 = 5
    static let usesPassword: [UInt8] = [5, 2]
    static let noMethod: [UInt8] = [5, 0xFF]
    static let welcome: [UInt8] = [1, 0]
    static let wrongPassword: [UInt8] = [1, 1]
    static func reply(_ code: UInt8) -> [UInt8] { [5, code, 0, 1, 0, 0, 0, 0, 0, 0] }

    /// Whether the client offers to log in by a password.
    static func greeting(_ bytes: [UInt8]) -> Reading<Bool> {
      guard bytes.first == version else { return .malformed }
      guard bytes.count >= 2, bytes.count >= 2 + Int(bytes[1]) else { return .incomplete }
      let length = 2 + Int(bytes[1])
      return .message(bytes[2..<length].contains(2), length: length)
    }

    static func login(_ bytes: [UInt8]) -> Reading<(user: [UInt8], password: [UInt8])> {
      guard bytes.first ?? 1 == 1 else { return .malformed }
      guard bytes.count >= 2, bytes.count >= 3 + Int(bytes[1]) else { return .incomplete }
      let start = 3 + Int(bytes[1])
      let end = start + Int(bytes[start - 1])
      guard bytes.count >= end else { return .incomplete }
      return .message((Array(bytes[2..<start - 1]), Array(bytes[start..<end])), length: end)
    }

    /// The host and port of a CONNECT; `nil` for a command or a kind of address that there is not.
    static func request(_ bytes: [UInt8]) -> Reading<(host: HostName, port: Int)?> {
      guard bytes.prefix(3).elementsEqual([5, 1, 0].prefix(bytes.count)) else {
        return bytes.first == 5 && bytes.count >= 2 && bytes[1] != 1 ? .message(nil, length: bytes.count) : .malformed
      }
      guard bytes.count >= 5 else { return .incomplete }
      let start: Int
      let length: Int
      switch bytes[3] {
      case 1: (start, length) = (4, 4)
      case 3: (start, length) = (5, Int(bytes[4]))
      case 4: (start, length) = (4, 16)
      default: return .message(nil, length: bytes.count)
      }
      guard bytes.count >= start + length + 2 else { return .incomplete }
      let part = bytes[start..<start + length]
      let port = Int(bytes[start + length]) << 8 | Int(bytes[start + length + 1])
      let text =
        bytes[3] == 3 ? String(decoding: part, as: UTF8.self) : HostAddress(bytes: part)?.literal ?? ""
      guard port > 0, text.utf8.count == length || bytes[3] != 3, let host = try? HostName(text) else {
        return .malformed
      }
      return .message((host, port), length: start + length + 2)
    }
  }

  /// Counts the bytes of a request's body, so that nothing after it is passed on.
  struct BodyCount {
    /// What of a chunked body comes next.
    private enum Part {
      case length(Int64?), lengthEnd, data(Int64), dataEnd(UInt8), end(UInt8)
    }

    private var rest: UInt64
    private var part: Part?
    private(set) var isOver = false

    init(_ body: ProxyHead.Body) {
      switch body {
      case .length(let count): (rest, part, isOver) = (count, nil, count == 0)
      case .chunked: (rest, part) = (0, .length(nil))
      }
    }

    /// How many of the bytes are the body's; `nil` for a coding that is wrong.
    mutating func take(_ bytes: some Collection<UInt8>) -> Int? {
      guard part != nil else {
        let count = min(rest, UInt64(bytes.count))
        rest -= count
        isOver = rest == 0
        return Int(count)
      }
      var (index, taken) = (bytes.startIndex, 0)
      while index < bytes.endIndex, !isOver {
        if case .data(let left)? = part {
          let count = min(left, Int64(bytes.distance(from: index, to: bytes.endIndex)))
          bytes.formIndex(&index, offsetBy: Int(count))
          taken += Int(count)
          part = left == count ? .dataEnd(13) : .data(left - count)
          continue
        }
        guard step(bytes[index]) else { return nil }
        bytes.formIndex(after: &index)
        taken += 1
      }
      return taken
    }

    /// One byte that is not data. Extensions and trailers, which clients do not send, are refused.
    private mutating func step(_ byte: UInt8) -> Bool {
      switch part {
      case .length(let length)?:
        if byte == 13, length != nil {
          (rest, part) = (UInt64(length ?? 0), .lengthEnd)
          return true
        }
        guard let digit = Character(UnicodeScalar(byte)).hexDigitValue, length ?? 0 < 1 << 40 else { return false }
        part = .length((length ?? 0) << 4 | Int64(digit))
      case .lengthEnd? where byte == 10: part = rest == 0 ? .end(13) : .data(Int64(rest))
      case .dataEnd(let wanted)? where byte == wanted: part = wanted == 13 ? .dataEnd(10) : .length(nil)
      case .end(let wanted)? where byte == wanted:
        part = .end(10)
        isOver = wanted == 10
      default: return false
      }
      return true
    }
  }
#endif
