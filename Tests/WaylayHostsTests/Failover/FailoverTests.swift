import Foundation
import TestSupport
import Testing
import WaylayCore

@testable import WaylayHosts

@Suite("Failover", .timeLimit(.minutes(5)))
struct FailoverTests {
  private let good = FakeNetwork.Behaviour.answers()

  @Test(
    "goes to the next address within the request when nothing was sent, whatever the method",
    arguments: [
      (TransportError.refused, "refused"), (.unsent(.timedOut), "timed out"),
      (.unsent(.networkConnectionLost, .securing), "closed"),
      (.unsent(.secureConnectionFailed, .securing, "unexpected eof"), "TLS failed"),
      (.unsent(.secureConnectionFailed, .securing, "what came is not TLS", code: .notTLS), "protocol mismatch"),
      (.rogue, "certificate refused"),
      (.unsent(.serverCertificateUntrusted, .securing), "certificate refused"),
    ])
  func unsent(error: TransportError, outcome: String) async throws {
    let rig = try Rig(["127.0.0.1": .fails(error), "127.0.0.2": good])
    var events = rig.rewriter.events().makeAsyncIterator()
    #expect(try await rig.load("POST", body: .text("pay")) == "127.0.0.2")
    #expect(rig.network.sent == ["127.0.0.2"])
    let attempt = await events.next()?.attempt
    #expect(attempt?.outcome.description == outcome)
    #expect(attempt?.candidate?.address.literal == "127.0.0.1")
  }

  @Test("passes a body that can be read once on to the next address, while nobody has read it")
  func oneShotBody() async throws {
    let rig = try Rig(["127.0.0.1": .fails(.rogue), "127.0.0.2": good])
    let body = MessageBody.stream(AsyncStream<Data> { $0.finish() })
    #expect(try await rig.load("POST", body: body) == "127.0.0.2")
  }

  @Test(
    "repeats a request of which something was sent only where that is safe",
    arguments: [
      ("GET", true), ("HEAD", true), ("PUT", true), ("DELETE", true), ("OPTIONS", true), ("POST", false),
      ("PATCH", false),
    ])
  func sent(method: String, isRepeated: Bool) async throws {
    let rig = try Rig(["127.0.0.1": .fails(.sentAndLost), "127.0.0.2": good])
    if isRepeated {
      #expect(try await rig.load(method) == "127.0.0.2")
    } else {
      let error = await rig.failure(method)
      #expect((error as? TransportError)?.urlErrorCode == .networkConnectionLost)
      #expect(rig.network.visited == ["127.0.0.1"])
    }
  }

  @Test("does not repeat an idempotent request whose body can be read once")
  func sentOneShot() async throws {
    let rig = try Rig(["127.0.0.1": .fails(.sentAndLost), "127.0.0.2": good])
    let error = await rig.failure("PUT", body: .stream(AsyncStream<Data> { $0.finish() }))
    #expect(error is TransportError)
    #expect(rig.network.visited == ["127.0.0.1"])
  }

  @Test("tries an address once, however often it is named")
  func namedTwice() async throws {
    let rig = try Rig(
      ["127.0.0.1": .fails(.refused), "127.0.0.2": good],
      addresses: ["127.0.0.1", "127.0.0.1:443", "127.0.0.1", "127.0.0.2", "127.0.0.1"])
    #expect(try await rig.load("POST") == "127.0.0.2")
    #expect(rig.network.visited == ["127.0.0.1", "127.0.0.2"])
    #expect(try await rig.states().count == 2)
  }

  @Test("tries no other address when the fault is the request's")
  func ownFault() async throws {
    let rig = try Rig(["127.0.0.1": .fails(.unsent(.requestBodyStreamExhausted)), "127.0.0.2": good])
    let error = await rig.failure()
    #expect((error as? TransportError)?.urlErrorCode == .requestBodyStreamExhausted)
    #expect(rig.network.visited == ["127.0.0.1"])
  }

  @Test("a race starts the next address every 250 ms, and ends the others when one is connected")
  func race() async throws {
    let rig = try Rig(["127.0.0.1": .hangs, "127.0.0.2": .hangs, "127.0.0.3": .answers(after: .milliseconds(40))])
    async let answer = rig.load("POST")
    await rig.network.time.sleeper(until: .milliseconds(250))
    #expect(rig.network.visited == ["127.0.0.1"])
    rig.network.time.advance(by: .milliseconds(250))
    await rig.network.time.sleeper(until: .milliseconds(500))
    rig.network.time.advance(by: .milliseconds(250))
    await rig.network.visits(3)
    await rig.network.time.sleeper(until: .milliseconds(540))
    rig.network.time.advance(by: .milliseconds(40))
    #expect(try await answer == "127.0.0.3")
    #expect(rig.network.visits.map(\.time) == [.zero, .milliseconds(250), .milliseconds(500)])
    #expect(rig.network.sent == ["127.0.0.3"])
    #expect(Set(rig.network.cancelled) == ["127.0.0.1", "127.0.0.2"])
  }

  @Test("a race does not wait for the stagger when one has failed, though another is still on its way")
  func raceAfterFailure() async throws {
    let rig = try Rig([
      "127.0.0.1": .hangs, "127.0.0.2": .fails(.refused), "127.0.0.3": .fails(.rogue), "127.0.0.4": .answers(),
    ])
    async let answer = rig.load("POST")
    await rig.network.time.sleeper(until: .milliseconds(250))
    rig.network.time.advance(by: .milliseconds(250))
    #expect(try await answer == "127.0.0.4")
    #expect(rig.network.visits.map(\.time) == [.zero, .milliseconds(250), .milliseconds(250), .milliseconds(250)])
  }

  @Test("one by one starts the next address at the deadline of the one before, which can send nothing any more")
  func oneByOne() async throws {
    var policy = HostRewriter.Policy.require
    policy.connectionAttemptDelay = nil
    let rig = try Rig(["127.0.0.1": .hangs, "127.0.0.2": good], policy: policy)
    async let answer = rig.load("POST")
    await rig.network.time.sleeper(until: .seconds(3))
    rig.network.time.advance(by: .milliseconds(2999))
    #expect(rig.network.visited == ["127.0.0.1"])
    rig.network.time.advance(by: .milliseconds(1))
    #expect(try await answer == "127.0.0.2")
    #expect(rig.network.sent == ["127.0.0.2"])
    #expect(rig.network.visits.first?.request.route?.connectTimeout == .seconds(3))
  }

  @Test("addresses that were late one by one are tried once more, all at once, before the request fails")
  func lateOnes() async throws {
    var policy = HostRewriter.Policy.require
    policy.connectionAttemptDelay = nil
    let rig = try Rig(["127.0.0.1": .hangs, "127.0.0.2": .answers(after: .seconds(8))], policy: policy)
    async let answer = rig.load()
    await rig.network.time.sleeper(until: .seconds(3))
    rig.network.time.advance(by: .seconds(3))
    await rig.network.time.sleeper(until: .seconds(6))
    rig.network.time.advance(by: .seconds(3))
    await rig.network.time.sleeper(until: .seconds(14))
    #expect(rig.network.visited.count == 4)
    rig.network.time.advance(by: .seconds(8))
    #expect(try await answer == "127.0.0.2")
  }

  @Test("an attempt that was connected second gets its turn when the first fails before it has sent anything")
  func secondTurn() async throws {
    let rig = try Rig([
      "127.0.0.1": .claimsAndFails(
        .unsent(.networkConnectionLost, .sending), connected: .milliseconds(300), failed: .milliseconds(600)),
      "127.0.0.2": .answers(after: .milliseconds(100)),
    ])
    async let answer = rig.load("POST")
    await rig.network.time.sleeper(until: .milliseconds(250))
    rig.network.time.advance(by: .milliseconds(250))
    await rig.network.time.sleeper(until: .milliseconds(350))
    // The first claims the gate, the second is connected and finds it claimed.
    rig.network.time.advance(by: .milliseconds(50))
    await rig.network.time.sleeper(until: .milliseconds(900))
    rig.network.time.advance(by: .milliseconds(50))
    await rig.network.losses(1)
    #expect(rig.network.sent.isEmpty)
    rig.network.time.advance(by: .milliseconds(550))
    await rig.network.time.sleeper(until: .milliseconds(1000))
    rig.network.time.advance(by: .milliseconds(100))
    #expect(try await answer == "127.0.0.2")
    #expect(rig.network.sent == ["127.0.0.2"])
  }

  @Test(
    """
    an address that takes the request and is silent gets the next one beside it; a request that cannot be repeated \
    waits
    """
  )
  func silence() async throws {
    let rig = try Rig(["127.0.0.1": .takesAndIsSilent, "127.0.0.2": good])
    #expect(try await rig.load("GET", "http://api.test/", sleepingUntil: .seconds(3)) == "127.0.0.2")
    #expect(rig.network.sent == ["127.0.0.1", "127.0.0.2"])

    let secure = try Rig(["127.0.0.1": .takesAndIsSilent, "127.0.0.2": good])
    #expect(try await secure.load(sleepingUntil: .seconds(3)) == "127.0.0.2")
    #expect(secure.network.sent == ["127.0.0.1", "127.0.0.2"])
    // It is not preferred any more, and no more than that: its certificate was verified.
    #expect(try await secure.states() == ["127.0.0.2 proven", "127.0.0.1 failed before"])
    await secure.check(waiting: "POST")
  }

  @Test("a silent address that has a request that cannot be repeated gets it alone: those after it go elsewhere")
  func silentToOne() async throws {
    let rig = try Rig(["127.0.0.1": .takesAndIsSilent, "127.0.0.2": good])
    async let _ = rig.load("POST", body: .text("pay"))
    await rig.network.time.sleeper(until: .seconds(3))
    rig.network.time.advance(by: .seconds(3))
    while try await rig.states().first != "127.0.0.2 untried" { await Task.yield() }
    #expect(try await rig.load("POST", body: .text("pay")) == "127.0.0.2")
    #expect(rig.network.sent == ["127.0.0.1", "127.0.0.2"])
  }

  @Test("a silent address that answers after all is as good as the one that was asked beside it")
  func late() async throws {
    let rig = try Rig(["127.0.0.1": .takesAndAnswers(after: .seconds(5)), "127.0.0.2": .hangs])
    async let answer = rig.load()
    await rig.network.time.sleep(until: .seconds(3))
    await rig.network.visits(2)
    await rig.network.time.sleep(until: .seconds(5))
    #expect(try await answer == "127.0.0.1")
  }

  @Test("cancelling ends all attempts at once, and tells it as a cancellation")
  func cancellation() async throws {
    let rig = try Rig(["127.0.0.1": .hangs, "127.0.0.2": .hangs])
    let load = Task { try await rig.load() }
    await rig.network.time.sleeper(until: .milliseconds(250))
    rig.network.time.advance(by: .milliseconds(250))
    await rig.network.visits(2)
    load.cancel()
    await #expect(throws: CancellationError.self) { try await load.value }
    #expect(Set(rig.network.cancelled) == ["127.0.0.1", "127.0.0.2"])
    #expect(rig.rewriter.counters.failures == 0)
  }

  @Test(
    """
    when all have failed, the error lists each attempt, and the app sees the certificate's failure rather than the \
    last one
    """
  )
  func allFailed() async throws {
    let rig = try Rig(["127.0.0.1": .fails(.rogue), "127.0.0.2": .fails(.refused)])
    let error = await rig.failure()
    #expect((error as? URLError)?.code == .serverCertificateHasUnknownRoot)
    let cause = try #require(hostError(error))
    #expect(cause.code == .allAddressesFailed)
    #expect(cause.attempts.map(\.outcome) == [.refused, .certificateUntrusted])
    for text in ["127.0.0.1:443 (rule): certificate not trusted", "127.0.0.2:443 (rule): refused", "ms"] {
      #expect(cause.message.contains(text))
    }
    #expect(!cause.attempts.table.contains("suspected hijack") && !cause.message.contains("Another server"))
  }

  @Test(
    "a certificate that this machine cannot verify is a hijacker's beside one that it can, or if it has another name",
    arguments: [
      (URLError.Code.serverCertificateHasUnknownRoot, false), (.serverCertificateHasBadDate, false),
      (.serverCertificateNotYetValid, false), (.serverCertificateUntrusted, true),
    ])
  func unverified(code: URLError.Code, isHijackAlone: Bool) async throws {
    for isAlone in [true, false] {
      let rig = try Rig(["127.0.0.1": .fails(.unsent(code, .securing)), "127.0.0.2": isAlone ? .fails(.refused) : good])
      var events = rig.rewriter.events().makeAsyncIterator()
      if isAlone { _ = await rig.failure() } else { try await rig.load() }
      var event = await events.next()
      if event?.attempt?.candidate?.address.literal != "127.0.0.1" { event = await events.next() }
      let isHijack = isHijackAlone || !isAlone
      #expect(event?.attempt?.isSuspectedHijack == isHijack)
      #expect(event?.ban == .seconds(isHijack ? 3600 : 30))
      #expect(rig.rewriter.counters.suspectedHijacks == (isHijack ? 1 : 0))
    }
  }

  @Test(
    "a resolver's addresses that never connect fail the request in the end, and ban nobody: the network may be slow")
  func allHang() async throws {
    let rig = try Rig(["127.0.0.1": .hangs, "127.0.0.2": .hangs])
    async let error = rig.failure()
    await rig.network.time.sleeper(until: .milliseconds(250))
    rig.network.time.advance(by: .milliseconds(250))
    await rig.network.time.sleeper(until: .milliseconds(20_250))
    rig.network.time.advance(by: .milliseconds(19_750))
    rig.network.time.advance(by: .milliseconds(250))
    let failure = await error
    #expect((failure as? URLError)?.code == .timedOut)
    #expect(hostError(failure)?.attempts.map(\.outcome) == [.timedOut, .timedOut])
    #expect(rig.rewriter.counters.bans == 0)
    #expect(try await rig.states() == ["127.0.0.1 untried", "127.0.0.2 untried"])
  }
}
