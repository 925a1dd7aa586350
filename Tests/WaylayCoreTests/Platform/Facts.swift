// Facts of Foundation on Linux: this file is empty elsewhere.
#if canImport(FoundationNetworking)
  import Foundation
  import TestSupport
  import Testing

  @testable @_spi(Benchmarks) import WaylayCore

  /// A version of Swift, and of the Foundation that comes with it.
  struct SwiftVersion: Comparable, CustomStringConvertible {
    let parts: [Int]

    init(_ text: some StringProtocol) { parts = text.split(separator: ".").compactMap { Int($0) } }

    var description: String { parts.map(String.init).joined(separator: ".") }

    static func < (one: Self, other: Self) -> Bool { one.parts.lexicographicallyPrecedes(other.parts) }

    /// Whether it is a version, or one that follows it by further parts: 6.3.1 is within 6.3.
    func isWithin(_ last: Self) -> Bool { Array(parts.prefix(last.parts.count)) <= last.parts }

    /// The newest that the facts were looked at with.
    static let known = Self("6.4")

    /// That of the compiler.
    static var compiled: Self {
      #if compiler(>=6.5)
        Self("6.5")
      #elseif compiler(>=6.4)
        Self("6.4")
      #elseif compiler(>=6.3.2)
        Self("6.3.2")
      #elseif compiler(>=6.3)
        Self("6.3.1")
      #else
        Self("6.2")
      #endif
    }

    /// That of the Foundation in the process, which need not be the compiler's. It shows by P27 alone.
    static let library = Task {
      let cancellation = await handed { Cancellation.probe($0) }
      return cancellation == .returns ? max(compiled, Self("6.4")) : compiled
    }
  }

  extension [Int] {
    fileprivate static func <= (one: Self, other: Self) -> Bool { !other.lexicographicallyPrecedes(one) }
  }

  /// The facts of `Internals/Foundation.md`, and from which version to which each holds.
  enum Facts {
    struct Versions {
      let from: SwiftVersion
      let to: SwiftVersion?

      func contains(_ version: SwiftVersion) -> Bool {
        version >= from && (to.map { version.isWithin($0) } ?? true)
      }
    }

    static let versions: [String: Versions] = {
      let list = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Internals/Foundation.md")
      let text = (try? String(contentsOf: list, encoding: .utf8)) ?? ""
      var versions: [String: Versions] = [:]
      for row in text.split(separator: "\n") {
        let cells = row.split(separator: "|", omittingEmptySubsequences: false).map {
          $0.trimmingCharacters(in: .whitespaces)
        }
        guard cells.count > 5, cells[1].wholeMatch(of: /[PUS]\d+/) != nil, !cells[2].isEmpty else { continue }
        versions[cells[1]] = Versions(
          from: SwiftVersion(cells[2]), to: cells[3].isEmpty ? nil : SwiftVersion(cells[3]))
      }
      return versions
    }()

    /// The facts that a test is about, by the beginning of its name.
    static func numbers(in name: String) -> [String] {
      guard let head = name.prefixMatch(of: /[PU]\d+(, [PU]\d+)*:/) else { return [] }
      return head.output.0.matches(of: /[PU]\d+/).map { String($0.output) }
    }

    /// Those of them that do not hold with a version.
    static func over(in name: String, with version: SwiftVersion) -> [String] {
      numbers(in: name).filter { versions[$0]?.contains(version) == false }
    }

    /// Runs a test of facts: what fails is a failure within their versions, and is reported outside of them.
    static func run(
      _ name: String, with version: SwiftVersion, _ body: @concurrent @Sendable () async throws -> Void
    ) async throws {
      let over = over(in: name, with: version).map { number in
        "\(number) is over: it holds to Swift \(versions[number]?.to?.description ?? ""), and this is \(version)"
      }
      guard !over.isEmpty else { return try await body() }
      await withKnownIssue(Comment(rawValue: over.joined(separator: "; ")), isIntermittent: true) { try await body() }
    }
  }

  /// Runs the tests of a suite as those of facts.
  struct FactTrait: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    @concurrent func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
      try await Facts.run(test.displayName ?? test.name, with: await SwiftVersion.library.value, function)
    }
  }

  extension Trait where Self == FactTrait {
    /// For tests whose names begin with the numbers of the facts that they are about.
    static var facts: Self { FactTrait() }
  }

  @Suite("The versions that platform facts hold in", .timeLimit(.minutes(5)))
  struct FactTests {
    @Test("each fact of the list says from which version it holds")
    func list() throws {
      #expect(Facts.versions.keys.count { $0.hasPrefix("P") } >= 35)
      #expect(Facts.versions.keys.count { $0.hasPrefix("U") } >= 22)
      #expect(Facts.versions["S1"] != nil)
    }

    @Test("a fact holds up to the patches of its last version, and one without an end holds for good")
    func bounds() {
      func over(_ name: String, _ version: String) -> [String] { Facts.over(in: name, with: SwiftVersion(version)) }
      #expect(over("P27: cancelling", "6.3.1").isEmpty && over("P27: cancelling", "6.3.9").isEmpty)
      #expect(over("P27: cancelling", "6.4") == ["P27"] && over("P27: cancelling", "6.10") == ["P27"])
      #expect(over("P35: a hang", "6.3.1").isEmpty && over("P35: a hang", "6.3.2") == ["P35"])
      #expect(over("P2, P18, P27: a trap", "6.4") == ["P27"] && over("P3: chunks", "9.0").isEmpty)
      #expect(over("P12: as old as 6.1", "6.1") == ["P12"] && over("something else", "6.4").isEmpty)
    }

    @Test("what fails within a fact's versions is a failure; outside of them it is reported")
    func mutant() async throws {
      // The outer one is content with a failure alone: of a test that was excused there is none.
      await withKnownIssue("a fact that has changed, made up for this test") {
        try await Facts.run("P27: cancelling", with: SwiftVersion("6.3.1")) { Issue.record("P27 has changed") }
      }
      try await Facts.run("P27: cancelling", with: SwiftVersion("6.4")) { Issue.record("P27 has changed") }
    }

    @Test("the toolchain is no newer than those that the facts were looked at with")
    func newest() async {
      let version = await SwiftVersion.library.value
      if !version.isWithin(.known) {
        Issue.record("Swift \(version) is newer than \(SwiftVersion.known): look at the facts", severity: .warning)
      }
    }
  }
#endif
