import HTTPTypes
import Testing

@testable import WaylayArchive

@Suite("Validation and freshening (RFC 9111, sections 3.2 and 4.3)", .timeLimit(.minutes(5)))
struct ValidationTests {
  private func stale(_ fields: HTTPFields, _ cacheControl: String = "max-age=1") -> PolicyCache {
    var cache = PolicyCache()
    var fields = fields
    fields[.cacheControl] = cacheControl
    cache.load(.init(fields: fields, body: "old"))
    cache.wait(10)
    return cache
  }

  private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"

  @Test("A stale response is asked about by its tag and its date, to the letter (RFC 9110, 13.1.2 and 13.1.3)")
  func conditions() {
    for tag in ["\"1\"", "W/\"1\"", "unquoted", "\"a, b\""] {
      var cache = stale([.eTag: tag, .lastModified: Self.modified])
      #expect(cache.load(.init(status: 304, fields: [.eTag: tag])).body == "old", "\(tag)")
      #expect(cache.sent.last?["If-None-Match"] == tag)
      #expect(cache.sent.last?["If-Modified-Since"] == Self.modified)
    }
    for date in [Self.modified, "Sunday, 06-Nov-94 08:49:37 GMT", "yesterday"] {
      var cache = stale([.lastModified: date])
      #expect(cache.load(.init(status: 304)).body == "old")
      #expect(cache.sent.last?["If-Modified-Since"] == date)
      #expect(cache.sent.last?["If-None-Match"] == nil)
    }
  }

  @Test("Without a validator nothing is added")
  func noValidator() {
    var cache = stale([:])
    #expect(cache.load(.init(body: "new")).body == "new")
    #expect(cache.sent.last?.fields == [:])
    // A 304 that nobody asked for is passed on.
    cache.wait(10)
    #expect(cache.load(.init(status: 304)).status == 304)
  }

  @Test("no-cache is validated each time, and answers then (RFC 9111, 5.2.2.4)")
  func noCache() {
    var cache = stale([.eTag: "\"1\""], "max-age=1000, no-cache")
    for _ in 0..<3 { #expect(cache.load(.init(status: 304, fields: [.eTag: "\"1\""])).body == "old") }
    #expect(cache.sent.count == 4)
  }

  @Test("A full answer takes the stored one's place (RFC 9111, 4.3.3)")
  func replaced() {
    var cache = stale([.eTag: "\"1\""])
    #expect(cache.load(.init(fields: [.cacheControl: "max-age=100", .eTag: "\"2\""], body: "new")).body == "new")
    #expect(cache.load(nil).body == "new")
    #expect(cache.records().count == 1)
  }

  @Test("An answer that must not be stored leaves nothing that would be given in its place")
  func replacedByUnstorable() {
    var cache = stale([.eTag: "\"1\""], "max-age=1000")
    cache.load(.init(fields: [.cacheControl: "no-store"], body: "secret"), [.cacheControl: "no-cache"])
    #expect(cache.load(.init(body: "newest")).body == "newest")
  }

  @Test("A 304 changes the fields it brings, and the lifetime with them (RFC 9111, 3.2 and 4.3.4)")
  func freshened() {
    var cache = stale([
      .eTag: "\"1\"", HTTPField.Name("X-A")!: "old", HTTPField.Name("X-B")!: "kept", .contentType: "text/plain",
    ])
    let fields: HTTPFields = [
      .cacheControl: "max-age=100", .eTag: "\"1\"", HTTPField.Name("X-A")!: "new", HTTPField.Name("X-C")!: "added",
      .contentType: "text/html", .lastModified: Self.modified,
    ]
    for result in [cache.load(.init(status: 304, fields: fields)), cache.load(nil)] {
      #expect(result.status == 200)
      #expect(result.body == "old")
      #expect(result["X-A"] == "new")
      #expect(result["X-B"] == "kept")
      #expect(result["X-C"] == "added")
      #expect(result["Content-Type"] == "text/html")
      #expect(result["Last-Modified"] == Self.modified)
    }
    cache.wait(99)
    #expect(cache.load(nil).age == 99)
    cache.wait(1)
    #expect(!cache.load(.init()).isFromArchive)
  }

  @Test("All lines of a field are replaced by all lines of the 304's (RFC 9111, 3.2)")
  func lines() {
    var cache = PolicyCache()
    var fields: HTTPFields = [.eTag: "\"1\"", .cacheControl: "max-age=1"]
    fields[values: .setCookie] = ["a=1", "b=1"]
    cache.load(.init(fields: fields))
    cache.wait(10)
    fields[values: .setCookie] = ["a=2"]
    #expect(cache.load(.init(status: 304, fields: fields)).fields[values: .setCookie] == ["a=2"])
  }

  @Test(
    "What describes the stored bytes or the connection is not taken from a 304 (RFC 9111, 3.2)",
    arguments: [
      "Content-Length", "Content-Encoding", "Content-Range", "Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade",
      "X-Listed",
    ])
  func notFreshened(_ name: String) {
    var cache = stale([.eTag: "\"1\""])
    let fields: HTTPFields = [.eTag: "\"1\"", HTTPField.Name(name)!: "1000"]
    var listing = fields
    if name == "X-Listed" { listing[.connection] = "x-listed" }
    #expect(cache.load(.init(status: 304, fields: listing))[name] == nil)
    #expect(cache.load(nil)[name] == nil)
  }

  @Test("Content-Length and Content-Encoding of what is stored stay (RFC 9111, 3.2)")
  func lengthStays() {
    var cache = stale([.eTag: "\"1\"", .contentLength: "3"])
    #expect(cache.load(.init(status: 304, fields: [.eTag: "\"1\"", .contentLength: "0"]))["Content-Length"] == "3")
    var coded = stale([.eTag: "\"1\"", .contentLength: "99", .contentEncoding: "gzip"])
    let result = coded.load(.init(status: 304, fields: [.eTag: "\"1\"", .contentEncoding: "br"]))
    #expect(result["Content-Encoding"] == "gzip")
    #expect(result["Content-Length"] == "99")
  }

  @Test("A 304 without a lifetime of its own renews the stored one, from its Date (RFC 9111, 4.3.4)")
  func renewed() {
    var cache = stale([.eTag: "\"1\""], "max-age=60")
    cache.wait(100)
    cache.load(.init(status: 304, fields: [.eTag: "\"1\"", .date: cache.date()]))
    cache.wait(50)
    #expect(cache.load(nil).age == 50)
  }

  @Test("A 304 that came through a cache brings its age along (RFC 9111, 4.2.3)")
  func agedNotModified() {
    var cache = stale([.eTag: "\"1\"", HTTPField.Name("Age")!: "0"], "max-age=60")
    cache.wait(100)
    let result = cache.load(.init(status: 304, fields: [.eTag: "\"1\"", HTTPField.Name("Age")!: "20"]))
    #expect(result.age == 20)
    cache.wait(39)
    #expect(cache.load(nil).age == 59)
    cache.wait(1)
    #expect(!cache.reused)
  }

  @Test("Strong tag: the responses with that one are freshened, and no others (RFC 9111, 4.3.4)")
  func strong() {
    var cache = stale([.eTag: "\"1\"", .lastModified: Self.modified])
    var isFirst = true
    let result = cache.load { sent in
      defer { isFirst = false }
      return isFirst
        ? .init(status: 304, fields: [.eTag: "\"2\"", .lastModified: Self.modified]) : .init(body: "asked again")
    }
    #expect(result.body == "asked again")
    #expect(cache.sent.last?["If-None-Match"] == nil)
    #expect(cache.sent.last?["If-Modified-Since"] == nil)
  }

  @Test(
    """
    A strong tag in the 304 does not name a response with a weak one: it may be used, and is not changed (RFC 9111, \
    4.3.3 and 4.3.4)
    """
  )
  func strongAgainstWeak() {
    var cache = stale([.eTag: "W/\"1\""])
    for _ in 0..<2 {
      let result = cache.load(.init(status: 304, fields: [.eTag: "\"1\"", .cacheControl: "max-age=100"]))
      #expect(result.body == "old")
      #expect(result["Cache-Control"] == "max-age=1")
    }
    #expect(cache.sent.count == 3)
    #expect(
      cache.load { $0["If-None-Match"] == nil ? .init(body: "again") : .init(status: 304, fields: [.eTag: "\"2\""]) }
        .body == "again")
  }

  @Test("A request with no-store is answered by a 304, and changes nothing that is stored (RFC 9111, 5.2.1.5)")
  func noStoreRequest() {
    var cache = stale([.eTag: "\"1\""])
    let reply = PolicyCache.Reply(status: 304, fields: [.eTag: "\"1\"", .cacheControl: "max-age=100"])
    #expect(cache.load(reply, [.cacheControl: "no-store"]).body == "old")
    #expect(!cache.reused)
  }

  @Test("Weak tag: the latest response that has it (RFC 9111, 4.3.4)")
  func weak() {
    var cache = stale([.eTag: "W/\"1\""])
    #expect(cache.load(.init(status: 304, fields: [.eTag: "W/\"1\""])).body == "old")
    var other = stale([.eTag: "W/\"1\""])
    #expect(
      other.load { $0["If-None-Match"] == nil ? .init(body: "again") : .init(status: 304, fields: [.eTag: "W/\"2\""]) }
        .body == "again")
  }

  @Test("A date that differs, also one that is earlier, is another representation (RFC 9111, 4.3.4)")
  func rolledBack() {
    for date in ["Sun, 06 Nov 1994 08:49:36 GMT", "Sun, 06 Nov 1994 08:49:38 GMT"] {
      var cache = stale([.lastModified: Self.modified])
      let result = cache.load { sent in
        sent["If-Modified-Since"] == nil ? .init(body: "again") : .init(status: 304, fields: [.lastModified: date])
      }
      #expect(result.body == "again")
    }
    var same = stale([.lastModified: Self.modified])
    #expect(same.load(.init(status: 304, fields: [.lastModified: Self.modified])).body == "old")
  }

  @Test("A 304 without validators is about the one response that was asked about (RFC 9111, 4.3.4)")
  func withoutValidators() {
    var cache = stale([.eTag: "\"1\""])
    #expect(cache.load(.init(status: 304, fields: [.cacheControl: "max-age=100"])).body == "old")
    #expect(cache.load(nil).body == "old")
    // Of two it would be a guess.
    var two = PolicyCache()
    for value in ["1", "2"] {
      two.load(.init(fields: [.vary: "Foo", .eTag: "\"\(value)\""], body: value), [HTTPField.Name("Foo")!: value])
    }
    let result = two.load("GET", [HTTPField.Name("Foo")!: "3"]) {
      $0["If-None-Match"] == nil ? .init(body: "again") : .init(status: 304)
    }
    #expect(result.body == "again")
  }

  @Test("A 304 that says no-store is given, and then gone (RFC 9111, 5.2.2.5)")
  func noStore() {
    var cache = stale([.eTag: "\"1\""])
    #expect(cache.load(.init(status: 304, fields: [.eTag: "\"1\"", .cacheControl: "no-store"])).body == "old")
    #expect(cache.records().isEmpty)
  }

  @Test("A 304 may change Vary, and the response is then for the request that brought it (RFC 9111, 3.2)")
  func varyChanges() {
    var cache = stale([.eTag: "\"1\""])
    cache.load(
      .init(status: 304, fields: [.eTag: "\"1\"", .vary: "Foo", .cacheControl: "max-age=100"]),
      [HTTPField.Name("Foo")!: "1"])
    #expect(cache.load(nil, [HTTPField.Name("Foo")!: "1"]).body == "old")
    #expect(!cache.load(.init(), [HTTPField.Name("Foo")!: "2"]).isFromArchive)
  }

  @Test(
    """
    no-cache with field names: what the 304 brings of them is given out of it, not out of the archive (RFC 9111, \
    5.2.2.4)
    """
  )
  func noCacheFieldsAfterValidation() {
    var cache = stale([.eTag: "\"1\"", HTTPField.Name("X-A")!: "1"], "max-age=1, no-cache=\"x-a\"")
    let result = cache.load(.init(status: 304, fields: [.eTag: "\"1\""]))
    #expect(result["X-A"] == nil)
    #expect(cache.load(nil)["X-A"] == nil)
  }

  @Test("A stored error is not validated by a success's 304 status: it keeps its own (RFC 9111, 4.3.3)")
  func statusStays() {
    var cache = PolicyCache()
    cache.load(.init(status: 404, fields: [.cacheControl: "max-age=1", .eTag: "\"1\""], body: "gone"))
    cache.wait(10)
    #expect(cache.load(.init(status: 304, fields: [.eTag: "\"1\""])).status == 404)
  }
}
