// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  /// The one thread on which all transfers of a transport are: none is forgotten, whatever the others do.
  @Suite("CurlTransport, its loop", .timeLimit(.minutes(10)))
  struct CurlLoopTests {
    /// Loads of many kinds side by side, in an order that a seed chooses. One that nobody wakes any more ends with its
    /// timeout, which no kind allows.
    struct Mixture: Sendable {
      let origin: TestOrigin
      let transport: CurlTransport
      let registry: InterceptorRegistry
      let silent: URL

      /// What was wrong with one load; `nil` when nothing was.
      func fault(_ number: Int, _ dice: inout SplitMix) async -> String? {
        let turns = Int.random(in: 0..<12, using: &dice)
        let size = Int.random(in: 1..<400_000, using: &dice)
        let kind = Int.random(in: 0..<10, using: &dice)
        do {
          switch kind {
          case 0, 1: return try await mirrored(number, host: nil)
          // A lookup on a thread of its own, and addresses of which one refuses.
          case 2: return try await mirrored(number, host: "localhost")
          case 3, 4: return try await read(size, pausing: turns)
          case 5, 6: return try await upload(size, pausing: turns)
          case 7:
            let load = Task { try await read(size, pausing: turns) }
            for _ in 0..<turns { await Task.yield() }
            load.cancel()
            return try await load.value
          case 8:
            // Its connection never opens: libcurl closes it without a word, and the number is free for another.
            let load = Task { try await registry.data(for: URLRequest(url: silent)).0 }
            for _ in 0..<turns { await Task.yield() }
            load.cancel()
            _ = try await load.value
            return "a connection that nobody accepts was opened"
          default:
            transport.closeIdleConnections(to: "127.0.0.1", port: origin.port)
            _ = try await registry.load(URLRequest(url: origin.url("/bytes/\(size)")))
            return nil
          }
        } catch {
          let isWanted = kind >= 7 && (error is CancellationError || (error as? URLError)?.code == .cancelled)
          return isWanted ? nil : "kind \(kind): \(error)"
        }
      }

      private func mirrored(_ number: Int, host: String?) async throws -> String? {
        let answer = try await registry.data(for: URLRequest(url: origin.url("/mirror?\(number)", host: host))).0
        return answer == Data("/mirror?\(number)".utf8) ? nil : "the answer of another"
      }

      /// A reader that lets others go first before each chunk.
      private func read(_ size: Int, pausing turns: Int) async throws -> String? {
        var count = 0
        for try await chunk in try await registry.load(URLRequest(url: origin.url("/bytes/\(size)"))).body {
          count += chunk.count
          for _ in 0..<turns { await Task.yield() }
        }
        return count == size ? nil : "\(count) of \(size) bytes"
      }

      /// A writer that lets others go first before each chunk.
      private func upload(_ size: Int, pausing turns: Int) async throws -> String? {
        var request = URLRequest(url: origin.url("/count"))
        request.httpMethod = "POST"
        let chunks = AsyncStream<Data> { continuation in
          Task {
            for start in stride(from: 0, to: size, by: 30_000) {
              for _ in 0..<turns { await Task.yield() }
              continuation.yield(Data(count: min(30_000, size - start)))
            }
            continuation.finish()
          }
        }
        let answer = try await registry.upload(for: request, from: .stream(chunks)).0
        return answer == Data("\(size)".utf8)
          ? nil : "the server got \(String(decoding: answer, as: UTF8.self)) of \(size)"
      }
    }

    @Test(
      "slow readers, uploads, cancels and lookups at once: every load comes to its end", .heavy,
      arguments: [[], ["http/1.1"], ["h2", "http/1.1"]])
    func mixture(protocols: [String]) async throws {
      let authority = try TestAuthority()
      var tls = TestOrigin.TLS(authority: authority, names: ["127.0.0.1", "localhost"])
      tls.applicationProtocols = protocols
      let origin = try await TestOrigin.start(tls: protocols.isEmpty ? nil : tls)
      origin.keepsLog = false
      origin.reply(to: "/mirror") { .text($0.target) }
      origin.reply(to: "/count") { .text("\($0.body.count)") }
      let hole = try BlackHole(host: "127.0.0.3", port: origin.port)
      var options = CurlTransport.Options()
      options.additionalAuthorities = [Data(authority.pem.utf8)]
      // A reader is behind soon.
      options.bufferSize = 20_000
      let transport = CurlTransport(configuration: .ephemeral, options: options)
      let registry = InterceptorRegistry(transport: transport, configuration: .ephemeral) { Link.pass() }
      let mixture = Mixture(
        origin: origin, transport: transport, registry: registry, silent: origin.url("/", host: "127.0.0.3"))
      let seed = ProcessInfo.processInfo.environment["WAYLAY_SEED"].flatMap { UInt64($0) } ?? 2026
      let faults = await withTaskGroup(of: [String].self) { group in
        for worker in 0..<48 {
          group.addTask {
            var dice = SplitMix(state: seed &* 1_000 &+ UInt64(worker))
            var faults: [String] = []
            for number in stride(from: worker, to: Sizes.of(40_000, small: 192), by: 48) {
              if let fault = await mixture.fault(number, &dice) { faults.append(fault) }
            }
            return faults
          }
        }
        return await group.reduce(into: []) { $0 += $1 }
      }
      #expect(faults.isEmpty, "seed \(seed), \(faults.count) faults: \(faults.prefix(3))")
      transport.invalidate()
      await origin.stop()
      withExtendedLifetime(hole) {}
    }

    @Test("a thousand connections at once: each request gets its own answer, and no descriptor stays", .exitTest)
    func manyConnections() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let inFlight = Sizes.of(1_024, small: 200)
        Process.allowDescriptors(8_192)
        let origin = try await TestOrigin.start()
        origin.keepsLog = false
        origin.reply(to: "/mirror") { .text($0.target) }
        func use(_ inFlight: Int, _ count: Int) async throws {
          var options = CurlTransport.Options()
          options.maximumConnectionsPerHost = inFlight
          let registry = InterceptorRegistry(
            transport: CurlTransport(configuration: .ephemeral, options: options), configuration: .ephemeral
          ) { Link.pass() }
          try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<inFlight {
              group.addTask {
                for number in stride(from: worker, to: count, by: inFlight) {
                  let answer = try await registry.data(for: URLRequest(url: origin.url("/mirror?\(number)"))).0
                  Process.require(answer == Data("/mirror?\(number)".utf8), "the answer of another")
                }
              }
            }
            try await group.waitForAll()
          }
          // They are kept: none is opened anew for every request.
          Process.require(origin.connectionCount <= 1 + inFlight, "\(origin.connectionCount) connections were opened")
          registry.invalidate()
          await origin.until { $0.openConnectionCount == 0 }
        }
        try await use(1, 1)
        let before = try Process.openDescriptors
        try await use(inFlight, Sizes.of(20_000, small: 2_000))
        _ = try await Process.settles { try Process.openDescriptors <= before }
        let left = try Process.descriptors
        Process.require(left.count <= before, "\(left.count - before) descriptors stayed open: \(left)")
        await origin.stop()
      }
    }
  }
#endif
