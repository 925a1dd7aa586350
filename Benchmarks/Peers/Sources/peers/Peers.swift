import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore
import Waylay
import WaylayAsyncHTTPClient

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Prints what a load costs with several clients, in one process and beside each other.
@main
struct Peers: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Times sessions, plain and intercepted, direct loads and AsyncHTTPClient against the same server.",
    discussion: """
      Without a server of yours, nginx is started. In every round each client has a batch, in a new order each time. A \
      cell has the median of the microseconds per load over the rounds, and in brackets the tenth and the ninetieth \
      percentile; a ratio is the median of the ratios within a round.
      """)

  @Option(help: "A server whose /small has 300 bytes and whose /large has 32 MiB.") var server: String?
  @Option(help: "Rounds.") var rounds = 30
  @Option(help: "Loads in a batch.") var batch = 2000
  @Option(help: "How many loads at once, and on how many connections where it is not each client's own number.")
  var inFlight = "1,16,64,256:256,1024:1024"
  @Option(help: "Only the client of this name, or those whose name contains this.") var only = ""
  @Flag(inversion: .prefixedNo, help: "Whether a body of 32 MiB is loaded too.") var large = true

  func run() async throws {
    let server = try Server(at: server.flatMap { URL(string: $0) })
    defer { server.stop() }
    try await Self.waitUntilReady(server.url("small"))
    print(
      "| in flight | connections | client | µs per load | beside AsyncHTTPClient | beside plain URLSession | CPU µs per load |"
    )
    print("|---|---|---|---|---|---|---|")
    for part in inFlight.split(separator: ",") {
      let numbers = part.split(separator: ":").compactMap { Int($0) }
      guard let count = numbers.first else { continue }
      try await measure(server.url("small"), count, connections: numbers.dropFirst().first)
    }
    if large { try await measure(server.url("large"), 1, connections: nil, isLarge: true) }
  }

  private static func waitUntilReady(_ url: String) async throws {
    for _ in 0..<100 {
      var request = HTTPClientRequest(url: url)
      request.method = .HEAD
      if let response = try? await HTTPClient.shared.execute(request, timeout: .seconds(1)), response.status == .ok {
        return
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw ValidationError("the server does not answer at \(url)")
  }

  private func measure(_ url: String, _ inFlight: Int, connections: Int?, isLarge: Bool = false) async throws {
    let all = Client.all(connections: connections)
    let isName = all.contains { $0.name == only }
    let clients =
      all
      .filter { isName ? $0.name == only : only.isEmpty || $0.name.contains(only) }
      // Sessions with a thousand loads at once are a subject of their own.
      .filter { inFlight <= 64 || !$0.isSession }
    let size = isLarge ? 2 : max(batch, inFlight * 4)
    var samples: [String: [Sample]] = [:]
    for client in clients { _ = try await client.run(url, size, inFlight) }
    for _ in 0..<rounds {
      for client in clients.shuffled() {
        samples[client.name, default: []].append(try await client.run(url, size, inFlight))
      }
    }
    for client in clients {
      let own = samples[client.name] ?? []
      func ratio(to other: String) -> String {
        guard let reference = samples[other], other != client.name else { return "" }
        return Spread(zip(own, reference).map { $0.wall / $1.wall }).text(digits: 2)
      }
      print(
        "| \(isLarge ? "32 MiB, " : "")\(inFlight) | \(connections.map(String.init) ?? "") | \(client.name)",
        Spread(own.map(\.wall)).text(digits: 1), ratio(to: Client.peer), ratio(to: Client.plain),
        Spread(own.map(\.cpu)).text(digits: 1), separator: " | ", terminator: " |\n")
      fflush(nil)
    }
    for client in clients { await client.close() }
  }
}

/// What one batch took, per load, in microseconds.
struct Sample {
  let wall: Double
  let cpu: Double
}

/// A median, and how far what is beside it lies apart.
struct Spread {
  private let sorted: [Double]

  init(_ values: [Double]) { sorted = values.sorted() }

  func text(digits: Int) -> String {
    func at(_ part: Double) -> Double { sorted.isEmpty ? .nan : sorted[Int(Double(sorted.count - 1) * part)] }
    return String(format: "%.\(digits)f (%.\(digits)f–%.\(digits)f)", at(0.5), at(0.1), at(0.9))
  }
}

/// A client that loads a URL to the end.
struct Client: Sendable {
  static let peer = "AsyncHTTPClient"
  static let plain = "plain URLSession"

  let name: String
  var isSession = false
  /// The number of bytes that came.
  let load: @Sendable (String) async throws -> Int
  let close: @Sendable () async -> Void

  static func all(connections: Int?) -> [Client] {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    if let connections { configuration.httpMaximumConnectionsPerHost = connections }
    let session = URLSession(configuration: configuration)
    let registry = InterceptorRegistry(configuration: configuration) { Passing() }
    let intercepted = URLSession(configuration: configuration.intercepted(by: registry))
    let direct = InterceptorRegistry(configuration: configuration) { Passing() }
    var own = HTTPClient.Configuration()
    if let connections { own.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections }
    let peer = HTTPClient(configuration: own)
    let above = InterceptorRegistry(transport: AsyncHTTPClientTransport(configuration: own)) { Passing() }
    return [
      Client(name: plain, isSession: true) {
        try await session.data(from: URL(string: $0)!).0.count
      } close: {
        session.invalidateAndCancel()
      },
      Client(name: "intercepted session", isSession: true) {
        try await intercepted.data(from: URL(string: $0)!).0.count
      } close: {
        intercepted.invalidateAndCancel()
        registry.invalidate()
      },
      Client(name: "direct load") {
        try await direct.load(URLRequest(url: URL(string: $0)!)).body.reduce(into: 0) { $0 += $1.count }
      } close: {
        direct.invalidate()
      },
      Client(name: "chain on AsyncHTTPClientTransport") {
        try await above.load(URLRequest(url: URL(string: $0)!)).body.reduce(into: 0) { $0 += $1.count }
      } close: {
        above.invalidate()
      },
      Client(name: Self.peer) {
        let response = try await peer.execute(HTTPClientRequest(url: $0), timeout: .seconds(60))
        return try await response.body.reduce(into: 0) { $0 += $1.readableBytes }
      } close: {
        try? await peer.shutdown()
      },
    ]
  }

  /// Loads so many, so many of them at once.
  func run(_ url: String, _ count: Int, _ inFlight: Int) async throws -> Sample {
    let expected = url.hasSuffix("large") ? 32 << 20 : 300
    let cpu = Self.processorTime
    let wall = try await ContinuousClock().measure {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<inFlight {
          group.addTask {
            for _ in stride(from: worker, to: count, by: inFlight) {
              guard try await load(url) == expected else { throw URLError(.cannotDecodeContentData) }
            }
          }
        }
        try await group.waitForAll()
      }
    }
    return Sample(
      wall: wall / .microseconds(1) / Double(count), cpu: (Self.processorTime - cpu) / Double(count))
  }

  /// Of all threads of this process, in microseconds.
  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
  }
}

/// A chain of one interceptor that does nothing.
private struct Passing: RequestInterceptor {
  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    try await next(request)
  }
}
