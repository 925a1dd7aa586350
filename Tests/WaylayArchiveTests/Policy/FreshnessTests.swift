import HTTPTypes
import Testing

@testable import WaylayArchive

@Suite("Freshness lifetime (RFC 9111, sections 4.2, 4.2.1, 5.2.2, 5.3)", .timeLimit(.minutes(5)))
struct FreshnessTests {
  /// Whether a response with that `Cache-Control` answers again after so many seconds.
  private func isReused(_ cacheControl: [String], after seconds: Double, _ fields: HTTPFields = [:]) -> Bool {
    var cache = PolicyCache()
    var fields = fields
    fields[values: .cacheControl] = cacheControl
    fields[values: .date] = [cache.date()]
    cache.load(.init(fields: fields))
    cache.wait(seconds)
    return cache.load(.init(body: "new")).isFromArchive
  }

  @Test(
    "A blank behind the equals sign makes no number of what follows (5.2)",
    arguments: ["max-age= 3600", "max-age=\t3600"])
  func blankBehindEquals(_ control: String) {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: control]))
    #expect(!cache.load(.init(body: "new")).isFromArchive)
  }

  @Test(
    "max-age is read in every form that is a number, and counts (RFC 9111, 5.2.2.1; 5.2: token or quoted string)",
    arguments: [
      "max-age=3600", "MAX-AGE=3600", "Max-Age=3600", "max-age=\"3600\"", "max-age=0003600",
      "max-age=99999999999999999999999",
      "max-age=2147483648", " max-age=3600 , ", "foo, max-age=3600", "foo=bar, max-age=3600",
      "foo=\"a, b\", max-age=3600",
      "foo=\"max-age=0\", max-age=3600", "foo=\"\\\", no-store\", max-age=3600", ",,max-age=3600",
      "max-age=3600, no-transform",
    ])
  func readable(_ value: String) {
    #expect(isReused([value], after: 3000))
  }

  @Test(
    "A max-age that is no number makes the response stale (RFC 9111, 4.2.1)",
    arguments: [
      "max-age=-3600", "max-age=+3600", "max-age=3600.0", "max-age=1800.5", "max-age='3600'", "max-age=a3600",
      "max-age=3600a", "max-age=",
      "max-age", "max-age =3600", "max-age= 3600 s", "max-age=3600 no-transform", "max-age=3600; public",
      "max-age=0x10", "max-age=\"3600",
      "max-age=\"3600\"x", "max-age=\" 3600\"",
    ])
  func unreadable(_ value: String) {
    #expect(!isReused([value], after: 0))
    // Expires does not help it: max-age goes first wherever it is.
    #expect(!isReused([value], after: 0, [.expires: "Thu, 18 Aug 2050 02:01:18 GMT"]))
  }

  @Test("A response is fresh until its age reaches the lifetime, and not then (RFC 9111, 4.2)")
  func boundary() {
    #expect(isReused(["max-age=10"], after: 9.999))
    #expect(!isReused(["max-age=10"], after: 10))
    #expect(!isReused(["max-age=0"], after: 0))
  }

  @Test("Cache-Control over several lines is one list (RFC 9110, 5.3)")
  func lines() {
    #expect(isReused(["foo", "max-age=3600"], after: 10))
    #expect(!isReused(["max-age=3600", "no-cache"], after: 0))
    #expect(!isReused(["max-age=3600", "no-store"], after: 0))
  }

  @Test("Of several max-age, the first counts (RFC 9111, 4.2.1)")
  func duplicates() {
    #expect(isReused(["max-age=3600, max-age=1"], after: 10))
    #expect(!isReused(["max-age=1, max-age=3600"], after: 10))
    #expect(!isReused(["max-age=1", "max-age=3600"], after: 10))
    #expect(!isReused(["max-age=x, max-age=3600"], after: 0))
  }

  @Test("s-maxage is not for a private cache (RFC 9111, 5.2.2.10), nor CDN-Cache-Control (RFC 9213, 2.2)")
  func sharedMaxAge() {
    #expect(isReused(["max-age=3600, s-maxage=0"], after: 10))
    #expect(!isReused(["max-age=1, s-maxage=3600"], after: 10))
    #expect(!isReused([], after: 0, [HTTPField.Name("CDN-Cache-Control")!: "max-age=3600"]))
    #expect(isReused(["max-age=3600"], after: 10, [HTTPField.Name("CDN-Cache-Control")!: "no-store"]))
    #expect(isReused(["max-age=3600"], after: 10, [HTTPField.Name("Surrogate-Control")!: "no-store"]))
  }

  @Test("max-age overrides Expires, whichever is longer (RFC 9111, 5.3)")
  func overridesExpires() {
    #expect(isReused(["max-age=3600"], after: 10, [.expires: "Thu, 01 Jan 1970 00:00:00 GMT"]))
    #expect(isReused(["max-age=3600"], after: 10, [.expires: "0"]))
    #expect(!isReused(["max-age=1"], after: 10, [.expires: "Thu, 18 Aug 2050 02:01:18 GMT"]))
  }

  @Test("Unknown directives and directives of other caches change nothing (RFC 9111, 5.2.3)")
  func extensions() {
    #expect(isReused(["max-age=3600, no-storex, xno-cache, private-ish"], after: 10))
    #expect(isReused(["max-age=3600, private"], after: 10))
    #expect(isReused(["max-age=3600, public, proxy-revalidate"], after: 10))
  }

  @Test("What restricts is found behind what is malformed (RFC 9111, 4.2.1)")
  func restrictive() {
    #expect(!isReused(["max-age=3600, foo=\"bar, no-store"], after: 0))
    #expect(!isReused(["max-age=3600, =, no-store"], after: 0))
    #expect(!isReused(["max-age=3600, \"x\", no-store"], after: 0))
    #expect(!isReused(["max-age=3600, no-store;"], after: 0))
    #expect(!isReused(["max-age=3600, no-store=foo"], after: 0))
    #expect(!isReused(["max-age=3600, NO-STORE"], after: 0))
    #expect(!isReused(["max-age=3600, no-cache=\"\""], after: 0))
    #expect(!isReused(["max-age=3600, no-cache=\"a"], after: 0))
  }

  private func expires(_ values: [String], _ more: HTTPFields = [:], after seconds: Double = 10) -> Bool {
    isReused([], after: seconds, with: values, more)
  }

  private func isReused(
    _ cacheControl: [String], after seconds: Double, with expires: [String], _ more: HTTPFields
  ) -> Bool {
    var fields = more
    fields[values: .expires] = expires
    return isReused(cacheControl, after: seconds, fields)
  }

  @Test(
    "Expires is read in all three forms and in any letter case (RFC 9110, 5.6.7; RFC 9111, 4.2)",
    arguments: [
      "Thu, 18 Aug 2050 02:01:18 GMT", "thu, 18 aug 2050 02:01:18 gmt", "THU, 18 AUG 2050 02:01:18 GMT",
      "Thursday, 18-Aug-50 02:01:18 GMT",
      "Thu Aug 18 02:01:18 2050", "Mon Aug  1 02:01:18 2050", "Fri, 31 Dec 9999 23:59:59 GMT",
    ])
  func expires(_ value: String) {
    #expect(expires([value]))
  }

  @Test(
    "An Expires that is no date, 0 included, makes the response stale (RFC 9111, 5.3)",
    arguments: [
      "0", "-1", "", "3600", "Thu, 18 Aug 2050 02:01:18", "Thu, 18 Aug 2050 02:01:18 UTC",
      "Thu, 18 Aug 2050 02:01:18 AEST",
      "Thu, 18 Aug 2050 02:01:18 +0000", "Thu, 18 Aug 2050 02:01:18 GMT+1", "Thu 18 Aug 2050 02:01:18 GMT",
      "18 Aug 2050 02:01:18 GMT",
      "Thu, 18 Aug 50 02:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT", "Thu,  18 Aug 2050 02:01:18 GMT",
      "Thu,18 Aug 2050 02:01:18 GMT",
      "Thu, 8 Aug 2050 02:01:18 GMT", "Thu, 18 August 2050 02:01:18 GMT", "Thu, 18 Aug 2050 2:01:18 GMT",
      "Thu, 18 Aug 2050 02:01 GMT",
      "Thu, 18 Aug 2050 02.01.18 GMT", "Thu, 18 Aug 2050 24:01:18 GMT", "Thu, 18 Aug 2050 02:60:18 GMT",
      "Thu, 31 Feb 2050 02:01:18 GMT",
      "Thu, 00 Aug 2050 02:01:18 GMT", "2050-08-18T02:01:18Z", "Thu, 18 Aug 2050 02:01:18 GMT foo",
      "Xyz, 18 Aug 2050 02:01:18 GMT",
      "Thursday, 18-Aug-2050 02:01:18 GMT", "Thursday, 18 Aug 50 02:01:18 GMT", "Thu Aug 18 02:01:18 50",
      "Thu Aug 1 02:01:18 2050",
      "\"Thu, 18 Aug 2050 02:01:18 GMT\"", "Thu, 18 Aug 2050 02:01:18 PM GMT",
    ])
  func unreadableExpires(_ value: String) {
    #expect(!expires([value]))
  }

  @Test("Of several Expires, the first counts (RFC 9111, 4.2.1)")
  func severalExpires() {
    #expect(expires(["Thu, 18 Aug 2050 02:01:18 GMT", "0"]))
    #expect(!expires(["0", "Thu, 18 Aug 2050 02:01:18 GMT"]))
    #expect(!expires(["Thu, 18 Aug 2050 02:01:18 GMT, Thu, 18 Aug 2050 02:01:18 GMT"]))
  }

  @Test("Expires counts from Date, not from the cache's clock (RFC 9111, 4.2.1)")
  func expiresAgainstDate() {
    var cache = PolicyCache()
    // The origin's clock is an hour ahead: ten seconds are ten seconds.
    cache.load(.init(fields: [.date: cache.date(3600), .expires: cache.date(3610)]))
    cache.wait(5)
    #expect(cache.load(.init()).isFromArchive)
    cache.wait(5)
    #expect(!cache.load(.init()).isFromArchive)
    // In the past against Date, in the future against the clock.
    cache.load(
      .init(fields: [.date: cache.date(3600), .expires: cache.date(1800)]), cachePolicy: .reloadIgnoringLocalCacheData)
    #expect(!cache.load(.init()).isFromArchive)
  }

  @Test(
    "Without a Date, or with one that is none, Expires counts from when the response came (RFC 9110, 6.6.1)",
    arguments: [nil, "x", "0"])
  func expiresWithoutDate(_ date: String?) {
    var cache = PolicyCache()
    var fields: HTTPFields = [.expires: cache.date(10)]
    fields[.date] = date
    cache.load(.init(fields: fields))
    cache.wait(9)
    #expect(cache.load(.init()).isFromArchive)
    cache.wait(1)
    #expect(!cache.load(.init()).isFromArchive)
  }

  @Test("A response that says nothing of its lifetime is validated each time (RFC 9111, 4.2)")
  func nothing() {
    #expect(!isReused([], after: 0))
    #expect(!isReused(["public"], after: 0))
  }
}
