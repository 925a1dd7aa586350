import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Heads that are as large as a server may make them", .timeLimit(.minutes(5)))
struct LimitTests {
  private static let lines = 70_000

  /// A response that goes on in `head` behind its status line.
  private static func response(_ head: String, body: String = "5\r\nhello\r\n0\r\n", trailers: String = "") -> Reply {
    .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(head)\r\n\(body)\(trailers)\r\n")
  }

  private static func many(_ line: (Int) -> String) -> String {
    (0..<lines).map { line($0) + "\r\n" }.joined()
  }

  /// The name of the limit in the error beneath.
  private static func limit(_ error: any Error) -> String? {
    let transportError = (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? TransportError
    let beneath = transportError?.underlying as? WaylayError ?? cause(error)
    guard beneath?.code == .limitExceeded else { return nil }
    return beneath?.message.split(separator: ".").last { $0.contains("allows") }?.split(separator: " ").first.map(
      String.init)
  }

  /// What a direct load and a session make of one reply of a server; the body is read.
  private func failures(of reply: Reply) async throws -> [any Error] {
    var all: [any Error] = []
    try await withOrigin { origin in
      origin.reply(to: "/large") { _ in reply }
      let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
      let request = URLRequest(url: origin.url("/large"))
      if let error = await failure({ try await registry.data(for: request) }) { all.append(error) }
      let session = URLSession.intercepted(by: registry)
      if let error = await failure({ try await session.data(for: request) }) { all.append(error) }
      // The transport goes on: nothing of it was hurt.
      let after = try await registry.data(for: URLRequest(url: origin.url("/hello"))).1
      #expect(after.statusCode == 200)
      session.invalidateAndCancel()
      registry.invalidate()
    }
    return all
  }

  /// 128 MiB of zeros, compressed twice.
  private static let bomb = """
    H4sIAAAAAAACA+3cLU4DYRSG0emPmCCgiCoEXQG6CWlCDRoS0ASBRKKZhKAwbAKNYgE4dgC4LoAgCEERhs4s43vPUVdfeXPz7N7V \
    VWc4+ngeDNZDc//3+FlvVAAAAEDhmvebUXcMqGbt6+HRKQAAAFC6863NcX8U+D3bWVoHAAAAFO92MZ/0HwJf15dj6wAAAIDiTX9W \
    B/0t4KV92j6xDwAAACjem2AAAAAARBEMAAAAgCyCAQAAAJBFMAAAAADCCAYAAABAFsEAAAAAyCIYAAAAAFkEAwAAACCMYAAAAABk \
    EQwAAACALIIBAAAAkEUwAAAAAMIIBgAAAEAWwQAAAADIIhgAAAAAWQQDAAAAIIxgAAAAAGQRDAAAAIAsggEAAACQRTAAAAAAwggG \
    AAAAQBbBAAAAAMgiGAAAAABZBAMAAAAgjGAAAAAAZBEMAAAAgCwPi/msewyYfLdX+8NpBQAApFrtHS8vmvVQ/wNO6FZOrv0BAA==
    """

  @Test(
    "a body that is compressed twice and decoded to more than libcurl keeps fails with an error that names that limit",
    .enabled(if: Platform.hasCurl, "Apple's sessions have limits of their own"))
  func bombs() async throws {
    let bomb = try #require(Data(base64Encoded: Self.bomb, options: .ignoreUnknownCharacters))
    let errors = try await failures(of: Reply(200, [("Content-Encoding", "gzip, gzip")], .whole(bomb)))
    #expect(errors.count == 2)
    for error in errors {
      let cause = try #require((error as? URLError)?.cause(as: TransportError.self))
      #expect(cause.urlErrorCode == .dataLengthExceedsMaximum && cause.code == .limitExceeded)
      #expect((cause.underlying as? WaylayError)?.code == .limitExceeded)
      #expect(cause.message.contains("gzip, gzip") && cause.message.contains("64 MiB"), "\(cause.message)")
    }
  }

  @Test(
    "70 000 header fields fail the load, and not the process", .exitTest,
    .enabled(if: Platform.hasCurl, "Apple's sessions show no lines of a head, and have limits of their own"))
  func fields() async throws {
    await #expect(processExitsWith: .success) {
      Process.limit()
      let errors = try await LimitTests().failures(of: LimitTests.response(LimitTests.many { _ in "X:" }))
      Process.require(errors.count == 2, "\(errors)")
    }
  }

  @Test(
    "70 000 trailer fields fail the body, and not the process", .exitTest,
    .enabled(if: Platform.hasCurl, "Apple's sessions show no lines of a head, and have limits of their own"))
  func trailers() async throws {
    await #expect(processExitsWith: .success) {
      Process.limit()
      let errors = try await LimitTests().failures(
        of: LimitTests.response("", trailers: LimitTests.many { "X-\($0): y" }))
      Process.require(errors.count == 2, "\(errors)")
    }
  }

  @Test(
    "interim responses without an end fail the load",
    .enabled(if: Platform.hasCurl, "Apple's sessions show no lines of a head, and have limits of their own"))
  func interim() async throws {
    let head = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
    let errors = try await failures(
      of: .raw(String(repeating: head, count: 2_000) + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    #expect(errors.map(Self.limit) == ["interimResponseCount", "interimResponseCount"])
  }

  @Test(
    "a field that goes on in 70 000 lines fails the load",
    .enabled(if: Platform.hasCurl, "Apple's sessions show no lines of a head, and have limits of their own"),
    .timeLimit(.minutes(1)))
  func folded() async throws {
    let errors = try await failures(of: Self.response("X-Long: a\r\n" + Self.many { _ in "\t" }))
    #expect(errors.map(Self.limit) == ["fieldCount", "fieldCount"])
  }

  @Test(
    "an error over a limit names the limit, in what the app sees and beneath",
    .enabled(if: Platform.hasCurl, "Apple's sessions show no lines of a head, and have limits of their own"))
  func named() async throws {
    let errors = try await failures(of: Self.response((0..<2_001).map { "X-\($0): y\r\n" }.joined()))
    #expect(errors.map(Self.limit) == ["fieldCount", "fieldCount"])
    for error in errors {
      #expect((error as? URLError)?.code == .dataLengthExceedsMaximum)
      #expect(error.localizedDescription.contains("2000 field lines that MessageLimits.fieldCount allows"))
    }
    let large = try await failures(
      of: Self.response(String(repeating: "X-Long: \(String(repeating: "a", count: 90_000))\r\n", count: 3)))
    #expect(large.map(Self.limit) == ["fieldBytes", "fieldBytes"])
  }

  @Test(
    "one field that is larger than libcurl takes fails in the same way",
    .enabled(if: Platform.hasCurl, "Apple's sessions show no lines of a head, and have limits of their own"))
  func largeField() async throws {
    let errors = try await failures(of: Self.response("X-Long: \(String(repeating: "a", count: 200_000))\r\n"))
    #expect(errors.map { ($0 as? URLError)?.code } == [.dataLengthExceedsMaximum, .dataLengthExceedsMaximum])
  }

  @Test("an app's limits hold in its registry's sessions, in direct loads and in transports of its own")
  func own() async throws {
    var limits = MessageLimits()
    limits.fieldCount = 10
    try await withOrigin { origin in
      origin.reply(to: "/large") { _ in Self.response((0..<11).map { "X-\($0): y\r\n" }.joined()) }
      origin.reply(to: "/small") { _ in Self.response((0..<9).map { "X-\($0): y\r\n" }.joined()) }
      var transports: [any Transport] = [URLSessionTransport(configuration: .ephemeral, limits: limits)]
      if let transport = Platform.curlTransport(limits: limits) { transports.append(transport) }
      var registries = transports.map { InterceptorRegistry(transport: $0, configuration: .ephemeral) { Link.pass() } }
      registries.append(InterceptorRegistry(configuration: .ephemeral, limits: limits) { Link.pass() })
      for registry in registries {
        let session = URLSession.intercepted(by: registry)
        for path in ["/small", "/large"] {
          let request = URLRequest(url: origin.url(path))
          for error in [
            await failure { try await registry.data(for: request) },
            await failure { try await session.data(for: request) },
          ] {
            #expect(error.flatMap(Self.limit) == (path == "/large" ? "fieldCount" : nil))
          }
        }
        session.invalidateAndCancel()
        registry.invalidate()
      }
      for transport in transports { transport.invalidate() }
    }
  }

  @Test("limits that make no sense are brought into their range")
  func range() {
    var limits = MessageLimits()
    limits.fieldCount = .max
    #expect(limits.fieldCount == 65_534)
    for value in [Int.min, -1, 0] {
      (limits.fieldCount, limits.fieldBytes, limits.interimResponseCount) = (value, value, value)
      (limits.cookieCount, limits.cookieBytes) = (value, value)
      #expect((limits.fieldCount, limits.fieldBytes) == (1, 1))
      #expect((limits.interimResponseCount, limits.cookieCount, limits.cookieBytes) == (0, 0, 0))
    }
  }

  @Test("cookies over their limits are ignored, the others are stored and sent, and a line says so")
  func cookies() async throws {
    try await withOrigin { origin in
      origin.reply(to: "/cookies") { _ in
        .text(
          "",
          fields: (0..<300).map {
            ("Set-Cookie", "c\($0)=\($0 == 7 ? String(repeating: "v", count: 5_000) : "v"); Path=/")
          })
      }
      let lines = Log<String>()
      let configuration = URLSessionConfiguration.ephemeral
      let storage = try #require(configuration.httpCookieStorage)
      let registry = InterceptorRegistry(configuration: configuration, logger: .recording(lines)) { Link.pass() }
      for _ in 0..<2 { _ = try await registry.data(for: URLRequest(url: origin.url("/cookies"))) }
      #expect(storage.cookies?.count == 179)
      #expect(storage.cookies?.contains { $0.name == "c7" } == false)
      #expect(lines.all.contains { $0.hasPrefix("warning cookies") && $0.contains("cookieCount") })
      // There is room for one more, and one that is known can be set anew.
      origin.reply(to: "/more") { _ in
        .text("", fields: ["m1=1", "m2=2", "c0=new"].map { ("Set-Cookie", "\($0); Path=/") })
      }
      _ = try await registry.data(for: URLRequest(url: origin.url("/more")))
      #expect(storage.cookies?.count == 180)
      #expect(storage.cookies?.first { $0.name == "c0" }?.value == "new")
      registry.invalidate()
    }
  }

  @Test("a server cannot set so many cookies that no request can be sent to it any more")
  func manyCookies() async throws {
    try await withOrigin { origin in
      origin.reply(to: "/cookies") { _ in
        .text("", fields: (0..<60).map { ("Set-Cookie", "c\($0)=\(String(repeating: "v", count: 4_000)); Path=/") })
      }
      let configuration = URLSessionConfiguration.ephemeral
      let registry = InterceptorRegistry(configuration: configuration) { Link.pass() }
      _ = try await registry.data(for: URLRequest(url: origin.url("/cookies")))
      #expect(configuration.httpCookieStorage?.cookies?.count == 60)
      let next = await failure { try await registry.load(URLRequest(url: origin.url("/status/204"))) }
      #expect(next == nil)
      registry.invalidate()
    }
  }
}
