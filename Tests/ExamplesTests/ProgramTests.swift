import Foundation
import TestSupport
import Testing

/// Runs the programs of `Examples` and `Tests/Harnesses`, each in a process of its own: what they measure, descriptors
/// and memory, belongs to a whole process.
@Suite("The example programs", .heavy, .timeLimit(.minutes(10)))
struct ProgramTests {
  @Test("stress: loads of all kinds side by side, without a fault")
  func stress() async throws {
    let (code, output) = try await Program("stress").run(["--loads", "\(Sizes.of(4000, small: 800))"])
    #expect(code == 0, "\(output)")
    #expect(output.contains("wrong outcomes       0"))
    #expect(output.hasSuffix("No faults.\n"))
  }

  @Test(
    "stress fails when an answer is wrong or a load ends twice",
    arguments: ["planted: a wrong answer", "planted: a second end"])
  func planted(fault: String) async throws {
    let (code, output) = try await Program("stress").run(["--loads", "100", "--only", fault])
    #expect(code == 1)
    #expect(output.contains("FAULT"))
  }

  @Test("stress says which kinds there are when it is asked for another one")
  func unknownKind() async throws {
    let (code, output) = try await Program("stress").run(["--only", "unheard of"])
    #expect(code != 0)
    #expect(output.contains("suspended and resumed"))
  }

  @Test(
    """
    surviving-hijacks: a plain session is caught by a lying resolver, routed requests survive every hijacker, and none of \
    them leaks
    """,
    .enabled(if: Platform.hasCurl, "only CurlTransport has routes"))
  func hijacks() async throws {
    let runs = Sizes.of(20, small: 5)
    let (code, output) = try await Program("surviving-hijacks").run(["--runs", "\(runs)", "--without-times"])
    #expect(code == 0, "\(output)")
    #expect(output.contains("plain URLSession     Welcome to the hotel"))
    #expect(output.components(separatedBy: "\(runs) of \(runs) answered").count == 3)
    #expect(output.contains("leaks                0"))
  }

  @Test("remote-control: a UI test stubs the app that it launched, and switches its network off")
  func remoteControl() async throws {
    let (code, output) = try await Program("remote-control").run()
    #expect(code == 0, "\(output)")
    #expect(
      output == """
        at launch: 503 closed
        stubbed: 200 ["tea"]
        offline: failed -1009
        requests of /orders: 1

        """)
  }

  @Test(
    "exits: no process crashes that ends while connections with TLS are open, however it ends",
    .enabled(if: Platform.hasCurl, "the loading system's own"))
  func exits() async throws {
    let (code, output) = try await Program("exits").run(["--runs", "\(Sizes.of(1250, small: 5))"])
    #expect(code == 0, "\(output)")
    #expect(output.components(separatedBy: " 0 of them wrong").count == 9)
  }

  @Test(
    "inspector-sizes: an inspector takes the memory that its account says, and not more than it may",
    arguments: [
      ["search", "--exchanges", "\(Sizes.of(10_000, small: 1000))"],
      [
        "bodies", "--loads", "\(Sizes.of(2000, small: 200))", "--bytes", "\(Sizes.of(200_000_000, small: 12_000_000))",
        "--room", "\(Sizes.of(64 << 20, small: 4 << 20))",
      ],
    ])
  func inspectorSizes(arguments: [String]) async throws {
    // How long a search takes is not asked here.
    let limit = arguments[0] == "search" ? ["--limit", "600"] : []
    let (code, output) = try await Program("inspector-sizes").run(arguments + limit)
    #expect(code == 0, "\(output)")
  }

  @Test("tour: every scene sees what it expects")
  func tour() async throws {
    let (code, output) = try await Program("tour").run()
    #expect(code == 0, "\(output)")
    #expect(!output.contains("✗"))
  }

  @Test("tour says what it is and which scenes it has, and refuses what it does not know")
  func tourHelp() async throws {
    let (code, output) = try await Program("tour").run(["--help"])
    #expect(code == 0 && output.contains("USAGE: tour"), "\(output)")
    let (listed, titles) = try await Program("tour").run(["--list"])
    #expect(listed == 0 && titles.contains("The loop guard"), "\(titles)")
    let (refused, message) = try await Program("tour").run(["--unknown"])
    #expect(refused == 64 && message.contains("'--unknown'"), "\(message)")
  }

  @Test("archive-torture: what kill -9 leaves of an archive is whole")
  func torture() async throws {
    let (code, output) = try await Program("archive-torture").run(["--kills", "\(Sizes.of(20, small: 6))"])
    #expect(code == 0, "\(output)")
    #expect(output.hasSuffix("No faults.\n"))
  }

  @Test(
    "stress hostile: whatever a server makes up, an app sees what may be made of it, and an archive keeps nothing else")
  func hostileOrigin() async throws {
    let exchanges = Sizes.of(2000, small: 400)
    // Another seed each time, unless the environment has one: a failure says which.
    let (code, output) = try await Program("stress").run(["hostile", "--exchanges", "\(exchanges)"])
    #expect(output.contains("loads                \(exchanges) in"), "\(output)")
    #expect(!output.contains("descriptors stayed open") && !output.contains("resident memory grew"), "\(output)")
    #expect(code == 0, "\(output)")
  }

  @Test("stress: hits, misses, validations, collapses and cancels through one archive, without a fault")
  func stressArchive() async throws {
    let (code, output) = try await Program("stress").run([
      "--loads", "\(Sizes.of(4000, small: 800))", "--only", "archive",
    ])
    #expect(code == 0, "\(output)")
    #expect(output.contains("wrong outcomes       0"))
  }
}
