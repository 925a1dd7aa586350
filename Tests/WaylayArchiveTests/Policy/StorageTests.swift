import HTTPTypes
import Testing

@testable import WaylayArchive

@Suite("What is stored (RFC 9111, section 3)", .timeLimit(.minutes(5)))
struct StorageTests {
  private func isStored(
    _ status: Int = 200, _ fields: HTTPFields = [:], _ method: String = "GET", request: HTTPFields = [:]
  ) -> Bool {
    var cache = PolicyCache()
    cache.load(.init(status: status, fields: fields), method, request)
    return !cache.records().isEmpty
  }

  @Test("A success is stored, with a lifetime or for validation and for offline; 1xx and 304 never (RFC 9111, 3)")
  func successes() {
    #expect(isStored())
    #expect(isStored(200, [.cacheControl: "max-age=1"]))
    #expect(!isStored(304, [.cacheControl: "max-age=100"]))
    #expect(!isStored(304, [.cacheControl: "max-age=100"], "HEAD"))
    #expect(!isStored(103, [.cacheControl: "max-age=100"]))
  }

  @Test(
    "Any final status with an explicit lifetime is stored, unknown ones too (RFC 9111, 3)",
    arguments: [
      200, 201, 202, 203, 204, 205, 299, 300, 301, 302, 303, 307, 308, 399, 400, 403, 404, 410, 418, 499, 500, 503, 599,
    ])
  func explicit(_ status: Int) {
    var cache = PolicyCache()
    cache.load(.init(status: status, fields: [.cacheControl: "max-age=100"]))
    let result = cache.load(nil)
    #expect(result.isFromArchive)
    #expect(result.status == status)
    #expect(isStored(status, [.expires: "Thu, 18 Aug 2050 02:01:18 GMT"]))
    // s-maxage says nothing to a private cache.
    #expect(
      isStored(status, [.cacheControl: "s-maxage=100"]) == [200, 203, 204, 300, 301, 308, 404, 410].contains(status))
  }

  @Test("no-store forbids it, in the response and in the request (RFC 9111, 5.2.2.5 and 5.2.1.5)")
  func noStore() {
    #expect(!isStored(200, [.cacheControl: "no-store"]))
    #expect(!isStored(200, [.cacheControl: "no-store, max-age=100"]))
    #expect(!isStored(200, [.cacheControl: "No-Store, max-age=100"]))
    #expect(!isStored(200, [.cacheControl: "max-age=100"], request: [.cacheControl: "no-store"]))
  }

  @Test("private is for this cache, with and without field names (RFC 9111, 5.2.2.7)")
  func privateResponses() {
    #expect(isStored(200, [.cacheControl: "private, max-age=100"]))
    #expect(isStored(302, [.cacheControl: "private"]))
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "private=\"x-a\", max-age=100", HTTPField.Name("X-A")!: "1"]))
    #expect(cache.load(nil)["X-A"] == "1")
  }

  @Test(
    "must-understand sets no-store aside for a status that is understood, and forbids the others (RFC 9111, 5.2.2.3)")
  func mustUnderstand() {
    #expect(isStored(200, [.cacheControl: "must-understand, no-store, max-age=100"]))
    #expect(isStored(404, [.cacheControl: "no-store, must-understand, max-age=100"]))
    #expect(!isStored(299, [.cacheControl: "must-understand, no-store, max-age=100"]))
    #expect(!isStored(499, [.cacheControl: "must-understand, max-age=100"]))
    #expect(!isStored(200, [.cacheControl: "must-understand, no-store"], request: [.cacheControl: "no-store"]))
  }

  @Test("Authorization does not keep a private cache from storing (RFC 9111, 3.5)")
  func authorization() {
    #expect(isStored(200, [.cacheControl: "max-age=100"], request: [.authorization: "Bearer x"]))
  }

  @Test("A response with Set-Cookie is stored like any other (RFC 9111, 7.3)")
  func setCookie() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=100", .setCookie: "a=b"]))
    #expect(cache.load(nil)["Set-Cookie"] == "a=b")
  }

  @Test("All other fields are kept, in their order and as often as they came (RFC 9111, 3.1)")
  func fields() {
    var cache = PolicyCache()
    var fields: HTTPFields = [.cacheControl: "max-age=100", HTTPField.Name("X-New")!: "1"]
    fields[values: .setCookie] = ["a=b", "c=d"]
    fields[values: .date] = [cache.date()]
    cache.load(.init(fields: fields))
    var served = cache.load(nil).fields
    served[values: HTTPField.Name("Age")!] = []
    #expect(served == fields)
  }

  @Test(
    "Fields of the connection, those it lists, and a proxy's are not (RFC 9111, 3.1; RFC 9110, 7.6.1)",
    arguments: [
      "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authentication-Info",
      "Proxy-Authorization", "TE",
      "Transfer-Encoding", "Upgrade", "Trailer", "X-Listed", "x-other",
    ])
  func perConnection(_ name: String) {
    var cache = PolicyCache()
    var fields: HTTPFields = [
      .cacheControl: "max-age=100", HTTPField.Name("X-Listed")!: "1", HTTPField.Name("X-Other")!: "1",
    ]
    fields[HTTPField.Name(name)!] =
      name == "Connection" || name.lowercased().hasPrefix("x-") ? "close, X-Listed,x-OTHER" : "1"
    fields[.connection] = "close, X-Listed,x-OTHER"
    let first = cache.load(.init(fields: fields))
    #expect(first[name] != nil)
    let second = cache.load(nil)
    #expect(second.isFromArchive)
    #expect(second[name] == nil)
  }

  @Test(
    "Fields that no-cache names are given once, and not out of the archive (RFC 9111, 5.2.2.4 and 3.1)",
    arguments: ["\"x-a, X-B\"", "x-a"])
  func noCacheFields(_ names: String) {
    var cache = PolicyCache()
    cache.load(
      .init(fields: [
        .cacheControl: "no-cache=\(names), max-age=100", HTTPField.Name("X-A")!: "1", HTTPField.Name("X-C")!: "1",
      ]))
    let second = cache.load(nil)
    #expect(second.isFromArchive)
    #expect(second["X-A"] == nil)
    #expect(second["X-C"] == "1")
  }

  @Test("no-cache with the name of a field that says how long does not make it longer")
  func noCacheExpires() {
    var cache = PolicyCache()
    let fields: HTTPFields = [
      .cacheControl: "no-cache=\"Expires\"", .expires: "0", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
    ]
    cache.load(.init(fields: fields))
    #expect(!cache.load(.init(fields: fields)).isFromArchive)
  }

  @Test(
    "Methods other than GET, HEAD and POST are not stored (RFC 9111, 3)",
    arguments: ["PUT", "DELETE", "PATCH", "OPTIONS", "QUERY", "FOO"])
  func methods(_ method: String) {
    #expect(!isStored(200, [.cacheControl: "max-age=100"], method))
  }

  @Test(
    "A POST answers a later GET when it has an explicit lifetime and its own URL as Content-Location (RFC 9110, 9.3.3)")
  func post() {
    var cache = PolicyCache()
    cache.load(
      .init(fields: [.cacheControl: "max-age=100", .contentLocation: PolicyCache.url], body: "posted"), "POST")
    #expect(cache.load(nil).body == "posted")
    #expect(cache.load(nil, "HEAD").status == 200)
    // Never another POST.
    #expect(cache.load(.init(), "POST").isFromArchive == false)
    #expect(isStored(200, [.cacheControl: "max-age=100", .contentLocation: "/a"], "POST"))
    #expect(!isStored(200, [.cacheControl: "max-age=100", .contentLocation: "/b"], "POST"))
    #expect(!isStored(200, [.cacheControl: "max-age=100"], "POST"))
    #expect(!isStored(200, [.contentLocation: "/a"], "POST"))
    #expect(!isStored(200, [.cacheControl: "no-store, max-age=100", .contentLocation: "/a"], "POST"))
  }

  @Test("A request keyed by its body is stored and answered like a GET, and invalidates nothing")
  func keyedByBody() {
    var cache = PolicyCache()
    cache.options.isKeyedByBody = true
    cache.load(.init(fields: [.cacheControl: "max-age=100"], body: "query"), "POST")
    #expect(cache.load(nil, "POST").body == "query")
  }

  @Test("A HEAD is stored for HEAD alone, and a GET answers HEAD (RFC 9110, 9.3.2)")
  func head() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=100", .contentLength: "4"]), "HEAD")
    #expect(cache.load(nil, "HEAD").isFromArchive)
    #expect(cache.load(nil).status == PolicyCache.unreachable)
    cache.load(.init(fields: [.cacheControl: "max-age=100", .eTag: "\"get\""]))
    #expect(cache.load(nil, "HEAD")["ETag"] == "\"get\"")
    #expect(cache.records().count == 1)
  }

  @Test("A rule's lifetime is for what has none, or in place of everything")
  func overrides() {
    var absent = PolicyCache()
    absent.options.lifetime = .absent(100)
    absent.load(.init())
    #expect(absent.load(nil).reason.lifetimeSource == .fallback)
    absent.load(.init(fields: [.cacheControl: "max-age=1"]), cachePolicy: .reloadIgnoringLocalCacheData)
    #expect(absent.load(nil).reason.lifetime == 1)
    var forced = PolicyCache()
    forced.options.lifetime = .forced(100)
    forced.load(.init(fields: [.cacheControl: "no-cache, private, must-revalidate, max-age=0"]))
    #expect(forced.load(nil).reason.lifetimeSource == .forced)
    #expect(forced.load(nil).isFromArchive)
    forced.load(.init(status: 500), url: "http://example.com/error")
    forced.load(.init(fields: [.cacheControl: "no-store"]), url: "http://example.com/error")
    #expect(forced.records("http://example.com/error").isEmpty)
    // Nor does it stay when the origin says so later.
    let url = "http://example.com/b"
    forced.load(.init(fields: [.eTag: "\"1\""]), url: url)
    forced.wait(1000)
    forced.load(.init(status: 304, fields: [.eTag: "\"1\"", .cacheControl: "no-store"]), url: url)
    #expect(forced.records(url).isEmpty)
  }

  @Test(
    "An error without a lifetime of its own is passed on, and the page is kept; one that names a lifetime replaces it",
    arguments: [400, 403, 404, 405, 410, 414, 501])
  func belatedError(status: Int) {
    let isPageKept = status != 410
    let kinds: [(fields: HTTPFields, isPageKept: Bool)] = [
      ([:], isPageKept), ([.cacheControl: "no-cache"], isPageKept), ([.cacheControl: "public"], isPageKept),
      ([.cacheControl: "max-age=9"], false),
    ]
    for (fields, isPageKept) in kinds {
      var cache = PolicyCache()
      cache.load(.init(fields: [.cacheControl: "max-age=10"], body: "page"))
      cache.wait(20)
      let reply = PolicyCache.Reply(status: status, fields: fields, body: "error")
      #expect(cache.load(reply).status == status)
      // Online it is asked for again; offline it is there.
      #expect(cache.load(reply).isFromArchive == false || !isPageKept)
      #expect((cache.load(nil).body == "page") == isPageKept, "\(fields)")
    }
  }

  @Test("Warning is neither written nor taken away (RFC 9111, 5.5)")
  func warning() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=1"]))
    cache.wait(10)
    #expect(cache.load(nil)["Warning"] == nil)
  }

  @Test("A body that is not as long as its head says is not stored as a whole one (RFC 9111, 3.3)")
  func incomplete() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=100", .contentLength: "100"], body: "short"))
    #expect(cache.records().isEmpty)
    cache.load(
      .init(fields: [.cacheControl: "max-age=100", .contentLength: "4", .contentEncoding: "gzip"], body: "inflated"))
    #expect(cache.load(nil).body == "inflated")
    // A coded transfer has no length, whatever the head says (RFC 9112, 6.3).
    let chunked: HTTPFields = [.cacheControl: "max-age=100", .contentLength: "100", .transferEncoding: "chunked"]
    cache.load(.init(fields: chunked, body: "chunks"), cachePolicy: .reloadIgnoringLocalCacheData)
    #expect(cache.load(nil).body == "chunks")
  }
}
