// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import Testing

  @testable import WaylayCore

  /// The queue before libcurl by itself, at times that are made up.
  @Suite("The queue before libcurl", .timeLimit(.minutes(1)))
  struct CurlLineTests {
    private let transport = CurlTransport(configuration: .ephemeral)
    private let queue = CurlQueue(connectionsPerDestination: 6, streamsPerConnection: 100)
    private let start = ContinuousClock.now

    private func exchanges(_ count: Int, _ url: String = "https://api.test/", limit: Duration?) throws -> [CurlExchange]
    {
      let url = try #require(URL(string: url))
      let loop = CurlLoop(connectionsPerHost: 6)
      return try (0..<count).map { _ in
        var request = InterceptedRequest(URLRequest(url: url))
        request.route = try Route("127.0.0.1", connectTimeout: limit)
        return try CurlExchange(request, of: transport, on: loop)
      }
    }

    @Test(
      """
      those behind a connection that does not open in their time fail with it, all at once: each would find out the \
      same
      """
    )
    func together() throws {
      let all = try exchanges(60, limit: .milliseconds(200))
      #expect(all.map { queue.enter($0, now: start) } == [true] + Array(repeating: false, count: 59))
      #expect(queue.expired(now: start + .milliseconds(199)).isEmpty)
      queue.left(all[0], code: CurlCode.timedOut)
      #expect(queue.expired(now: start + .milliseconds(199)).count == 59)
      #expect(queue.isEmpty)
    }

    @Test("one that has a limit leaves when it is over, also when the first in line has more time")
    func limit() throws {
      let patient = try exchanges(1, limit: nil)[0]
      let hurried = try exchanges(3, limit: .milliseconds(200))
      #expect(queue.enter(patient, now: start))
      for exchange in hurried { #expect(!queue.enter(exchange, now: start)) }
      #expect(queue.nextAlarm == start + .milliseconds(200))
      #expect(queue.expired(now: start + .milliseconds(200)).count == 3)
      queue.left(patient, code: 0)
      #expect(queue.isEmpty)
    }

    @Test("a connection that is being opened from the port of one that was closed is not taken for an idle one")
    func portAgain() throws {
      let exchange = try exchanges(1, limit: nil)[0]
      exchange.loop.connections.connection(from: 40_000).isSequential = true
      #expect(exchange.loop.connections.ports == [40_000])
      exchange.noteConnecting(from: 40_000)
      #expect(exchange.loop.connections.ports.isEmpty)
      #expect(!exchange.loop.connections.connection(from: 40_000).isSequential)
    }

    @Test("when the first connection fails, or takes long, the next ones are opened side by side")
    func opening() throws {
      let all = try exchanges(20, limit: nil)
      for exchange in all { _ = queue.enter(exchange, now: start) }
      queue.left(all[0], code: CurlCode.receiveFailed)
      var begun = 0
      queue.serve(now: start) { _ in begun += 1 }
      #expect(begun == 6)
      for exchange in all { queue.left(exchange, code: nil) }
      #expect(queue.isEmpty)

      let late = try exchanges(20, limit: nil)
      for exchange in late { _ = queue.enter(exchange, now: start) }
      #expect(queue.expired(now: start + .seconds(1)).isEmpty)
      begun = 1
      queue.serve(now: start + .seconds(1)) { _ in begun += 1 }
      #expect(begun == 6)
    }

    @Test("with a libcurl that mixes up streams each has a connection to itself, as many as there may be (U21)")
    func alone() throws {
      let queue = CurlQueue(connectionsPerDestination: 6, streamsPerConnection: 1)
      let all = try exchanges(20, limit: nil)
      var begun = all.filter { queue.enter($0, now: start) }
      #expect(begun.count == 1)
      queue.connected(begun[0], port: 40_000)
      queue.learned(begun[0], isMultiplexed: true)
      queue.serve(now: start) { begun.append($0) }
      #expect(begun.count == 6)
      for (index, exchange) in begun.enumerated() { queue.connected(exchange, port: 40_000 + Int32(index)) }
      queue.serve(now: start) { begun.append($0) }
      #expect(begun.count == 6)
      queue.left(begun[0], code: 0)
      queue.serve(now: start) { begun.append($0) }
      #expect(begun.count == 7)
      for exchange in all { queue.left(exchange, code: nil) }
      #expect(queue.isEmpty)
    }

    @Test("once a connection is open that can be shared, all go on, and none is forgotten")
    func shared() throws {
      let all = try exchanges(300, limit: nil)
      var begun: [CurlExchange] = all.filter { queue.enter($0, now: start) }
      var ended = 0
      while let exchange = begun.first {
        queue.connected(exchange, port: 40_000)
        queue.serve(now: start) { begun.append($0) }
        queue.left(exchange, code: 0)
        queue.serve(now: start) { begun.append($0) }
        begun.removeFirst()
        ended += 1
      }
      #expect(ended == 300 && queue.isEmpty && !queue.isReady)
    }
  }
#endif
