import Foundation
import TestSupport
import Testing
import WaylayTesting

@Suite("Many answers in flight", .timeLimit(.minutes(10)))
struct InFlightTests {
  @Test(
    "64 delayed and streamed answers at a time, thousands in all: every one is right", .heavy,
    .mocked {
      Stub(.get, "https://api.example.com/users/:id") { request in
        let id = request.parameters["id"] ?? ""
        guard request.index.isMultiple(of: 2) else {
          return .text("[\(id)]").delay(.microseconds(request.index % 7 * 200))
        }
        return .chunks(["[", id, "]"], every: .microseconds(request.index % 3 * 100))
      }
    })
  func manyAtOnce() async throws {
    let client = UserClient(session: .mocked)
    let count = Sizes.of(20_000, small: 1_000)
    try await withThrowingTaskGroup { group in
      for worker in 0..<64 {
        group.addTask {
          for id in stride(from: worker, to: count, by: 64) {
            let name = try await client.name(of: id)
            try #require(name == "[\(id)]")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(MockInterceptor.current.requests.count == count)
  }
}
