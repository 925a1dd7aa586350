import Foundation
import TestSupport
import Testing
import WaylayCore
import WaylayMocks

@Suite("ValidateStatus", .timeLimit(.minutes(5)))
struct StatusTests {
  @Test("a body that drips, or never ends whatever happens, is waited for a second: the error has what came")
  func drips() async throws {
    let (clock, chunks) = (MockClock(), Log<String>())
    let (asked, ask) = AsyncStream<Void>.makeStream()
    let end = Promise<Data?>()
    let body = MessageBody.stream(
      AsyncStream<Data>(unfolding: {
        chunks.add("chunk")
        if chunks.all.count == 1 { return Data("why".utf8) }
        ask.finish()
        return try? await end.value()
      }))
    let script = Script { request, _ in
      InterceptedResponse(to: request, status: .badRequest, body: body, source: .network)
    }
    let load = Task { try await ValidateStatus(clock: clock).load(.example, script) }
    for await _ in asked {}
    try await clock.waitForSleepers()
    clock.advance(by: .milliseconds(999))
    #expect(clock.sleepers == 1)
    clock.advance(by: .milliseconds(1))
    let error = await failure { try await load.value } as? URLError
    #expect(error?.code == .badServerResponse)
    #expect(error?.cause(as: StatusError.self)?.body == Data("why".utf8))
    end.settle(.success(nil))
  }
}
