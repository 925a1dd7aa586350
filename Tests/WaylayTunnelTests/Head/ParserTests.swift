#if Tunnel
  import Foundation
  import NIOCore
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  @testable import WaylayTunnel

  /// What is read of clients that may mean no good.
  @Suite("Heads and first flights", .heavy)
  struct ParserTests {
    private func head(_ text: String) throws -> ProxyHead { try ProxyHead(Array(text.utf8)) }

    @Test("the head for the origin has the target's host, and nothing that was for the proxy")
    func forwarded() throws {
      let head = try head(
        """
        POST http://API.test:8080?x=1 HTTP/1.1\r\nHost: evil.test\r\nProxy-Authorization: Basic c2VjcmV0\r\n\
        Proxy-Connection: keep-alive\r\nConnection: keep-alive, X-Mine, Content-Length\r\nX-Mine: 1\r\nUpgrade: h2c\r\n\
        Accept: a\r\nContent-Length: 5\r\nAccept: b\r\n\r\n
        """)
      #expect(head.authority.description == "api.test:8080")
      let text = String(decoding: head.forwarded(), as: UTF8.self)
      #expect(
        text == """
          POST /?x=1 HTTP/1.1\r\nHost: API.test:8080\r\nAccept: a\r\nAccept: b\r\nVia: 1.1 waylay\r\n\
          Content-Length: 5\r\nConnection: close\r\n\r\n
          """)
    }

    @Test(
      "hosts and ports are read strictly",
      arguments: [
        ("api.test:443", "api.test:443"), ("[::1]:443", "::1:443"), ("API.test.:443", "api.test:443"),
        ("api.test", nil),
        ("api.test:0", nil), ("api.test:65536", nil), ("api.test:+1", nil), ("::1:443", nil), ("[::1:443", nil),
        ("[api.test]:443", nil), ("a b:443", nil), (":443", nil), ("api.test:443:443", nil), ("%41pi.test:443", nil),
      ])
    func endpoints(_ text: String, _ expected: String?) {
      #expect((try? ProxyHead.authority(text, orElse: nil))?.description == expected)
    }

    /// What is forwarded of a chunked body, and what is left of the bytes; `nil` for an invalid one.
    private func forwarded(_ bytes: [UInt8], size: Int, fields: String = "") throws -> (passed: String, left: String)? {
      let head = try head("POST http://a.test/ HTTP/1.1\r\n\(fields)Transfer-Encoding: chunked\r\n\r\n")
      var body = FramedBody(head.body, dropping: head.dropped)
      var (passed, left) = (ByteBuffer(), ByteBuffer())
      for index in stride(from: 0, to: bytes.count, by: size) {
        var piece = ByteBuffer(bytes: bytes[index..<min(bytes.count, index + size)])
        guard let more = body.take(&piece) else { return nil }
        passed.writeImmutableBuffer(more)
        left.writeImmutableBuffer(piece)
      }
      return body.isOver ? (String(buffer: passed), String(buffer: left)) : nil
    }

    @Test("a body ends where it ends, in whatever pieces it comes, and extensions and the connection's trailers stay")
    func bodies() throws {
      let body =
        "5;a=b;c=\"d e\"\r\nhello\r\nA \t;x\r\n0123456789\r\n000\r\nA: b\r\nX-Mine: 1\r\nContent-Length: 3\r\n\r\n"
      let bytes = Array((body + "GET / HTTP/1.1\r\n").utf8)
      for size in 1...bytes.count {
        let end = try forwarded(bytes, size: size, fields: "Connection: x-mine\r\n")
        #expect(end?.passed == "5\r\nhello\r\nA\r\n0123456789\r\n000\r\nA: b\r\n\r\n")
        #expect(end?.left == "GET / HTTP/1.1\r\n")
      }
      for wrong in [
        "\r\n", "g\r\n", "5\n", "1\r\nab\r\n0\r\n\r\n", "0\r\nA b\r\n\r\n", "fffffffffffffffff\r\n", "5 6\r\n",
        "5;a\u{0}\r\n", "5;a\rb\r\n", "0\r\nA: b\n\r\n", ";a\r\n", "0\r\nA: b\rc\r\n\r\n",
        "1;" + String(repeating: "a", count: 20_000), "0\r\n" + String(repeating: "A: \(1 << 40)\r\n", count: 2000),
      ] { #expect(try forwarded(Array(wrong.utf8), size: 7) == nil, "\(wrong.prefix(20))") }
    }

    @Test("a tunnel names itself behind others, and counts down how far TRACE and OPTIONS go")
    func intermediary() throws {
      func forwarded(_ method: String, _ fields: String) throws -> String {
        String(decoding: try head("\(method) http://a.test/ HTTP/1.0\r\n\(fields)\r\n").forwarded(), as: UTF8.self)
      }
      #expect(try forwarded("GET", "Via: 1.1 first\r\n").contains("\r\nVia: 1.1 first\r\nVia: 1.0 waylay\r\n"))
      for (value, left) in [("1", "0"), ("007", "6"), ("99999999999999999999", "18446744073709551614")] {
        for method in ["TRACE", "OPTIONS"] {
          let text = try forwarded(method, "max-forwards: \(value)\r\n")
          #expect(text.contains("\r\nMax-Forwards: \(left)\r\n") && !text.contains("max-forwards"), "\(text)")
        }
        #expect(try forwarded("GET", "Max-Forwards: \(value)\r\n").contains("\r\nMax-Forwards: \(value)\r\n"))
      }
      for value in ["", "-1", "1.5", "1, 2", "x", "1\r\nMax-Forwards: 2"] {
        #expect(throws: Refusal.self) { try forwarded("TRACE", "Max-Forwards: \(value)\r\n") }
      }
      #expect(try forwarded("GET", "TE: gzip, trailers\r\n").contains("\r\nTE: trailers\r\nConnection: TE, close\r\n"))
    }

    @Test("OPTIONS of the origin itself, and of a path")
    func options() throws {
      for (target, line) in [
        ("http://a.test", "*"), ("http://a.test:80", "*"), ("http://a.test/", "/"), ("http://a.test?b", "/?b"),
      ] {
        let head = try head("OPTIONS \(target) HTTP/1.1\r\n\r\n")
        #expect(String(decoding: head.forwarded(), as: UTF8.self).hasPrefix("OPTIONS \(line) HTTP/1.1\r\n"))
        #expect(head.url != nil)
      }
    }

    @Test("one whole ClientHello may be sent again, and nothing else")
    func firstFlights() {
      let hello = Hello.record(host: "api.test")
      func verdict(_ bytes: [UInt8]) -> FirstFlight.Verdict {
        FirstFlight.verdict(ByteBuffer(bytes: bytes).readableBytesView)
      }
      #expect(verdict(hello) == .hello)
      for count in 0..<hello.count { #expect(verdict(Array(hello.prefix(count))) == .incomplete) }
      #expect(verdict(hello + [20, 3, 3, 0, 1, 1]) == .other)
      #expect(verdict(hello + [22]) == .other)
      #expect(verdict(Hello.record(host: "api.test", extensions: [(42, [])])) == .other)
      #expect(verdict(Array("GET / HTTP/1.1\r\n".utf8)) == .other)
      // In two records.
      let message = Array(hello[5...])
      let half = message.count / 2
      let parts = [message[..<half], message[half...]].flatMap { [22, 3, 1, 0, UInt8($0.count)] + $0 }
      #expect(verdict(parts) == .hello)
      #expect(verdict([22, 3, 1, 0, 4, 1, 1, 0, 0]) == .other)
      #expect(verdict([22, 3, 1, 0x40, 1]) == .other)
    }

    @Test("records show whether a client has taken the server for the right one")
    func handshakes() {
      func record(_ type: UInt8, _ length: Int) -> [UInt8] {
        [type, 3, 3, UInt8(length >> 8), UInt8(length & 255)] + [UInt8](repeating: 0, count: length)
      }
      func verdicts(_ bytes: [UInt8], size: Int) -> [HandshakeWatch.Verdict] {
        var watch = HandshakeWatch()
        return stride(from: 0, to: bytes.count, by: size).map {
          watch.see(ByteBuffer(bytes: bytes[$0..<min(bytes.count, $0 + size)]).readableBytesView)
        }.filter { $0 != .undecided }
      }
      for size in [1, 3, 1000] {
        // TLS 1.3: Finished, then data; an alert in its place. After it, two bytes are an alert or data, and nobody knows.
        #expect(verdicts(record(20, 1) + record(23, 53) + record(23, 100), size: size).last == .accepted)
        for count in 1...7 {
          let end = verdicts(record(20, 1) + record(23, 53) + record(23, count + 17), size: size).last
          #expect(end == (count == 2 ? .goesOn : .accepted), "\(count)")
        }
        #expect(verdicts(record(23, 53) + record(23, 19) + record(23, 19), size: size).last == .accepted)
        // After a second ClientHello.
        #expect(verdicts(record(20, 1) + [22, 3, 3, 0, 4, 1, 0, 0, 0] + record(23, 19), size: size) == [.rejected])
        #expect(verdicts(record(20, 1) + record(23, 19), size: size).last == .rejected)
        #expect(verdicts([21, 3, 3, 0, 2, 2, 42], size: size) == [.rejected])
        for goodbye in [0, 90] as [UInt8] { #expect(verdicts([21, 3, 3, 0, 2, 1, goodbye], size: size) == []) }
        // TLS 1.2: key exchange and Finished, then data, or the end of an unused connection.
        #expect(verdicts(record(22, 70) + record(20, 1) + record(22, 40) + record(21, 26), size: size).last == .goesOn)
        #expect(
          verdicts(record(22, 70) + record(20, 1) + record(22, 40) + record(23, 60), size: size).last == .accepted)
      }
    }

    @Test("no head, greeting, body, flight or response traps, whatever its bytes are, or is read in two ways")
    func fuzz() throws {
      var random = SplitMix(state: 27)
      let seeds: [[UInt8]] = [
        Array("CONNECT api.test:443 HTTP/1.1\r\nProxy-Authorization: Basic cnVsZXM6eA==\r\n\r\n".utf8),
        Array("POST http://api.test:80/a?b HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n".utf8),
        Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\n\r\n".utf8),
        Array("a\r\n0123456789\r\n0\r\n\r\n".utf8),
        [5, 2, 0, 2], [1, 2, 97, 98, 2, 99, 100], [5, 1, 0, 3, 8] + Array("api.test".utf8) + [1, 187],
        [5, 1, 0, 1, 127, 0, 0, 1, 1, 187],
        Hello.record(host: "api.test"), Hello.record(host: "b", extensions: [(42, [])]),
      ]
      let spice = Array("\r\n\0 \t:,;[]%@#?/0f".utf8)
      for number in 0..<Sizes.of(10_000_000, small: 4000) {
        var bytes = seeds[number % seeds.count]
        for _ in 0..<Int(random.next() % 4) where !bytes.isEmpty {
          let index = Int(random.next() % UInt64(bytes.count))
          switch random.next() % 5 {
          case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
          case 1: bytes.insert(spice[Int(random.next() % UInt64(spice.count))], at: index)
          case 2: bytes.remove(at: index)
          case 3: bytes.removeSubrange(index...)
          default: bytes += bytes[..<index]
          }
        }
        Self.read(bytes)
      }
    }

    /// Reads bytes as everything that they may be, and checks what must hold of each.
    static func read(_ bytes: [UInt8]) {
      if let head = try? ProxyHead(bytes), let path = head.path {
        // What the origin gets is a head of one reading: read again, it says the same.
        let text = String(decoding: head.forwarded(), as: UTF8.self)
        let target = "http://\(head.written)\(path == "*" ? "" : path)"
        let again = try? ProxyHead(Array(text.replacing(" \(path) ", with: " \(target) ", maxReplacements: 1).utf8))
        #expect(again?.authority == head.authority && again?.body == head.body, "\(text)")
        #expect(!text.lowercased().contains("\nproxy-"))
      }
      for read in [SOCKS.greeting, SOCKS.login, SOCKS.request] as [(inout ByteBuffer) throws -> Any?] {
        var rest = ByteBuffer(bytes: bytes)
        _ = try? read(&rest)
      }
      if let head = try? ProxyHead(Array("PUT http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)) {
        var (body, rest) = (FramedBody(head.body, dropping: head.dropped), ByteBuffer(bytes: bytes))
        // What is forwarded is a body of one reading, too.
        if let passed = body.take(&rest), body.isOver {
          var (again, copy) = (FramedBody(head.body, dropping: head.dropped), passed)
          #expect(again.take(&copy) == passed && again.isOver && copy.readableBytes == 0, "\(String(buffer: passed))")
        }
      }
      let view = ByteBuffer(bytes: bytes).readableBytesView
      if FirstFlight.verdict(view) == .hello { #expect(FirstFlight.verdict(view.dropLast()) == .incomplete) }
      var watch = HandshakeWatch()
      _ = watch.see(view)
      var held = HeldResponse()
      _ = try? held.append(ByteBuffer(bytes: bytes))
    }
  }
#endif
