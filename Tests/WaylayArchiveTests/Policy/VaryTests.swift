import HTTPTypes
import Testing

@testable import WaylayArchive

@Suite("Vary (RFC 9111, section 4.1; RFC 9110, section 12.5.5)", .timeLimit(.minutes(5)))
struct VaryTests {
  private static let foo = HTTPField.Name("Foo")!
  private static let bar = HTTPField.Name("Bar")!

  /// Whether what came for `first` answers `second`.
  private func matches(_ vary: [String], _ first: HTTPFields, _ second: HTTPFields) -> Bool {
    var cache = PolicyCache()
    var fields: HTTPFields = [.cacheControl: "max-age=100"]
    fields[values: .vary] = vary
    cache.load(.init(fields: fields), first)
    return cache.load("GET", second) { _ in .init(body: "new") }.isFromArchive
  }

  @Test("The nominated fields have to be the same, and others not")
  func nominated() {
    #expect(matches(["Foo"], [Self.foo: "1"], [Self.foo: "1"]))
    #expect(matches(["foo"], [Self.foo: "1"], [Self.foo: "1", Self.bar: "x"]))
    #expect(!matches(["Foo"], [Self.foo: "1"], [Self.foo: "2"]))
    #expect(!matches(["Foo"], [Self.foo: "a"], [Self.foo: "A"]))
  }

  @Test("A field that is missing matches only where it is missing; an empty one is not missing")
  func missing() {
    #expect(matches(["Foo"], [:], [:]))
    #expect(!matches(["Foo"], [Self.foo: "1"], [:]))
    #expect(!matches(["Foo"], [:], [Self.foo: "1"]))
    #expect(!matches(["Foo"], [:], [Self.foo: ""]))
    #expect(matches(["Foo"], [Self.foo: ""], [Self.foo: ""]))
  }

  @Test("Several fields, in one line or more, in any letter case, all have to match")
  func several() {
    for vary in [["Foo, Bar"], ["Foo", "BAR"], ["bar,foo"], [" Foo ,, Bar ", "foo"]] {
      #expect(matches(vary, [Self.foo: "1", Self.bar: "2"], [Self.bar: "2", Self.foo: "1"]))
      #expect(!matches(vary, [Self.foo: "1", Self.bar: "2"], [Self.foo: "1", Self.bar: "3"]))
      #expect(!matches(vary, [Self.foo: "1", Self.bar: "2"], [Self.foo: "2", Self.bar: "2"]))
      #expect(!matches(vary, [Self.foo: "1", Self.bar: "2"], [Self.foo: "1"]))
    }
    // The value of one is not the value of the other.
    #expect(!matches(["Foo, Bar"], [Self.foo: "1"], [Self.bar: "1"]))
    #expect(!matches(["Foo, Bar"], [Self.foo: "1\u{1}2", Self.bar: ""], [Self.foo: "1", Self.bar: "2"]))
  }

  @Test(
    "An asterisk matches nothing, alone or among others; so does what is no list of names",
    arguments: ["*", "Foo, *", "*, Foo", "Foo Bar", "Foo;x"])
  func asterisk(_ vary: String) {
    #expect(!matches([vary], [Self.foo: "1"], [Self.foo: "1"]))
    #expect(!matches(["Foo", vary], [Self.foo: "1"], [Self.foo: "1"]))
  }

  @Test("An empty Vary names nothing")
  func empty() {
    #expect(matches([""], [Self.foo: "1"], [Self.foo: "2"]))
    #expect(matches([","], [Self.foo: "1"], [Self.foo: "2"]))
  }

  @Test("White space round commas and several lines do not count")
  func whiteSpace() {
    #expect(matches(["Foo"], [Self.foo: "1, 2"], [Self.foo: "1,2"]))
    #expect(matches(["Foo"], [Self.foo: "1, 2"], [Self.foo: " 1 ,\t 2 "]))
    var lines: HTTPFields = [:]
    lines[values: Self.foo] = ["1", "2"]
    #expect(matches(["Foo"], [Self.foo: "1, 2"], lines))
    #expect(!matches(["Foo"], [Self.foo: "1, 2"], [Self.foo: "2, 1"]))
    #expect(!matches(["Foo"], [Self.foo: "\"1, 2\""], [Self.foo: "\"1,2\""]))
  }

  @Test("Letter case and order do not count where the field's specification says so (RFC 9110, 12.5)")
  func known() {
    #expect(matches(["Accept-Language"], [.acceptLanguage: "en-US, de;q=0.5"], [.acceptLanguage: "EN-us,de; q=0.5"]))
    #expect(matches(["Accept-Language"], [.acceptLanguage: "en, de;q=0.5"], [.acceptLanguage: "de;q=0.5, en"]))
    #expect(!matches(["Accept-Language"], [.acceptLanguage: "en, de"], [.acceptLanguage: "en"]))
    #expect(!matches(["Accept-Language"], [.acceptLanguage: "en"], [.acceptLanguage: "en-US"]))
    // Languages of one weight are an order of preference to many a server.
    #expect(!matches(["Accept-Language"], [.acceptLanguage: "en, de"], [.acceptLanguage: "de, en"]))
    #expect(matches(["Accept-Encoding"], [.acceptEncoding: "gzip, br"], [.acceptEncoding: "BR,gzip"]))
    #expect(matches(["Accept"], [.accept: "text/HTML, */*;q=0.1"], [.accept: "text/html,*/*; q=0.1"]))
    #expect(!matches(["Cookie"], [.cookie: "a=1,2"], [.cookie: "a=1, 2"]))
    #expect(!matches(["Authorization"], [.authorization: "Bearer a"], [.authorization: "Bearer A"]))
  }

  @Test("Several variants are kept and found beside each other")
  func variants() {
    var cache = PolicyCache()
    for value in ["1", "2", "3"] {
      cache.load(.init(fields: [.cacheControl: "max-age=100", .vary: "Foo"], body: value), [Self.foo: value])
    }
    cache.load(.init(fields: [.cacheControl: "max-age=100", .vary: "Foo"], body: "none"))
    for value in ["3", "1", "2"] { #expect(cache.load(nil, [Self.foo: value]).body == value) }
    #expect(cache.load(nil).body == "none")
    #expect(cache.records().count == 4)
  }

  @Test("A variant's replacement takes the place of that variant alone")
  func replacement() {
    var cache = PolicyCache()
    for value in ["1", "2", "1"] {
      cache.wait(1)
      cache.load(
        .init(fields: [.cacheControl: "max-age=100", .vary: "Foo"], body: "\(value) of \(cache.now.seconds)"),
        [Self.foo: value],
        cachePolicy: .reloadIgnoringLocalCacheData)
    }
    #expect(cache.records().count == 2)
    #expect(cache.load(nil, [Self.foo: "1"]).body == "1 of \(cache.now.seconds)")
  }

  @Test("No more variants than the limit are kept, the oldest goes first")
  func limit() {
    var cache = PolicyCache { $0.maximumVariants = 3 }
    for value in 1...5 {
      cache.wait(1)
      cache.load(.init(fields: [.cacheControl: "max-age=100", .vary: "Foo"], body: "\(value)"), [Self.foo: "\(value)"])
    }
    #expect(cache.records().count == 3)
    #expect(cache.load(nil, [Self.foo: "3"]).body == "3")
    #expect(cache.load(nil, [Self.foo: "2"]).status == PolicyCache.unreachable)
  }

  @Test("Of several that match, the one with the latest Date is given")
  func latest() {
    var cache = PolicyCache()
    cache.load(
      .init(fields: [.cacheControl: "max-age=100", .vary: "Foo", .date: cache.date(-10)], body: "older"),
      [Self.foo: "1", Self.bar: "1"])
    cache.load(
      .init(fields: [.cacheControl: "max-age=100", .vary: "Bar", .date: cache.date(-20)], body: "oldest"),
      [Self.foo: "2", Self.bar: "2"])
    #expect(cache.load(nil, [Self.foo: "1", Self.bar: "2"]).body == "older")
  }

  @Test("Where a later response has a Vary, an earlier one without it answers no more (RFC 9111, 4.1)")
  func varyAppears() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=100"], body: "plain"))
    cache.wait(1)
    cache.load(
      .init(fields: [.cacheControl: "max-age=100", .vary: "Foo"], body: "one"), [Self.foo: "1"],
      cachePolicy: .reloadIgnoringLocalCacheData)
    #expect(cache.load(nil, [Self.foo: "1"]).body == "one")
    #expect(cache.load(.init(body: "two"), [Self.foo: "2"]).body == "two")
  }

  @Test("… also where both are still there")
  func varyAppearsBeside() {
    var older = PolicyCache()
    older.load(.init(fields: [.cacheControl: "max-age=100"]))
    var later = PolicyCache()
    later.wait(1)
    later.load(.init(fields: [.cacheControl: "max-age=100", .vary: "Foo"]), [Self.foo: "1"])
    let request = CacheRequest(method: "GET", url: nil, fields: [Self.foo: "2"])
    let both = older.records() + later.records()
    #expect(later.policy.decide(request, records: both, now: later.now).reason.code == .varyMiss)
    #expect(later.policy.decide(request, records: Array(both.prefix(1)), now: later.now).reason.code == .fresh)
  }

  @Test(
    """
    Of a response with Vary and a later one without, the one with Vary is given to the request that it is for (RFC \
    9111, 4.1)
    """
  )
  func varyBeforeNone() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=100", .vary: "Foo"], body: "one"), [Self.foo: "1"])
    cache.wait(1)
    cache.load(.init(fields: [.cacheControl: "max-age=100"], body: "plain"), [Self.foo: "2"])
    #expect(cache.load(nil, [Self.foo: "1"]).body == "one")
    #expect(cache.load(nil, [Self.foo: "3"]).body == "plain")
  }

  @Test(
    "A request that matches no variant is sent with the tags of all, and a 304 picks one (RFC 9111, 4.3.1 and 4.3.4)")
  func tagsOfAll() {
    var cache = PolicyCache()
    for value in ["1", "2"] {
      cache.load(
        .init(
          fields: [.cacheControl: "max-age=100", .vary: "Foo", .eTag: "\"\(value)\"", .lastModified: cache.date(-100)],
          body: value),
        [Self.foo: value])
    }
    let result = cache.load(.init(status: 304, fields: [.eTag: "\"2\"", .vary: "Foo"]), [Self.foo: "3"])
    #expect(cache.sent.last?["If-None-Match"] == "\"1\", \"2\"")
    #expect(cache.sent.last?["If-Modified-Since"] == nil)
    #expect(result.body == "2")
    #expect(result.status == 200)
    // From now on it answers both.
    #expect(cache.load(nil, [Self.foo: "3"]).body == "2")
    #expect(cache.load(nil, [Self.foo: "2"]).body == "2")
    #expect(cache.load(nil, [Self.foo: "1"]).body == "1")
    // What replaces it for the one leaves it to the other.
    cache.load(
      "GET", [Self.foo: "3"], cachePolicy: .reloadIgnoringLocalCacheData,
      origin: { _ in .init(fields: [.cacheControl: "max-age=100", .vary: "Foo"], body: "3") })
    #expect(cache.load(nil, [Self.foo: "3"]).body == "3")
    #expect(cache.load(nil, [Self.foo: "2"]).body == "2")
    #expect(cache.records().count == 3)
  }

  @Test("A response with Vary: * is validated each time")
  func asteriskIsValidated() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=100", .vary: "*", .eTag: "\"1\""]))
    #expect(cache.load(.init(status: 304, fields: [.eTag: "\"1\""])).body == "body")
    #expect(cache.sent.last?["If-None-Match"] == "\"1\"")
    cache.load(.init(fields: [.vary: "*", .eTag: "\"2\""]))
    #expect(cache.records().count == 1)
  }

  @Test("A reason says that it was Vary")
  func reason() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=100", .vary: "Foo"]))
    #expect(cache.load(.init(), [Self.foo: "1"]).reason.code == .varyMiss)
    #expect(cache.load(.init(), url: "http://example.com/other").reason.code == .miss)
  }
}
