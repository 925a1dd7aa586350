#if canImport(FoundationNetworking)
  import Foundation
  import HijackLab
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  /// Hijackers of every kind, alone and together, in front of the good address: a sample of the cells, or with
  /// `WAYLAY_HIJACK_MATRIX=full` all of them (minutes).
  @Suite("The matrix of hijackers", .timeLimit(.minutes(30)))
  struct HijackMatrixTests {
    /// One cell.
    struct Cell: CustomTestStringConvertible {
      let hijackers: [Hijacker]
      let isSecure: Bool
      let protocols: [String]
      let isRace: Bool
      let count: Int

      var testDescription: String {
        let scheme = isSecure ? "https, \(protocols[0])" : "http"
        return
          """
          \(hijackers.map(\.rawValue).joined(separator: " ")), \(scheme), \(isRace ? "race" : "one by one"), \(count) \
          at once
          """
      }
    }

    private static let isWhole = ProcessInfo.processInfo.environment["WAYLAY_HIJACK_MATRIX"] == "full"

    private static let cells: [Cell] = {
      let kinds = Hijacker.allCases
      // Each alone, and one to five of them from every place of the list on.
      let fronts = kinds.indices.flatMap { start in
        (1...5).map { count in (0..<count).map { kinds[(start + $0 * 3) % kinds.count] } }
      }
      let all = fronts.flatMap { front in
        [(true, ["h2", "http/1.1"]), (true, ["http/1.1"]), (false, ["http/1.1"])].flatMap { isSecure, protocols in
          [true, false].flatMap { isRace in
            [1, 100].map { Cell(hijackers: front, isSecure: isSecure, protocols: protocols, isRace: isRace, count: $0) }
          }
        }
      }
      // A number that has no divisor with those of the lists: every row and column is met.
      return isWhole ? all : all.indices.filter { $0 % 37 == 0 }.map { all[$0] }
    }()

    @Test(
      "everything is answered by the good server, once, and nobody else gets a byte of a verified request", .heavy,
      arguments: cells)
    func cell(_ cell: Cell) async throws {
      let lab = try await HijackLab.start(isSecure: cell.isSecure, protocols: cell.protocols)
      var policy = HostRewriter.Policy.require
      if !cell.isRace { policy.connectionAttemptDelay = nil }
      policy.initialDeadline = .milliseconds(400)
      // A verified server is the good one, which a busy machine has be silent.
      policy.silenceTimeout = cell.isSecure ? nil : .milliseconds(400)
      if !cell.isSecure { policy.responseCheck = .field("X-Served-By", equals: "good") }
      let (registry, rewriter) = try lab.routed(cell.hijackers.map(\.address) + ["127.0.0.1"], policy)
      // Without TLS nothing keeps a hijacker from taking a request: only those that may be repeated are safe.
      let methods = cell.isSecure ? ["GET", "POST"] : ["GET"]
      let answers = await withTaskGroup(of: String.self) { group in
        for number in 0..<cell.count {
          group.addTask {
            do { return try await registry.text(lab.url("/?\(number)"), methods[number % methods.count]) } catch {
              return "\(error)"
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      let wrong = answers.filter { $0 != HijackLab.answer }
      #expect(wrong.isEmpty, "\(wrong.first ?? "")")
      let posts = lab.good.requests.filter { $0.method == "POST" }.map(\.target)
      #expect(posts.count == Set(posts).count)
      #expect(posts.count == (cell.isSecure ? cell.count / 2 : 0))
      #expect(rewriter.counters.systemFallbacks == 0)
      if cell.isSecure {
        #expect(lab.leaks() == [])
        for hijacker in Set(cell.hijackers) {
          let count = lab.server(hijacker)?.connectionCount ?? 0
          #expect(count < 10, "\(hijacker)")
        }
      }
      registry.invalidate()
      await lab.stop()
    }
  }
#endif
