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

  /// Watches the records that a client sends after the server's first flight, to detect whether the client accepts the
  /// server's certificate. Reads types, lengths, and the first two bytes of unencrypted records.
  struct HandshakeWatch {
    enum Verdict {
      case undecided
      /// The client continues the handshake: it accepts the certificate unless an alert follows.
      case goesOn
      /// The client sends data: it has accepted the certificate.
      case accepted
      /// An alert in place of the client's next flight.
      case rejected
    }

    private var start: [UInt8] = []
    /// The remaining bytes of the current record.
    private var body = 0
    private var hasContinued = false
    private var hasSaidMore = false

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
        start.append(rest.removeFirst())
        guard start.count >= 5, case let length = Int(start[3]) << 8 | Int(start[4]), start.count == 5 + min(2, length)
        else { continue }
        body = length - (start.count - 5)
        let next = judge(start[0], Array(start[5...]), length: length)
        start = []
        switch next {
        case .undecided: break
        case .goesOn: verdict = .goesOn
        case .accepted, .rejected: return next
        }
      }
      return verdict
    }

    private mutating func judge(_ type: UInt8, _ content: [UInt8], length: Int) -> Verdict {
      switch type {
      case 20: return .undecided
      // The second ClientHello, which a server of TLS 1.3 asks for before it shows a certificate.
      case 22 where !hasContinued && content.first == 1: return .undecided
      case 22:
        hasContinued = true
        return .goesOn
      // An alert other than "close notify" and "user canceled" (RFC 8446, section 6.1). After the client's last flight
      // it may be the end of an unused connection.
      case 21: return hasContinued || [0, 90].contains(content.last ?? 0) ? .undecided : .rejected
      // TLS 1.3: the client's Finished has at least 32 bytes, beside its head, the record's type and the tag of an AEAD
      // (RFC 8446, sections 4.4.4 and 5.2). In its place, two bytes are an alert; after it, they may be data, and
      // are if more follow.
      case 23 where !hasContinued:
        hasContinued = length >= 4 + 32 + 1 + 8
        return hasContinued ? .goesOn : .rejected
      case 23 where !hasSaidMore && [2 + 1 + 8, 2 + 1 + 16].contains(length):
        hasSaidMore = true
        return .undecided
      default: return .accepted
      }
    }
  }
#endif
