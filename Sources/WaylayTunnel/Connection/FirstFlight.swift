#if Tunnel
  import NIOCore

  /// The first bytes of a client. A single complete ClientHello may be sent to several addresses, because it contains
  /// no part of a request (RFC 8446, section 4.1.2).
  struct FirstFlight {
    enum Verdict {
      case incomplete
      /// A complete ClientHello without early data, and no bytes after it.
      case hello
      /// Any other bytes: they go to one address alone.
      case other
    }

    /// The maximum number of buffered bytes.
    static let limit = 64 << 10

    private(set) var bytes = ByteBuffer()
    private(set) var verdict = Verdict.incomplete

    /// Whether the first record starts like a ClientHello; later bytes are not checked.
    var isTLS: Bool { bytes.readableBytesView.first == 22 && bytes.readableBytesView.dropFirst(5).first == 1 }

    mutating func append(_ more: ByteBuffer) {
      bytes.writeImmutableBuffer(more)
      verdict = verdict == .incomplete ? Self.verdict(bytes.readableBytesView) : .other
    }

    /// Stops waiting for the rest of the ClientHello.
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

    /// Whether the ClientHello is well-formed and announces no early data (extension 42), which would be part of the
    /// request.
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

  /// Watches the record headers that a client sends after the server's first flight, to detect whether the client
  /// accepts the server's certificate. Reads only types and lengths.
  struct HandshakeWatch {
    enum Verdict {
      case undecided
      /// The client continues the handshake: it accepts the certificate unless an alert follows.
      case goesOn
      /// The client sends data: it has accepted the certificate.
      case accepted
      /// An alert.
      case rejected
    }

    private var header: [UInt8] = []
    /// The remaining bytes of the current record.
    private var body = 0
    private var flights = 0

    /// The verdict of the first decisive record in these bytes.
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
      // An alert, plain or encrypted: two bytes, the record type and the tag of an AEAD (RFC 8446, section 5.2).
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
