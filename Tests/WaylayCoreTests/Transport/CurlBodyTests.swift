// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  /// Bodies of HTTP/2 side by side: each load gets its own, and all of it, whatever becomes of the others (U21).
  @Suite("CurlTransport, bodies side by side", .timeLimit(.minutes(10)))
  struct CurlBodyTests {
    /// Each word of a body says which body it is of, and where in it it stands.
    private static func pattern(_ number: Int) -> Data {
      var bytes = Data(capacity: 400_000)
      for word in 0..<50_000 {
        withUnsafeBytes(of: UInt64(number) << 32 | UInt64(word)) { bytes.append(contentsOf: $0) }
      }
      return bytes
    }

    private func with(_ body: (TestOrigin, InterceptorRegistry) async throws -> Void) async throws {
      var options = CurlTransport.Options()
      // A reader is behind soon.
      options.bufferSize = 20_000
      try await withTrustedOrigin(options: options) { origin, registry in
        origin.keepsLog = false
        origin.reply(to: "/pattern") { Reply(200, [], .whole(Self.pattern($0.query("number").flatMap(Int.init) ?? 0))) }
        origin.reply(to: "/count") { .text("\($0.body.count)") }
        try await body(origin, registry)
      }
    }

    @Test("nothing of a body that was given up is in the body of the next load")
    func givenUp() async throws {
      try await with { origin, registry in
        // Somebody is on the first connection all the time.
        let neighbour = try await registry.load(URLRequest(url: origin.url("/gate/open")))
        for number in 1...6 {
          let response = try await registry.load(URLRequest(url: origin.url("/pattern?number=\(number)")))
          // The server has sent all of it before it sends these, and libcurl holds back what nobody reads.
          for _ in 0..<3 { _ = try await registry.data(for: URLRequest(url: origin.url("/hello"))) }
          if number.isMultiple(of: 2) {
            let body = try await response.body.collect(upTo: 10_000_000)
            #expect(body == Self.pattern(number), "body \(number), with \(body.count) bytes")
          } else {
            withExtendedLifetime(response) {}
          }
        }
        origin.release(nil, gate: "open")
        _ = try await neighbour.body.collect(upTo: 100)
      }
    }

    @Test("nothing of a body is missing beside uploads whose length nobody has said", .heavy)
    func besideUploads() async throws {
      try await with { origin, registry in
        let faults = await withTaskGroup(of: String?.self) { group in
          for number in 0..<Sizes.of(3_000, small: 150) {
            group.addTask {
              do {
                return number.isMultiple(of: 3)
                  ? try await Self.upload(origin, registry) : try await Self.read(number, origin, registry)
              } catch {
                return "load \(number): \(error)"
              }
            }
          }
          return await group.reduce(into: []) { if let fault = $1 { $0.append(fault) } }
        }
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(3))")
      }
    }

    private static func read(
      _ number: Int, _ origin: TestOrigin, _ registry: InterceptorRegistry
    ) async throws -> String? {
      var body = Data()
      for try await chunk in try await registry.load(URLRequest(url: origin.url("/pattern?number=\(number)"))).body {
        body.append(chunk)
        await Task.yield()
      }
      return body == pattern(number) ? nil : "body \(number) is another, with \(body.count) bytes"
    }

    private static func upload(_ origin: TestOrigin, _ registry: InterceptorRegistry) async throws -> String? {
      var request = URLRequest(url: origin.url("/count"))
      request.httpMethod = "POST"
      let chunks = AsyncStream<Data> { continuation in
        for _ in 0..<4 { continuation.yield(Data(count: 10_000)) }
        continuation.finish()
      }
      let answer = try await registry.upload(for: request, from: .stream(chunks)).0
      return answer == Data("40000".utf8) ? nil : "the server got \(String(decoding: answer, as: UTF8.self)) of 40000"
    }
  }
#endif
