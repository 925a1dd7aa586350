// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  /// What belongs to a whole process, each in a process of its own.
  @Suite("CurlTransport, looked at from outside", .timeLimit(.minutes(10)))
  struct CurlProcessTests {
    @Test("takes a large body through a slow reader in bounded memory", .exitTest, .enabled(if: Process.measuresMemory))
    func download() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let origin = try await TestOrigin.start()
        origin.keepsLog = false
        let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
        try await Process.requireSameMemory { size in
          let before = origin.bytesSent
          let body = try await registry.load(URLRequest(url: origin.url("/bytes/\(size)"))).body
          return try await Process.peak(reading: body, of: size) { received in
            // The server is never far ahead: what it has sent is here, in the one buffer, or in the sockets, which grow
            // to some 36 MB.
            Process.require(origin.bytesSent - before - received < 64 << 20, "the server is not held back")
          }
        }
        registry.invalidate()
        await origin.stop()
      }
    }

    @Test("sends a large file in bounded memory", .exitTest, .enabled(if: Process.measuresMemory))
    func upload() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let size = Sizes.of(1 << 30, small: 128 << 20)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString)")
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(size))
        try handle.close()
        defer { try? FileManager.default.removeItem(at: file) }
        let sink = try Sink()
        let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
        var request = URLRequest(url: sink.url)
        request.httpMethod = "PUT"
        let before = Process.residentBytes
        let (answer, _) = try await registry.upload(for: request, fromFile: file)
        Process.require(
          String(decoding: answer, as: UTF8.self) == "\(size)",
          "the server got \(String(decoding: answer, as: UTF8.self)) bytes")
        let growth = Process.residentBytes - before
        Process.require(growth < 16 << 20, "resident memory grew by \(growth >> 20) MiB")
        registry.invalidate()
      }
    }

    @Test(
      "leaves no descriptor behind: cancels at any moment, resets, hang-ups and servers that say nothing", .exitTest)
    func descriptors() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let origin = try await TestOrigin.start()
        let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
        _ = try await registry.data(for: URLRequest(url: origin.url("/hello")))
        registry.invalidate()
        await origin.until { $0.openConnectionCount == 0 }
        let before = try Process.openDescriptors
        let wrong = Log<String>()
        let mixed = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
        await withTaskGroup(of: Void.self) { group in
          for worker in 0..<32 {
            group.addTask {
              for number in stride(from: worker, to: Sizes.of(2_100, small: 640), by: 32) {
                if let fault = await Self.misfortune(number, mixed, origin) { wrong.add(fault) }
              }
            }
          }
        }
        Process.require(wrong.all.isEmpty, wrong.all.prefix(5).joined(separator: "; "))
        mixed.invalidate()
        await origin.until { $0.openConnectionCount == 0 }
        // The loop's thread closes its own after the connections.
        _ = try await Process.settles { try Process.openDescriptors <= before }
        let after = try Process.openDescriptors
        Process.require(after <= before, "\(after - before) descriptors stayed open")
        await origin.stop()
      }
    }

    /// One load that does not end well, and what is wrong with how it ended.
    private static func misfortune(
      _ number: Int, _ registry: InterceptorRegistry, _ origin: TestOrigin
    ) async -> String? {
      var request = URLRequest(url: origin.url("/chunks/50?pause=1"))
      let wanted: Set<URLError.Code?>
      switch number % 21 {
      case 0..<10:
        let load = Task { [request] in try await registry.data(for: request).0 }
        for _ in 0..<number % 97 { await Task.yield() }
        load.cancel()
        let code = await failureCode { try await load.value }
        return code == .cancelled || code == nil ? nil : "a cancelled load failed with \(code?.rawValue ?? 0)"
      case 10..<20:
        request.url = origin.url("/reset")
        wanted = [.networkConnectionLost]
      default:
        request.url = origin.url("/never")
        request.timeoutInterval = 0.05
        wanted = [.timedOut]
      }
      let code = await failureCode { [request] in try await registry.data(for: request).0 }
      return wanted.contains(code) ? nil : "\(request.url?.path ?? "") ended with \(code?.rawValue ?? 0)"
    }

    @Test("goes through the proxy that the environment names, as URLSession does", .exitTest)
    func proxy() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let origin = try await TestOrigin.start()
        setenv("http_proxy", origin.url().absoluteString, 1)
        let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
        _ = try await registry.data(for: URLRequest(url: URL.example))
        let targets = origin.requests.map(\.target)
        Process.require(targets == [URL.example.absoluteString], "the proxy saw \(targets)")
        registry.invalidate()
        await origin.stop()
      }
    }

    @Test("reads the authorities once, and not for every connection", .exitTest)
    func authorities() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let authority = try TestAuthority()
        var tls = TestOrigin.TLS(authority: authority)
        tls.applicationProtocols = ["http/1.1"]
        let origin = try await TestOrigin.start(tls: tls)
        var options = CurlTransport.Options()
        options.additionalAuthorities = [Data(authority.pem.utf8)]
        let registry = InterceptorRegistry(
          transport: CurlTransport(configuration: .ephemeral, options: options), configuration: .ephemeral
        ) { Link.pass() }
        var request = URLRequest(url: origin.url("/hello"))
        request.setValue("close", forHTTPHeaderField: "Connection")
        _ = try await registry.data(for: request)
        let before = clock()
        for _ in 0..<40 { _ = try await registry.data(for: request) }
        // Of the processor, the server's share included. Reading them takes several times as much.
        let each = Double(clock() - before) / Double(CLOCKS_PER_SEC) / 40 * 1000
        print("\(each) ms of processor time for a connection")
        Process.require(origin.connectionCount == 41, "\(origin.connectionCount) connections")
        Process.require(each < 20, "a connection takes \(each) ms of processor time")
        registry.invalidate()
        await origin.stop()
      }
    }

    @Test("leaves no descriptor and no thread behind after races that were cancelled", .exitTest)
    func cancelledRaces() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let count = ProcessInfo.processInfo.environment["WAYLAY_CANCELLED_RACES"].flatMap { Int($0) } ?? 400
        let origin = try await TestOrigin.start(behaviour: .silent)
        let url = try Self.require(URL(string: "https://api.test:\(origin.port)/"))
        func race(_ registry: InterceptorRegistry) -> Task<Void, any Error> {
          Task {
            let gate = DialGate()
            try await withThrowingTaskGroup(of: Void.self) { group in
              for _ in 0..<3 {
                group.addTask {
                  let route = try Route("127.0.0.1", gate: gate)
                  _ = try await Race.$route.withValue(route) { try await registry.data(for: URLRequest(url: url)) }
                }
              }
              try await group.waitForAll()
            }
          }
        }
        func registry() -> InterceptorRegistry {
          InterceptorRegistry(transport: CurlTransport(configuration: .ephemeral), configuration: .ephemeral) {
            Link { request, next in
              var request = request
              request.route = Race.route
              return try await next(request)
            }
          }
        }
        func rounds(_ count: Int) async throws {
          let registry = registry()
          var done = 0
          while done < count {
            let races = (0..<min(100, count - done)).map { _ in race(registry) }
            for _ in 0..<done % 97 { await Task.yield() }
            for race in races { race.cancel() }
            for race in races { _ = await race.result }
            done += races.count
          }
          registry.invalidate()
          await origin.until { $0.openConnectionCount == 0 }
        }
        // The second round may open what the first one did not need, for good.
        for _ in 0..<3 { try await rounds(100) }
        // Those of the transports go.
        _ = try await Process.settles { !Self.threads.contains { $0.contains("waylay-curl") } }
        let before = (try Process.openDescriptors, Self.threads.count)
        try await rounds(count)
        _ = try await Process.settles { try Process.openDescriptors <= before.0 && Self.threads.count <= before.1 }
        let after = (try Process.openDescriptors, Self.threads.count)
        let (isOpen, names) = (try Process.descriptors, Self.threads)
        Process.require(
          after.0 <= before.0, "\(after.0 - before.0) descriptors stayed open of \(isOpen); threads \(names)")
        Process.require(after.1 <= before.1, "\(after.1 - before.1) threads stayed of \(names)")
        await origin.stop()
      }
    }

    @Test("a registry that is released takes its connections, their descriptors and its thread with it", .exitTest)
    func letGo() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let origin = try await TestOrigin.start()
        func use(_ count: Int) async throws {
          let registries = (0..<count).map { _ in InterceptorRegistry(configuration: .ephemeral) { Link.pass() } }
          for registry in registries { _ = try await registry.data(for: URLRequest(url: origin.url("/hello"))) }
          Process.require(origin.openConnectionCount == count, "\(origin.openConnectionCount) connections")
        }
        let loops = { Self.threads.count { $0.contains("waylay-curl") } }
        try await use(1)
        await origin.until { $0.openConnectionCount == 0 }
        _ = try await Process.settles { loops() == 0 }
        let before = try Process.openDescriptors
        try await use(30)
        await origin.until { $0.openConnectionCount == 0 }
        _ = try await Process.settles { try Process.openDescriptors <= before && loops() == 0 }
        let (after, threads) = (try Process.openDescriptors, loops())
        Process.require(after <= before && threads == 0, "\(after - before) descriptors and \(threads) threads stayed")
        await origin.stop()
      }
    }

    @Test(
      "a registry with a transport of its own leaves no descriptor and no thread, invalidated or released, and the transport works on",
      .exitTest, arguments: [false, true])
    func ownTransport(isSession: Bool) async {
      await #expect(processExitsWith: .success) { [isSession] in
        Process.limit()
        let origin = try await TestOrigin.start()
        let loops = { Self.threads.count { $0.contains("waylay-curl") } }
        func isOver(_ before: Int) async throws -> Bool {
          try await Process.settles { try Process.openDescriptors <= before && loops() == 0 }
        }
        func use(_ transport: CurlTransport) async throws -> InterceptorRegistry {
          let registry = InterceptorRegistry(transport: transport, configuration: .ephemeral) { Link.pass() }
          if isSession {
            let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
            _ = try await session.data(from: origin.url("/hello"))
            session.finishTasksAndInvalidate()
          } else {
            _ = try await registry.data(for: URLRequest(url: origin.url("/hello")))
          }
          Process.require(loops() == 1, "\(loops()) threads")
          return registry
        }
        // What is opened once for all.
        try await use(CurlTransport(configuration: .ephemeral)).invalidate()
        _ = try await isOver(.max)
        let before = try Process.openDescriptors
        let transport = CurlTransport(configuration: .ephemeral)
        for _ in 1...2 {
          try await use(transport).invalidate()
          let isWhole = try await isOver(before)
          Process.require(isWhole, "\((try? Process.descriptors) ?? []), \(Self.threads)")
        }
        if !isSession {
          _ = try await use(CurlTransport(configuration: .ephemeral))
          let isWhole = try await isOver(before)
          Process.require(isWhole, "\((try? Process.descriptors) ?? []), \(Self.threads)")
        }
        await origin.stop()
      }
    }

    @Test(
      "what a proxy is asked for is nothing of the request: a proxy that opens no tunnel has been sent none of it",
      .exitTest)
    func refusedTunnel() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let proxy = try await TestOrigin.start()
        setenv("https_proxy", proxy.url().absoluteString, 1)
        let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
        let url = try Self.require(URL(string: "https://api.test/"))
        let error = await failure { try await registry.data(for: URLRequest(url: url)) } as? URLError
        let cause = error?.userInfo[NSUnderlyingErrorKey] as? TransportError
        Process.require(proxy.connectionCount == 1, "\(proxy.connectionCount) connections to the proxy")
        Process.require(
          cause?.requestBytesSent == 0, "\(cause?.requestBytesSent ?? -1) bytes were counted: \(cause?.message ?? "")")
        registry.invalidate()
        await proxy.stop()
      }
    }

    private enum Race {
      @TaskLocal static var route: Route?
    }

    private static func require<Value>(_ value: Value?) throws -> Value {
      guard let value else { throw POSIXError(.EINVAL) }
      return value
    }

    /// The names of the process's threads, but for those of pools, which come as there is work and stay.
    private static var threads: [String] {
      let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
      let names = tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
      return names.filter { name in !["qos", "NIO", "dispatch"].contains { name.contains($0) } }
    }

    @Test("ends a process that has transfers under way without waiting for them", .exitTest)
    func exit() async {
      await #expect(processExitsWith: .exitCode(7)) {
        Process.limit()
        let origin = try await TestOrigin.start()
        let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
        for _ in 0..<8 {
          Task { _ = try? await registry.data(for: URLRequest(url: origin.url("/never"))) }
        }
        // As many as there may be connections to one host.
        await origin.until { $0.requests.count == 6 }
        Foundation.exit(7)
      }
    }
  }

  /// A server that counts the bytes of one request's body and keeps none of them.
  private final class Sink: Sendable {
    let url: URL

    init() throws {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isReady = withUnsafeMutableBytes(of: &address) { bytes -> Bool in
        guard let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
        return bind(listener, pointer, length) == 0 && listen(listener, 1) == 0
          && getsockname(listener, pointer, &length) == 0
      }
      guard isReady, let url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/") else {
        throw POSIXError(.EIO)
      }
      self.url = url
      Thread.detachNewThread {
        let connection = accept(listener, nil, nil)
        Self.serve(connection)
        close(connection)
        close(listener)
      }
    }

    private static func serve(_ connection: Int32) {
      var buffer = [UInt8](repeating: 0, count: 256 * 1024)
      var head = Data()
      var wanted = -1
      var received = 0
      while wanted < 0 || received < wanted {
        let count = read(connection, &buffer, buffer.count)
        guard count > 0 else { break }
        guard wanted < 0 else {
          received += count
          continue
        }
        head.append(contentsOf: buffer[..<count])
        guard let end = head.range(of: Data("\r\n\r\n".utf8)) else { continue }
        let text = String(decoding: head[..<end.lowerBound], as: UTF8.self).lowercased()
        let field = text.components(separatedBy: "\r\n").first { $0.hasPrefix("content-length:") }
        wanted = field.flatMap { Int($0.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces)) } ?? 0
        received = head.count - end.upperBound
      }
      let answer = "HTTP/1.1 200 OK\r\nContent-Length: \("\(received)".utf8.count)\r\n\r\n\(received)"
      _ = answer.withCString { write(connection, $0, strlen($0)) }
    }
  }
#endif
