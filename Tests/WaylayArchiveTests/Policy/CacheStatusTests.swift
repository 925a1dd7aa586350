#if StructuredFields
  import Testing
  @testable import WaylayArchive

  @Suite("Cache-Status (RFC 9211)", .timeLimit(.minutes(5)))
  struct CacheStatusTests {
    @Test("The forms of the RFC (RFC 9211, 2 and 3)")
    func forms() {
      var hit = CacheStatus(cache: "ExampleCache")
      hit.isHit = true
      hit.timeToLive = 376
      #expect(hit.description == "ExampleCache;hit;ttl=376")
      hit.timeToLive = -412
      #expect(hit.description == "ExampleCache;hit;ttl=-412")
      var miss = CacheStatus(cache: "ExampleCache")
      miss.forwarded = .miss
      miss.isStored = true
      #expect(miss.description == "ExampleCache;fwd=uri-miss;stored")
      miss.forwarded = .stale
      miss.forwardedStatus = 304
      miss.isStored = false
      miss.isCollapsed = true
      #expect(miss.description == "ExampleCache;fwd=stale;fwd-status=304;collapsed")
    }

    @Test("Names and details that are no tokens are strings, within what a structured field may hold (RFC 8941, 3.3)")
    func quoting() {
      var status = CacheStatus(cache: "my \"cache\"\\")
      status.detail = "http://a/ü \u{7}"
      status.timeToLive = .max
      #expect(status.description == "\"my \\\"cache\\\"\\\\\";ttl=999999999999999;detail=\"http://a/? ?\"")
      status.detail = "any-age"
      #expect(status.description.hasSuffix(";detail=any-age"))
      #expect(CacheStatus(cache: "").description == "\"\"")
      #expect(CacheStatus(cache: "1a").description == "\"1a\"")
    }

    @Test("Each reason to send a request on has its value (RFC 9211, 2.2)")
    func reasons() {
      for (code, value) in [
        (ArchiveReason.Code.miss, "uri-miss"), (.varyMiss, "vary-miss"), (.stale, "stale"), (.needsValidation, "stale"),
        (.request, "request"),
        (.method, "method"), (.partial, "partial"),
      ] {
        #expect(code.forwarded == value)
      }
    }
  }
#endif
