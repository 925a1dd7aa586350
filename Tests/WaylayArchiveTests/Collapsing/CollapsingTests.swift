import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Equal requests at once", .timeLimit(.minutes(5)))
struct CollapsingTests {
  @Test("ten equal loads make one request, and read one body as it comes", arguments: [Way.async, .direct])
  func one(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a") { _ in Reply(200, [("Cache-Control", "max-age=100")], .gated("one")) }
      let texts = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<10 { group.addTask { try await site.get("/a", by: way).text } }
        await site.origin.until { $0.requests(to: "/a").count == 1 }
        site.origin.release("first ", gate: "one")
        site.origin.release("last", gate: "one")
        site.origin.release(nil, gate: "one")
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(texts == Array(repeating: "first last", count: 10))
      #expect(site.seen("/a").count == 1)
    }
  }

  @Test("a cancelled leader hands over")
  func handsOver() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a") { _ in Reply(200, [("Cache-Control", "max-age=100")], .never) }
      let leader = Task { try await site.get("/a", by: .direct).text }
      await site.origin.until { $0.requests(to: "/a").count == 1 }
      let follower = Task { try await site.get("/a", by: .direct).text }
      // Nothing says from outside that it waits; if it does not yet, it becomes the leader itself, which is as good.
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=100")]))
      leader.cancel()
      #expect(try await follower.value == "body 1")
      let error1 = await failure { try await leader.value }
      #expect(error1 is URLError)
    }
  }

  @Test("a leader that leaves while the body streams leaves the others their body")
  func leaderLeaves() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a") { _ in Reply(200, [("Cache-Control", "max-age=100")], .gated("leaving")) }
      let follower: InterceptedResponse
      do {
        let leader = try await site.registry.load(site.request("/a"))
        follower = try await site.registry.load(site.request("/a"))
        site.origin.release("one", gate: "leaving")
        var chunks = leader.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("one".utf8))
      }
      site.origin.release("two", gate: "leaving")
      site.origin.release(nil, gate: "leaving")
      let text = String(decoding: try await follower.body.collect(upTo: 100), as: UTF8.self)
      #expect(text == "onetwo")
      #expect(site.seen("/a").count == 1)
    }
  }

  @Test("an answer that may not be shared releases those who wait for it")
  func released() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "no-store")]))
      try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<5 { group.addTask { try await site.get("/a", by: .direct).text } }
        let texts = try await group.reduce(into: Set<String>()) { $0.insert($1) }
        #expect(texts.count == 5)
      }
      #expect(site.seen("/a").count == 5)
    }
  }

  @Test(
    "once an answer was for one request alone, equal requests no longer wait for each other",
    arguments: ["no-store", "no-cache", "max-age=0"])
  func remembered(_ control: String) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: tagged("a", "\"1\"", [("Cache-Control", control)]))
      try await site.get("/a", by: .direct)
      // None is answered before all four are there: who waits for another waits for ever.
      let count = Locked(0)
      site.origin.reply(to: "/a") { _ in
        let number = count.withLock { count -> Int in
          count += 1
          return count
        }
        return Reply(200, [("Cache-Control", control)], .gated("\(control) \(number)"))
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { _ = try await site.get("/a", by: .direct) } }
        await site.origin.until { $0.requests(to: "/a").count == 5 }
        for number in 1...4 { site.origin.release(nil, gate: "\(control) \(number)") }
        try await group.waitForAll()
      }
    }
  }

  @Test("an answer that may be shared ends that, and so does a minute")
  func forgotten() async throws {
    try await withSite { (site: Site) async throws in
      for isMinute in [false, true] {
        let path = "/\(isMinute)"
        site.origin.reply(to: path, with: numbered([("Cache-Control", "no-store")]))
        try await site.get(path, by: .direct)
        site.origin.reply(to: path, with: numbered([("Cache-Control", "max-age=1")]))
        if isMinute { site.wall.advance(by: 61) } else { try await site.get(path, by: .direct) }
        site.wall.advance(by: 2)
        site.origin.reply(to: path) { _ in Reply(200, [("Cache-Control", "max-age=100")], .gated(path)) }
        let before = site.seen(path).count
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<4 { group.addTask { _ = try await site.get(path, by: .direct) } }
          await site.origin.until { $0.requests(to: path).count == before + 1 }
          site.origin.release(nil, gate: path)
          try await group.waitForAll()
        }
        #expect(site.seen(path).count == before + 1)
      }
    }
  }

  @Test("ten at once with two values of a Vary field make two requests")
  func twoVariants() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a") { request in
        .text(
          request["Accept-Language"].first ?? "",
          fields: [("Cache-Control", "max-age=100"), ("Vary", "Accept-Language")])
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<10 {
          let language = index.isMultiple(of: 2) ? "de" : "en"
          group.addTask {
            let text = try await site.get("/a", ["Accept-Language": language], by: .direct).text
            #expect(text == language)
          }
        }
        try await group.waitForAll()
      }
      #expect(site.seen("/a").count == 2)
    }
  }

  @Test("those who wait for an answer that does not come get the same error")
  func failed() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a") { _ in Reply(200, [], .close) }
      let errors = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<5 { group.addTask { await failure { try await site.get("/a", by: .direct) } is URLError } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(errors == Array(repeating: true, count: 5))
    }
  }

  @Test("collapsing can be turned off")
  func off() async throws {
    try await withSite({ configuration in
      configuration.collapses = false
      configuration.keyFor = { _ in "the same for all" }
    }) { (site: Site) async throws in
      site.origin.reply(to: "/a") { Reply(200, [("Cache-Control", "max-age=100")], .gated($0.query("gate") ?? "")) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for gate in ["x", "y", "z"] { group.addTask { _ = try await site.get("/a?gate=\(gate)", by: .direct) } }
        await site.origin.until { $0.requests(to: "/a").count == 3 }
        for gate in ["x", "y", "z"] { site.origin.release(nil, gate: gate) }
        try await group.waitForAll()
      }
      #expect(site.seen("/a").count == 3)
    }
  }
}
