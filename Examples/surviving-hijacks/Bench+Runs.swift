#if canImport(FoundationNetworking)
  import Foundation
  import HijackLab
  import TestOrigin
  import Waylay

  extension Bench {
    private static let ways: [(name: String, stagger: Duration?)] = [
      ("race", .milliseconds(250)), ("one by one", nil),
    ]

    /// What a first request and the one after it have cost.
    private struct Cost {
      var first: Duration
      var second: Duration
      /// How many addresses were dialled.
      var attempts: (first: Int, second: Int)
    }

    /// Each hijacker alone in front of the good address.
    func eachAlone() async throws -> [String] {
      var faults: [String] = []
      var rows = [["hijacker", "race: added", "learnt", "one by one: added", "learnt"]]
      for hijacker in Hijacker.allCases {
        var row = [hijacker.rawValue]
        for (name, stagger) in Self.ways {
          let base = try await best(["127.0.0.1"], stagger)
          guard let cost = try await best([hijacker.address, "127.0.0.1"], stagger) else {
            faults.append("\(hijacker), \(name): not answered")
            continue
          }
          row += [(cost.first - (base?.first ?? .zero)).text, cost.second.text]
          faults += Self.faults(cost, addresses: 2).map { "\(hijacker), \(name): \($0)" }
        }
        rows.append(row)
      }
      for row in rows {
        print(row.map { $0.padding(toLength: 18, withPad: " ", startingAt: 0) }.joined(separator: " "))
      }
      return faults
    }

    /// All hijackers at once in front of the good address, one request after the other.
    func allInFront(seed: UInt64) async throws -> [String] {
      var faults: [String] = []
      for (name, stagger) in Self.ways {
        let base = try await best(["127.0.0.1"], stagger)?.first ?? .zero
        var random = SplitMix(state: seed)
        var times: [Duration] = []
        for _ in 0..<5 {
          let addresses = Hijacker.allCases.map(\.address).shuffled(using: &random) + ["127.0.0.1"]
          guard let cost = try await cost(addresses, stagger) else { return ["all in front, \(name): not answered"] }
          times.append((cost.first - base) / Hijacker.allCases.count)
          if cost.attempts.first > addresses.count {
            faults.append("all in front, \(name): \(cost.attempts.first) attempts at \(addresses.count) addresses")
          }
        }
        let worst = times.max() ?? .zero
        print("all in front         \(name): \(worst.text) for each hijacker at the most, of \(times.count) orders")
      }
      return faults
    }

    private static func faults(_ cost: Cost, addresses: Int) -> [String] {
      let (first, second) = cost.attempts
      return [
        first > addresses ? "\(first) attempts at \(addresses) addresses" : nil,
        second > 1 ? "\(second) attempts by the request after it" : nil,
      ].compactMap { $0 }
    }

    /// A first request and the one after it, over a transport of its own; `nil` where one of them was not answered.
    private func cost(_ addresses: [String], _ stagger: Duration?) async throws -> Cost? {
      let (registry, rewriter) = try registry(addresses, policy(stagger))
      defer { registry.invalidate() }
      guard case .success(let first) = await ask(registry) else { return nil }
      let before = rewriter.counters.attempts
      guard case .success(let second) = await ask(registry) else { return nil }
      return Cost(first: first, second: second, attempts: (before, rewriter.counters.attempts - before))
    }

    /// The least of three: what is asked is what the thing costs, not what else the machine was doing.
    private func best(_ addresses: [String], _ stagger: Duration?) async throws -> Cost? {
      var best: Cost?
      for _ in 0..<3 {
        guard let cost = try await cost(addresses, stagger) else { return nil }
        guard let least = best else {
          best = cost
          continue
        }
        best = Cost(
          first: min(least.first, cost.first), second: min(least.second, cost.second),
          attempts: (min(least.attempts.first, cost.attempts.first), min(least.attempts.second, cost.attempts.second)))
      }
      return best
    }

    /// All hijackers in random order in front of the good address, many times, many at once.
    func chaos(runs: Int, inFlight: Int, seed: UInt64) async -> [String] {
      let start = ContinuousClock.now
      let progress = ProgressLine("runs in random order", of: runs)
      let results = await withTaskGroup(of: [(Int, Result<Duration, Failure>)].self) { group in
        for worker in 0..<inFlight {
          group.addTask {
            var results: [(Int, Result<Duration, Failure>)] = []
            for run in stride(from: worker, to: runs, by: inFlight) {
              results.append((run, await oneRun(run, seed: seed)))
              progress.advance()
            }
            return results
          }
        }
        return await group.reduce(into: []) { $0 += $1 }
      }
      var times: [Duration] = []
      var faults: [String] = []
      for (run, result) in results.sorted(by: { $0.0 < $1.0 }) {
        switch result {
        case .success(let time): times.append(time)
        case .failure(let failure): faults.append("run \(run): \(failure.text)")
        }
      }
      times.sort()
      let seconds = start.duration(to: .now).text
      print("all in random order  \(times.count) of \(results.count) answered, \(inFlight) at once, in \(seconds)")
      if let median = times.dropFirst(times.count / 2).first, let slowest = times.last {
        print(
          """
          a first request      \(median.text) in the middle, \(slowest.text) at the longest, \
          \(Hijacker.allCases.count) hijackers in front
          """
        )
      }
      return faults
    }

    private func oneRun(_ run: Int, seed: UInt64) async -> Result<Duration, Failure> {
      var random = SplitMix(state: seed &+ UInt64(run) &* 7919)
      let addresses = Hijacker.allCases.map(\.address).shuffled(using: &random) + [run % 2 == 0 ? "127.0.0.1" : "::1"]
      let stagger: Duration? = run % 4 == 3 ? nil : .milliseconds(250)
      do {
        let (registry, _) = try registry(addresses, policy(stagger))
        defer { registry.invalidate() }
        let url = lab.url(host: run % 2 == 0 ? "www.test" : "other.test")
        let first = await ask(registry, url)
        guard case .success = first else { return first }
        // What was learnt holds.
        if case .failure(let failure) = await ask(registry, url) { return .failure(failure) }
        return first
      } catch {
        return .failure(Failure(text: "\(error)"))
      }
    }
  }

  extension Duration {
    var text: String { String(format: "%.1f ms", self / .milliseconds(1)) }
  }
#endif
