#if Tunnel
  import NIOCore

  /// What a client sends first. One complete ClientHello, and nothing but it, may be sent to another address too: it
  /// holds nothing of a request (RFC 8446, section 4.1.2).
  struct FirstFlight {
    enum Verdict {
      case incomplete
      /// A ClientHello, whole, without early data, and nothing after it.
      case hello
      /// Anything else, or more: it is sent once.
      case other
    }

    /// The longest that is kept.
    static let limit = 64 << 10

    private(set) var bytes = ByteBuffer()
    private(set) var verdict = Verdict.incomplete

    /// Whether it begins as a ClientHello does, whatever comes after.
    var isTLS: Bool { bytes.readableBytesView.first == 22 && bytes.readableBytesView.dropFirst(5).first == 1 }

    mutating func append(_ more: ByteBuffer) {
      bytes.writeImmutableBuffer(more)
      verdict = verdict == .incomplete ? Self.verdict(bytes.readableBytesView) : .other
    }

    /// It is not waited for any longer.
    mutating func settle() { if verdict == .incomplete { verdict = .other } }

    static func verdict(_ bytes: ByteBufferView) -> Verdict {
      var message: [UInt8] = []
      var rest = bytes[...]
      while let first = rest.first {
        guard first == 22, rest.dropFirst().first ?? 3 == 3, bytes.count <= limit else { return .other }
        guard rest.count >= 5 else { return .incomplete }
        let length = Int(rest[rest.startIndex + 3]) << 8 | Int(rest[rest.startIndex + 4])
        guard (1...1 << 14).contains(length) else { return .other }
        guard rest.count >= 5 + length else { return .incomplete }
        message += rest.dropFirst(5).prefix(length)
        rest = rest.dropFirst(5 + length)
        guard message[0] == 1 else { return .other }
        guard message.count >= 4 else { continue }
        let whole = 4 + Int(message[1]) << 16 + Int(message[2]) << 8 + Int(message[3])
        guard whole <= limit, message.count <= whole else { return .other }
        if message.count == whole { return rest.isEmpty && isReplayable(message) ? .hello : .other }
      }
      return .incomplete
    }

    /// Whether it is well formed and announces no early data (type 42), which would be of the request.
    private static func isReplayable(_ message: [UInt8]) -> Bool {
      var rest = message[4...].dropFirst(2 + 32)
      func number(_ bytes: Int) -> Int? {
        guard rest.count >= bytes else { return nil }
        defer { rest = rest.dropFirst(bytes) }
        return rest.prefix(bytes).reduce(0) { $0 << 8 | Int($1) }
      }
      func skip(_ bytes: Int) -> Bool {
        guard let length = number(bytes), rest.count >= length else { return false }
        rest = rest.dropFirst(length)
        return true
      }
      guard message.count > 4 + 34, skip(1), skip(2), skip(1) else { return false }
      guard !rest.isEmpty else { return true }
      guard let length = number(2), length == rest.count else { return false }
      while !rest.isEmpty { guard let type = number(2), type != 42, skip(2) else { return false } }
      return true
    }
  }

  /// Watches the headers of a client's records after the server's first flight, for whether the client takes the
  /// server for the right one. Types and lengths are looked at, nothing else.
  struct HandshakeWatch {
    enum Verdict {
      case undecided
      /// The client has gone on with the handshake: without a word more it is content.
      case goesOn
      /// The client sends data: it has found the certificate good.
      case accepted
      /// An alert.
      case rejected
    }

    private var header: [UInt8] = []
    /// Bytes of a record that are still to come.
    private var body = 0
    private var flights = 0

    /// Of the records in these bytes, the one that decides.
    mutating func see(_ bytes: ByteBufferView) -> Verdict {
      var verdict = Verdict.undecided
      var rest = bytes[...]
      while !rest.isEmpty {
        if body > 0 {
          let count = min(body, rest.count)
          body -= count
          rest = rest.dropFirst(count)
          continue
        }
        header.append(rest.removeFirst())
        guard header.count == 5 else { continue }
        body = Int(header[3]) << 8 | Int(header[4])
        let type = header[0]
        header = []
        switch judge(type, length: body) {
        case .undecided: break
        case .goesOn: verdict = .goesOn
        case let end: return end
        }
      }
      return verdict
    }

    private mutating func judge(_ type: UInt8, length: Int) -> Verdict {
      switch type {
      case 20: return .undecided
      case 22:
        flights += 1
        return .goesOn
      // An alert, or one that is encrypted: two bytes, the type of the record and the tag of an AEAD (RFC 8446, section 5.2).
      case 21: return .rejected
      case 23 where length <= 24: return .rejected
      // With TLS 1.3 the first such record is the client's Finished.
      case 23:
        flights += 1
        return flights > 1 ? .accepted : .goesOn
      default: return .accepted
      }
    }
  }
#endif
