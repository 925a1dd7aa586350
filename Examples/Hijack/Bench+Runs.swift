#if canImport(FoundationNetworking)
  import Foundation
  import HijackLab
  import TestOrigin
  import Waylay

  extension Bench {
    /// What one hijacker may cost.
    private static let limits: [(name: String, attempts: HostRewriter.Policy.Attempts, limit: Duration)] = [
      ("race", .race(stagger: .milliseconds(250)), .milliseconds(300)), ("one by one", .oneByOne, .milliseconds(700)),
    ]

    /// Each hijacker alone in front of the good address.
    func eachAlone() async throws -> [String] {
      var faults: [String] = []
      var rows = [["hijacker", "race: added", "learnt", "one by one: added", "learnt"]]
      for hijacker in Hijacker.allCases {
        var row = [hijacker.rawValue]
        for (name, attempts, limit) in Self.limits {
          let base = try await best { try await added(["127.0.0.1"], attempts).first }
          guard let cost = try await best({ try await added([hijacker.address, "127.0.0.1"], attempts).first }),
            let learnt = try await best({ try await added([hijacker.address, "127.0.0.1"], attempts).second })
          else {
            faults.append("\(hijacker), \(name): not answered")
            continue
          }
          let more = cost - (base ?? .zero)
          row += [more.text, learnt.text]
          if more > limit { faults.append("\(hijacker), \(name): \(more.text) more than without it") }
          if learnt > .milliseconds(5) { faults.append("\(hijacker), \(name): \(learnt.text) once learnt") }
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
      for (name, attempts, limit) in Self.limits {
        let base = try await best { try await added(["127.0.0.1"], attempts).first } ?? .zero
        var random = SplitMix(state: seed)
        var times: [Duration] = []
        for _ in 0..<5 {
          let (time, _) = try await added(
            Hijacker.allCases.map(\.address).shuffled(using: &random) + ["127.0.0.1"], attempts)
          guard let time else { return ["all in front, \(name): not answered"] }
          times.append((time - base) / Hijacker.allCases.count)
        }
        let worst = times.max() ?? .zero
        print("all in front         \(name): \(worst.text) for each hijacker at the most, of \(times.count) orders")
        if worst > limit { faults.append("all in front, \(name): \(worst.text) for each hijacker") }
      }
      return faults
    }

    /// The time of a first request and of the one after it, over a transport of its own.
    private func added(
      _ addresses: [String], _ attempts: HostRewriter.Policy.Attempts
    ) async throws -> (first: Duration?, second: Duration?) {
      let (registry, _) = try registry(addresses, policy(attempts))
      defer { registry.invalidate() }
      guard case .success(let first) = await ask(registry), case .success(let second) = await ask(registry) else {
        return (nil, nil)
      }
      return (first, second)
    }

    /// The shortest of three: what is asked is what the thing costs, not what else the machine was doing.
    private func best(_ measure: () async throws -> Duration?) async throws -> Duration? {
      var all: [Duration] = []
      for _ in 0..<3 {
        guard let time = try await measure() else { return nil }
        all.append(time)
      }
      return all.min()
    }

    /// All hijackers in random order in front of the good address, many times, many at once.
    func chaos(runs: Int, inFlight: Int, seed: UInt64) async -> [String] {
      let start = ContinuousClock.now
      let results = await withTaskGroup(of: [(Int, Result<Duration, Failure>)].self) { group in
        for worker in 0..<inFlight {
          group.addTask {
            var results: [(Int, Result<Duration, Failure>)] = []
            for run in stride(from: worker, to: runs, by: inFlight) {
              results.append((run, await oneRun(run, seed: seed)))
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
      let attempts: HostRewriter.Policy.Attempts = run % 4 == 3 ? .oneByOne : .race(stagger: .milliseconds(250))
      do {
        let (registry, _) = try registry(addresses, policy(attempts))
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
