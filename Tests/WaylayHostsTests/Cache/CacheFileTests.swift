import TestSupport
import Testing
import WaylayCore
@testable import WaylayHosts

@Suite("A cache's file", .timeLimit(.minutes(5)))
struct CacheFileTests {
  private let file = FileManager.default.temporaryDirectory.appendingPathComponent("hosts-\(UUID().uuidString).json")

  private func withFile(_ body: () async throws -> Void) async throws {
    defer { try? FileManager.default.removeItem(at: file) }
    try await body()
  }

  @Test("lets the next start do without DNS, for as long as the answers hold, and is for its owner only")
  func coldStart() async throws {
    try await withFile {
      let bench = try CacheBench { $0.file = file }
      try await bench.fill("2001:db8::7", seconds: 100)
      // Written by itself after a second.
      await bench.time.untilSleeping()
      bench.time.advance(by: .seconds(1))
      while !FileManager.default.fileExists(atPath: file.path) { await Task.yield() }
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)

      var options = ResolutionCache.Options()
      options.file = file
      options.refreshFraction = nil
      let time = VirtualClock()
      time.advance(by: .seconds(50))
      let next = ResolutionCache(bench.resolver, options: options, clock: time.clock)
      let answer = try #require(next.cached(bench.query))
      #expect(answer.addresses == ["2001:db8::7"] && answer.age == .seconds(50))
      time.advance(by: .seconds(50))
      #expect(next.cached(bench.query) == nil)
      #expect(bench.resolver.counts.calls == 1)
    }
  }

  @Test(
    "that is damaged is ignored, and replaced",
    arguments: ["", "{", "[]", #"{"version":2,"entries":[]}"#, "\u{0}\u{1}"])
  func damaged(text: String) async throws {
    try await withFile {
      try Data(text.utf8).write(to: file)
      let lines = Log<String>()
      let bench = try CacheBench {
        $0.file = file
        $0.logger = .recording(lines)
      }
      #expect(bench.cache.cached(bench.query) == nil)
      #expect(lines.all.count == 1 && lines.all[0].contains("ignored"))
      try await bench.fill()
      try bench.cache.save()
      #expect(try Data(contentsOf: file).starts(with: Data(#"{"#.utf8)))
    }
  }

  @Test("that others may write, or that is none, is not read, and the log says why")
  func untrusted() async throws {
    try await withFile {
      let record =
        #"{"host":"www.test","port":443,"source":"x","stored":1800000990,"lifetime":100,"endpoints":["203.0.113.7"]}"#
      func check(_ reason: String?, _ change: () throws -> Void) throws {
        try? FileManager.default.removeItem(at: file)
        try Data(#"{"version":1,"entries":[\#(record)]}"#.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        try change()
        let lines = Log<String>()
        let bench = try CacheBench {
          $0.file = file
          $0.logger = .recording(lines)
        }
        let answer = bench.cache.cached(HostAuthority(try HostName("www.test")))
        #expect((answer == nil) == (reason != nil))
        #expect(lines.all.count == (reason == nil ? 0 : 1))
        if let reason { #expect(lines.all[0].contains(reason) && lines.all[0].contains(file.path)) }
      }
      try check(nil) {}
      for mode in [0o602, 0o620, 0o666] {
        try check("may write it") {
          try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        }
      }
      if geteuid() == 0 { try check("another user") { #expect(chown(file.path, 65_534, 65_534) == 0) } }
      try check("not a file") {
        try FileManager.default.removeItem(at: file)
        #expect(mkfifo(file.path, 0o600) == 0)
      }
      try check("the limit is") { #expect(truncate(file.path, 20 << 20) == 0) }
    }
  }

  @Test("cannot give a public name a private address, which nothing dials then")
  func rebinding() async throws {
    try await withFile {
      func record(_ host: String, _ addresses: String) -> String {
        let ends = #""stored":1800000990,"lifetime":100,"endpoints":[\#(addresses)]"#
        return #"{"host":"\#(host)","port":443,"source":"x",\#(ends)}"#
      }
      let records = [
        record("bad.test", #""127.0.0.1","[::1]:8443""#), record("half.test", #""192.168.0.1","203.0.113.7""#),
        record("printer.local", #""192.168.0.9""#), record("mine.test", #""10.0.0.1""#),
      ]
      try Data(#"{"version":1,"entries":[\#(records.joined(separator: ","))]}"#.utf8).write(to: file)
      let mine = try HostPattern("mine.test")
      let bench = try CacheBench {
        $0.file = file
        $0.privateHosts = [mine]
      }
      func cached(_ host: String) throws -> [String]? {
        bench.cache.cached(HostAuthority(try HostName(host)))?.addresses
      }
      #expect(try cached("bad.test") == nil)
      #expect(try cached("half.test") == ["203.0.113.7"])
      #expect(try cached("printer.local") == ["192.168.0.9"])
      #expect(try cached("mine.test") == ["10.0.0.1"])
      let rewriter = HostRewriter(rules: try HostRules(["*.test": []]), resolver: bench.cache, policy: .require)
      let network = FakeNetwork(["203.0.113.7": .answers()])
      let request = InterceptedRequest(.get, try #require(URL(string: "https://half.test/")))
      _ = try await rewriter.startLoading(request, next: network.next)
      #expect(network.visited == ["203.0.113.7"])
    }
  }

  @Test("cannot say what no answer could: names, addresses, ports and dates are checked")
  func hostile() async throws {
    try await withFile {
      func record(
        host: String, address: String = "203.0.113.7", port: Int = 443, stored: Double = 1_800_000_990,
        lifetime: Double = 100
      ) -> String {
        let ends = #""stored":\#(stored),"lifetime":\#(lifetime),"endpoints":["\#(address):\#(port)"]"#
        return #"{"host":"\#(host)","port":443,"source":"x",\#(ends)}"#
      }
      let records = [
        record(host: "good.test"), record(host: "bad name"), record(host: "bad1.test", address: "nothing"),
        record(host: "bad2.test", port: 70_000), record(host: "bad3.test", stored: 9e18),
        record(host: "bad4.test", lifetime: -1),
        record(host: "bad5.test", stored: -1e300),
      ]
      try Data(#"{"version":1,"entries":[\#(records.joined(separator: ","))]}"#.utf8).write(to: file)
      let bench = try CacheBench { $0.file = file }
      #expect(bench.cache.cached(HostAuthority(try HostName("good.test"))) != nil)
      for number in 1...5 { #expect(bench.cache.cached(HostAuthority(try HostName("bad\(number).test"))) == nil) }
    }
  }
}
