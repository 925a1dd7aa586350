import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Overruling servers", .timeLimit(.minutes(5)))
struct OverrideTests {
  @Test("a rule gives a lifetime to answers that carry none, and to no others")
  func absent() async throws {
    try await withSite({ $0.lifetimes = [.lifetime(.seconds(60), for: .path("/a/**"))] }) { (site: Site) async throws in
      for path in ["/a/none", "/b/none"] { site.origin.reply(to: path, with: numbered()) }
      site.origin.reply(to: "/a/own", with: numbered([("Cache-Control", "max-age=10")]))
      for path in ["/a/none", "/b/none", "/a/own"] { try await site.get(path) }
      site.wall.advance(by: 30)
      #expect(try await site.get("/a/none").text == "body 1")
      #expect(try await site.get("/b/none").text == "body 2")
      #expect(try await site.get("/a/own").text == "body 2")
    }
  }

  @Test("a rule that overrides the server counts whatever the answer says but no-store: by type, by closure")
  func forced() async throws {
    let rules: [LifetimeRule] = [
      .lifetime(.seconds(60), type: "image/*", overridingServer: true),
      LifetimeRule(overridingServer: true) { $0.status == .notFound ? .seconds(60) : nil },
    ]
    try await withSite({ $0.lifetimes = rules }) { (site: Site) async throws in
      let count = Locked(0)
      site.origin.reply(to: "/image") { _ in
        count.withLock { $0 += 1 }
        return Reply(
          200, [("Content-Type", "Image/PNG; x=y"), ("Cache-Control", "no-cache, must-revalidate")],
          .whole(Data("png".utf8)))
      }
      site.origin.reply(to: "/gone", with: numbered(status: 404))
      site.origin.reply(
        to: "/secret", with: numbered([("Content-Type", "image/png"), ("Cache-Control", "no-store")]))
      for _ in 0..<2 {
        for path in ["/image", "/gone", "/secret"] { try await site.get(path) }
      }
      #expect(count.withLock { $0 } == 1 && site.seen("/gone").count == 1 && site.seen("/secret").count == 2)
    }
  }

  @Test("negative answers are kept as their headers say (RFC 9111, section 3)")
  func negative() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/404", with: numbered([("Cache-Control", "max-age=10")], status: 404))
      site.origin.reply(to: "/410", with: numbered([("Cache-Control", "max-age=10")], status: 410))
      for path in ["/404", "/410", "/404", "/410"] { try await site.get(path) }
      #expect(site.seen("/404").count == 1 && site.seen("/410").count == 1)
    }
  }

  @Test("willStore edits, tags, pins, gives a lifetime, and refuses with its reason")
  func willStore() async throws {
    try await withSite({ configuration in
      configuration.willStore = { candidate in
        if candidate.request.url?.path == "/secret" { return candidate.refuse("secret") }
        candidate.fields[.setCookie] = nil
        candidate.lifetime = .seconds(60)
        candidate.tags = ["news"]
        candidate.isPinned = true
      }
    }) { (site: Site) async throws in
      for path in ["/secret", "/a"] {
        site.origin.reply(to: path, with: numbered([("Cache-Control", "max-age=1"), ("Set-Cookie", "a=b")]))
      }
      var events = site.archive.events().makeAsyncIterator()
      #expect(try await site.get("/a")["Set-Cookie"] == "a=b")
      site.wall.advance(by: 30)
      let second = try await site.get("/a")
      #expect(second.text == "body 1" && second["Set-Cookie"] == nil)
      let entries = try await site.archive.store.list(.tag("news"))
      #expect(entries.count == 1 && entries.first?.details.isPinned == true)
      try await site.get("/secret")
      while let event = await events.next() {
        guard event.kind == .refused else { continue }
        #expect(event.reason == "secret" && event.url?.path == "/secret")
        break
      }
      #expect(try await site.get("/secret").text == "body 2")
    }
  }

  @Test("willStore sees the head that a 304 leaves: what it edits out does not come back, and what it refuses goes")
  func willStoreAgain() async throws {
    let validations = Locked(0)
    try await withSite({ configuration in
      configuration.willStore = { candidate in
        candidate.fields[.setCookie] = nil
        if candidate.fields.contains(where: { $0.name.canonicalName == "x-secret" }) { candidate.refuse("secret") }
      }
    }) { (site: Site) async throws in
      site.origin.reply(to: "/a") { request in
        let isConditional = !request["If-None-Match"].isEmpty
        let fields = [("Cache-Control", "max-age=1"), ("ETag", "\"1\""), ("Set-Cookie", "a=b")]
        guard isConditional else { return .text("body", fields: fields) }
        let isFirst = validations.withLock { count in
          count += 1
          return count == 1
        }
        return .text("", status: 304, fields: isFirst ? fields : fields + [("X-Secret", "yes")])
      }
      #expect(try await site.get("/a")["Set-Cookie"] == "a=b")
      site.wall.advance(by: 10)
      let confirmed = try await site.get("/a")
      #expect(confirmed.text == "body" && confirmed["Set-Cookie"] == nil)
      #expect(try await site.get("/a")["Set-Cookie"] == nil)
      site.wall.advance(by: 10)
      #expect(try await site.get("/a").text == "body")
      let left = try await site.archive.store.list()
      #expect(left.isEmpty && validations.withLock { $0 } == 2)
    }
  }

  @Test("what takes an entry's place inherits its tags and its pin")
  func inherited() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=1")]))
      try await site.get("/a")
      let store = try await site.archive.store
      let entry = try #require(try await store.list().first)
      var details = entry.details
      details.tags = ["kept"]
      details.isPinned = true
      try store.update(entry, head: entry.head, details: details)
      site.wall.advance(by: 10)
      #expect(try await site.get("/a").text == "body 2")
      let entries = try await store.list(.tag("kept"))
      #expect(entries.count == 1 && entries.first?.details.isPinned == true)
    }
  }

  @Test("query items and fields that do not count are ignored by rule")
  func ignored() async throws {
    let rules: [KeyRule] = [
      .ignoringQueryItems(["utm_*", "sig"]), .sortingQuery(), .ignoringFields(["User-Agent"]),
    ]
    try await withSite({ $0.keys = rules }) { (site: Site) async throws in
      site.origin.reply(
        to: "/a", with: numbered([("Cache-Control", "max-age=10"), ("Vary", "User-Agent, Accept-Language")]))
      try await site.get("/a?id=1&utm_source=x&sig=1&b=2", ["User-Agent": "one"])
      #expect(try await site.get("/a?b=2&id=1&utm_medium=y&sig=2", ["User-Agent": "two"]).text == "body 1")
      #expect(try await site.get("/a?id=2&b=2").text == "body 2")
      #expect(try await site.get("/a?id=1&b=2", ["Accept-Language": "de"]).text == "body 3")
      #expect(site.seen("/a").last?["User-Agent"].isEmpty == false)
    }
  }

  @Test("a key of one's own lets URLs with encrypted parts share an entry")
  func keyFor() async throws {
    try await withSite({ $0.keyFor = { $0.value(forHTTPHeaderField: "X-Resource") } }) { (site: Site) async throws in
      for path in ["/x1", "/x2"] { site.origin.reply(to: path, with: numbered([("Cache-Control", "max-age=10")])) }
      #expect(try await site.get("/x1", ["X-Resource": "article 7"]).text == "body 1")
      #expect(try await site.get("/x2", ["X-Resource": "article 7"]).text == "body 1")
      #expect(site.seen("/x2").isEmpty)
    }
  }

  @Test("a POST is keyed by its body where a rule says so, and invalidates elsewhere", arguments: Way.allCases)
  func byBody(_ way: Way) async throws {
    let rule = KeyRule.byBody(for: .path("/graphql"))
    try await withSite({ configuration in
      configuration.keys = [rule]
      configuration.lifetimes = [.lifetime(.seconds(60), for: .path("/graphql"))]
    }) { (site: Site) async throws in
      site.origin.reply(to: "/graphql") { .text(String(decoding: $0.body, as: UTF8.self)) }
      for query in ["{a}", "{b}", "{a}", "{b}"] {
        let answer = try await site.load(
          site.request("/graphql", method: "POST") { $0.httpBody = Data(query.utf8) }, by: way)
        #expect(answer.text == query)
      }
      #expect(site.seen("/graphql").count == 2)
      site.archive.mode = .offline
      #expect(
        try await site.load(site.request("/graphql", method: "POST") { $0.httpBody = Data("{a}".utf8) }, by: way).text
          == "{a}")
    }
  }
}

@Suite("What is kept apart", .timeLimit(.minutes(5)))
struct PartitionTests {
  @Test("two users' answers never meet: Authorization keeps them apart", arguments: Way.allCases)
  func authorization(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/me") {
        .text($0["Authorization"].first ?? "nobody", fields: [("Cache-Control", "max-age=100")])
      }
      for user in ["Bearer alice", "Bearer bob", "Bearer alice", "Bearer bob"] {
        #expect(try await site.get("/me", ["Authorization": user], by: way).text == user)
      }
      #expect(try await site.get("/me", by: way).text == "nobody")
      #expect(site.seen("/me").count == 3)
      let store = try await site.archive.store
      for entry in try await store.list() {
        let readable = String(decoding: entry.key.bytes + entry.head, as: UTF8.self) + entry.details.url
        #expect(!readable.contains("Bearer") && !readable.contains("alice") && !readable.contains("bob"))
      }
    }
  }

  @Test("every field that is a credential by its name keeps answers apart, unless a rule ignores it")
  func fields() async throws {
    try await withSite({ $0.keys = [.ignoringFields(["X-App-Token"])] }) { (site: Site) async throws in
      let stable = Set(CredentialNames.fields(.stable)).union(["X-App-Token", "X-GitHub-Token", "Page-Access-Token"])
      for (number, name) in stable.subtracting(["authorization", "cookie"]).sorted().enumerated() {
        site.origin.reply(to: "/\(number)", with: numbered([("Cache-Control", "max-age=600")]))
        var texts: [String] = []
        for user in ["pl4nted-ann", "pl4nted-bob", "pl4nted-ann"] {
          texts.append(try await site.get("/\(number)", [name: user]).text)
        }
        let isIgnored = name == "X-App-Token"
        #expect(texts == (isIgnored ? ["body 1", "body 1", "body 1"] : ["body 1", "body 2", "body 1"]), "\(name)")
      }
      let others = CredentialNames.fields(.changing) + CredentialNames.fields(.harmless) + ["X-Page-Token"]
      for (number, name) in others.enumerated() {
        site.origin.reply(to: "/other/\(number)", with: numbered([("Cache-Control", "max-age=600")]))
        for value in ["1", "2"] { #expect(try await site.get("/other/\(number)", [name: value]).text == "body 1") }
      }
      // A page is told by the URL's query.
      site.origin.reply(to: "/pages", with: numbered([("Cache-Control", "max-age=600")]))
      for (page, text) in [("a", "body 1"), ("b", "body 2"), ("a", "body 1")] {
        let found = try await site.get("/pages?page_token=\(page)", ["X-CSRF-Token": .random(bytes: 8)]).text
        #expect(found == text)
      }
      for entry in try await site.archive.store.list() {
        #expect(!String(decoding: entry.key.bytes + entry.head, as: UTF8.self).contains("pl4nted"))
      }
    }
  }

  @Test("a response whose lifetime is a guess is for the cookies of its request alone")
  func guessed() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/me", with: numbered([("Last-Modified", "Mon, 01 Jan 1990 00:00:00 GMT")]))
      for (user, text) in [("ann", "body 1"), ("ann", "body 1"), ("bob", "body 2"), ("bob", "body 2")] {
        #expect(try await site.get("/me", ["Cookie": "session=\(user)"], by: .direct).text == text)
      }
    }
  }

  @Test("user info in the URL keeps answers apart, and is not written down")
  func userInfo() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/me", with: numbered([("Cache-Control", "max-age=100")]))
      for (user, text) in [("alice", "body 1"), ("bob", "body 2"), ("alice", "body 1")] {
        let url = try #require(URL(string: "http://\(user):pl4nted@127.0.0.1:\(site.origin.port)/me"))
        #expect(try await site.load(URLRequest(url: url), by: .direct).text == text)
      }
      for entry in try await site.archive.store.list() {
        #expect(
          !String(decoding: entry.key.bytes, as: UTF8.self).contains("alice") && !entry.details.url.contains("pl4nted"))
      }
    }
  }

  @Test("the Authorization partition can be turned off")
  func off() async throws {
    try await withSite({ $0.partitionsByAuthorization = false }) { (site: Site) async throws in
      site.origin.reply(to: "/me", with: numbered([("Cache-Control", "max-age=100")]))
      try await site.get("/me", ["Authorization": "Bearer alice"])
      #expect(try await site.get("/me", ["Authorization": "Bearer bob"]).text == "body 1")
    }
  }

  @Test("an explicit partition keeps answers apart, and goes as a whole")
  func explicit() async throws {
    try await withSite({ $0.partition = { $0.value(forHTTPHeaderField: "X-User") } }) { (site: Site) async throws in
      site.origin.reply(to: "/me", with: numbered([("Cache-Control", "max-age=100")]))
      #expect(try await site.get("/me", ["X-User": "alice"]).text == "body 1")
      #expect(try await site.get("/me", ["X-User": "bob"]).text == "body 2")
      #expect(try await site.get("/me", ["X-User": "alice"]).text == "body 1")
      #expect(try await site.archive.store.removeAll(.partition("alice")) == 1)
      #expect(try await site.get("/me", ["X-User": "alice"]).text == "body 3")
      #expect(try await site.get("/me", ["X-User": "bob"]).text == "body 2")
    }
  }

  @Test("query values are not written down where they are secret")
  func queryValues() async throws {
    try await withSite({ $0.keepsQueryValues = false }) { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=100")]))
      try await site.get("/a?token=pl4nted")
      #expect(try await site.get("/a?token=pl4nted").text == "body 1")
      #expect(try await site.get("/a?token=other").text == "body 2")
      for entry in try await site.archive.store.list() {
        #expect(!String(decoding: entry.key.bytes + entry.head, as: UTF8.self).contains("pl4nted"))
        #expect(!entry.details.url.contains("pl4nted") && entry.details.url.contains("token"))
      }
    }
  }
}
