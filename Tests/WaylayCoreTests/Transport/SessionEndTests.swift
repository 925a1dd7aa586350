// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  /// What an intercepted session leaves when it is released.
  @Suite("Sessions that are released", .timeLimit(.minutes(10)))
  struct SessionEndTests {
    private static var loops: Int {
      let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
      return tasks.count {
        (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8))?.contains("waylay-curl") == true
      }
    }

    @Test(
      "their connections, descriptors and threads go with them, invalidated or not, without a minute's wait", .exitTest)
    func letGo() async {
      await #expect(processExitsWith: .success) {
        let origin = try await TestOrigin.start()
        let ends: [@Sendable (URLSession) -> Void] = [
          { _ in }, { $0.finishTasksAndInvalidate() }, { $0.invalidateAndCancel() },
        ]
        func use(_ count: Int, _ end: (URLSession) -> Void) async throws {
          let sessions = (0..<count).map { _ in
            URLSession(configuration: .ephemeral.intercepted(by: InterceptorRegistry { Link.pass() }))
          }
          for session in sessions { _ = try await session.data(from: origin.url("/hello")) }
          Process.require(origin.openConnectionCount == count, "\(origin.openConnectionCount) connections")
          for session in sessions { end(session) }
        }
        func settle() async throws {
          // Half of the time after which a thread that nobody needs ends anyway.
          _ = try await Process.settles { origin.openConnectionCount == 0 && Self.loops == 0 }
        }
        for end in ends {
          try await use(1, end)
          try await settle()
        }
        let before = try Process.openDescriptors
        for end in ends {
          try await use(10, end)
          try await settle()
          let (connections, loops, descriptors) = (origin.openConnectionCount, Self.loops, try Process.openDescriptors)
          Process.require(
            connections == 0 && loops == 0 && descriptors <= before,
            "\(connections) connections, \(loops) threads and \(descriptors - before) descriptors stayed")
        }
        await origin.stop()
      }
    }

    @Test("the others of the same configuration go on, on the same connection, and new ones can be made")
    func others() async throws {
      let origin = try await TestOrigin.start()
      let registry = InterceptorRegistry { Link.pass() }
      let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry)
      func use() async throws {
        _ = try await URLSession(configuration: configuration).data(from: origin.url("/hello"))
      }
      let session = URLSession(configuration: configuration)
      _ = try await session.data(from: origin.url("/hello"))
      for _ in 0..<5 { try await use() }
      _ = try await session.data(from: origin.url("/hello"))
      #expect(origin.connectionCount == 1)
      registry.invalidate()

      let other = InterceptorRegistry { Link.pass() }
      let alone = URLSessionConfiguration.ephemeral.intercepted(by: other)
      for count in 2...4 {
        _ = try await URLSession(configuration: alone).data(from: origin.url("/hello"))
        await origin.until { $0.openConnectionCount == 0 }
        #expect(origin.connectionCount == count)
      }
      other.invalidate()
      await origin.stop()
    }
  }
#endif
