import Foundation
import TestSupport
import Testing
import WaylayTesting

/// As many scopes as a large suite has, in processes of their own: what they print are the figures.
///
/// `WAYLAY_SCOPES` and `WAYLAY_REQUESTS` give other sizes.
@Suite("Very many scopes", .timeLimit(.minutes(10)))
struct ManyScopesTests {
  @Test("hundreds of scopes at once, each with its answer for one URL", .exitTest)
  func atOnce() async {
    await #expect(processExitsWith: .success) {
      Process.limit()
      let count = ManyScopesTests.size("WAYLAY_SCOPES", Sizes.of(1_000, small: 300))
      // Two for each session.
      Process.allowDescriptors(UInt(count) * 2 + 200)
      let meeting = Meeting(of: count)
      let wrong = await withTaskGroup { group in
        for number in 0..<count {
          group.addTask {
            await withMock {
              Stub(.get, "https://api.example.com/users/1", .text("\(number)"))
            } operation: {
              let session = URLSession.mocked
              await meeting.arrive()
              let names = try? await [
                UserClient(session: session).name(of: 1), UserClient(session: .mocked).name(of: 1),
              ]
              return names == ["\(number)", "\(number)"] && MockInterceptor.current.requests.count == 2 ? 0 : 1
            }
          }
        }
        return await group.reduce(0, +)
      }
      Process.require(wrong == 0, "\(wrong) of \(count) scopes had a wrong answer")
    }
  }

  @Test(
    "memory after hundreds of scopes is that after 100", .exitTest,
    .enabled(if: Process.measuresMemory, "resident memory says nothing here"))
  func memory() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
      Process.limit()
      // Each echoes its upload, so that one that stays is seen.
      let size = 64 << 10
      func scopes(_ count: Int) async {
        for number in 0..<count {
          await withMock {
            Stub(.post, "https://api.example.com/echo/:id") { request in .data(request.body) }
            Stub(.get, "https://api.example.com/users/1", .text("\(number)"))
          } operation: {
            var request = URLRequest(url: URL(string: "https://api.example.com/echo/\(number)")!)
            request.httpMethod = "POST"
            let echo = try? await URLSession.mocked.upload(for: request, from: Data(repeating: 1, count: size)).0
            let name = try? await UserClient(session: .mocked).name(of: 1)
            Process.require(echo?.count == size && name == "\(number)", "a wrong answer")
          }
        }
      }
      let count = ManyScopesTests.size("WAYLAY_SCOPES", Sizes.of(1_000, small: 300))
      await scopes(100)
      let early = Process.residentBytes
      await scopes(count - 100)
      let late = Process.residentBytes
      let growth = late - early
      print(
        """
        resident after 100 scopes: \(early / 1_000) kB, after \(count): \(late / 1_000) kB, \(growth / (count - 100)) \
        bytes a scope
        """
      )
      // A protocol class is a type, and types are never freed: about a kilobyte each. The bodies alone would be 64 kB a
      // scope.
      Process.require(growth < 4 << 20 + (count - 100) * 4_000, "memory grew by \(growth) bytes")
    }
    print(String(decoding: result.standardOutputContent, as: UTF8.self))
  }

  @Test("thousands of requests, 64 at a time, are answered and written down", .exitTest)
  func requests() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
      Process.limit()
      let count = ManyScopesTests.size("WAYLAY_REQUESTS", Sizes.of(2_000, small: 1_000))
      let started = ContinuousClock.now
      let wrong = await withMock {
        Stub(.get, "https://api.example.com/users/:id") { request in .text("[\(request.parameters["id"] ?? "")]") }
        Stub(.get, "https://api.example.com/fixed", .text("fixed")).optional
      } operation: {
        await withTaskGroup { group in
          for worker in 0..<64 {
            group.addTask {
              var wrong = 0
              for id in stride(from: worker, to: count, by: 64) {
                let name = try? await UserClient(session: .mocked).name(of: id)
                if name != "[\(id)]" { wrong += 1 }
              }
              return wrong
            }
          }
          let wrong = await group.reduce(0, +)
          return wrong + abs(count - MockInterceptor.current.requests.count)
        }
      }
      print("\(count) requests, 64 at a time: \(wrong) wrong, \(started.duration(to: .now))")
      Process.require(wrong == 0, "\(wrong) of \(count) requests were answered wrongly, or not written down")
    }
    print(String(decoding: result.standardOutputContent, as: UTF8.self))
  }

  static func size(_ name: String, _ normal: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? normal
  }
}
