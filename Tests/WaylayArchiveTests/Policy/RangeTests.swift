import Foundation
import HTTPTypes
import Testing

@testable import WaylayArchive

@Suite("Ranges and parts (RFC 9111, sections 3.3 and 3.4; RFC 9110, section 14)", .timeLimit(.minutes(5)))
struct RangeTests {
  private static let text = "0123456789"
  private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"

  private func whole(_ fields: HTTPFields = [.eTag: "\"1\""]) -> PolicyCache {
    var cache = PolicyCache()
    var fields = fields
    fields[.cacheControl] = fields[.cacheControl] ?? "max-age=100"
    fields[.contentLength] = fields[.contentLength] ?? "10"
    cache.load(.init(fields: fields, body: Self.text))
    return cache
  }

  private func part(
    _ first: Int, _ last: Int, _ total: String = "10", _ fields: HTTPFields = [.eTag: "\"1\""]
  ) -> PolicyCache.Reply {
    var fields = fields
    fields[.cacheControl] = fields[.cacheControl] ?? "max-age=100"
    fields[.contentRange] = "bytes \(first)-\(last)/\(total)"
    let bytes = Array(Self.text.utf8)
    return .init(status: 206, fields: fields, body: String(decoding: bytes[first...last], as: UTF8.self))
  }

  @Test("One range is cut out of a complete response (RFC 9110, 14.1.2)")
  func slices() {
    for (range, bytes, text) in [
      ("bytes=0-3", "0-3", "0123"), ("bytes=3-3", "3-3", "3"), ("bytes=8-", "8-9", "89"), ("bytes=-2", "8-9", "89"),
      ("bytes=-100", "0-9", Self.text), ("bytes=5-1000", "5-9", "56789"), ("BYTES=1-2", "1-2", "12"),
      ("bytes= 1-2 ", "1-2", "12"),
    ] {
      var cache = whole()
      let result = cache.load(nil, [.range: range])
      #expect(result.status == 206, "\(range)")
      #expect(result.body == text)
      #expect(result["Content-Range"] == "bytes \(bytes)/10")
      #expect(result["Content-Length"] == "\(text.utf8.count)")
      #expect(result["ETag"] == "\"1\"")
      #expect(result.age == 0)
    }
  }

  @Test(
    "Several ranges, other units and what cannot be read go to the origin as they are",
    arguments: ["bytes=0-1,4-5", "items=0-1", "bytes=3-1", "bytes=x-1", "bytes=", "bytes"])
  func others(_ range: String) {
    var cache = whole()
    let result = cache.load(.init(status: 299, body: "origin"), [.range: range])
    #expect(result.body == "origin")
    #expect(cache.sent.last?["Range"] == range)
  }

  @Test(
    "What the whole does not have is answered 416 from the whole (RFC 9110, 15.5.17)",
    arguments: ["bytes=10-", "bytes=100-200", "bytes=-0"])
  func unsatisfiable(_ range: String) {
    var cache = whole()
    let result = cache.load(.init(status: 299, body: "origin"), [.range: range])
    #expect(result.status == 416 && result.body.isEmpty && result["Content-Range"] == "bytes */10")
    #expect(cache.sent.count == 1)
  }

  @Test("A range of a response to HEAD means nothing (RFC 9110, 14.2)")
  func head() {
    var cache = whole()
    #expect(cache.load(nil, "HEAD", [.range: "bytes=0-1"]).status == 200)
  }

  @Test("A stored error or redirect is given whole (RFC 9110, 14.2)")
  func errors() {
    var cache = PolicyCache()
    cache.load(.init(status: 404, fields: [.cacheControl: "max-age=100"], body: "gone"))
    #expect(cache.load(nil, [.range: "bytes=0-1"]).body == "gone")
  }

  @Test("A body whose coding has been undone has no ranges: the origin's are others")
  func decoded() {
    var cache = whole([.eTag: "\"1\"", .contentEncoding: "gzip", .contentLength: "5"])
    #expect(cache.load(.init(status: 206, body: "origin"), [.range: "bytes=0-1"]).body == "origin")
    #expect(cache.load(nil).body == Self.text)
    // Nor after a 304, which does not say how the body came.
    cache.load(.init(status: 304, fields: [.eTag: "\"1\""]), [.cacheControl: "no-cache"])
    #expect(cache.load(.init(status: 206, body: "origin"), [.range: "bytes=0-1"]).body == "origin")
  }

  @Test("If-Range: the range when the strong tag or the date is the same, the whole otherwise (RFC 9110, 13.1.5)")
  func ifRange() {
    func status(_ condition: String, _ fields: HTTPFields) -> Int {
      var cache = whole(fields)
      return cache.load(nil, [.range: "bytes=0-1", .ifRange: condition]).status
    }
    #expect(status("\"1\"", [.eTag: "\"1\""]) == 206)
    #expect(status("\"2\"", [.eTag: "\"1\""]) == 200)
    #expect(status("W/\"1\"", [.eTag: "W/\"1\""]) == 200)
    #expect(status("\"1\"", [.eTag: "W/\"1\""]) == 200)
    #expect(status(Self.modified, [.lastModified: Self.modified]) == 206)
    #expect(status("Sun, 06 Nov 1994 08:49:38 GMT", [.lastModified: Self.modified]) == 200)
    #expect(status("Sunday, 06-Nov-94 08:49:37 GMT", [.lastModified: Self.modified]) == 200)
    // A date that is as young as the response is a weak validator (8.8.2.2).
    #expect(status(PolicyCache().date(), [.lastModified: PolicyCache().date()]) == 200)
  }

  @Test("The client's tag goes before its range (RFC 9110, 13.2.2)")
  func precedence() {
    var cache = whole()
    #expect(cache.load(nil, [.range: "bytes=0-1", .ifNoneMatch: "\"1\""]).status == 304)
    #expect(cache.load(nil, [.range: "bytes=0-1", .ifNoneMatch: "\"2\""]).status == 206)
  }

  @Test("A stale complete response is validated for its range, and a 304 gives the range (RFC 9111, 4.3.1)")
  func validatedRange() {
    var cache = whole([.eTag: "\"1\"", .cacheControl: "max-age=1"])
    cache.wait(10)
    let result = cache.load(.init(status: 304, fields: [.eTag: "\"1\""]), [.range: "bytes=2-3"])
    #expect(cache.sent.last?["If-None-Match"] == "\"1\"")
    #expect(cache.sent.last?["Range"] == "bytes=2-3")
    #expect(result.status == 206)
    #expect(result.body == "23")
  }

  @Test("A part is stored, and answers a range within it and nothing else (RFC 9111, 3.3)")
  func partAlone() {
    var cache = PolicyCache()
    #expect(cache.load(part(2, 5), [.range: "bytes=2-5"]).status == 206)
    for (range, text) in [("bytes=2-5", "2345"), ("bytes=3-4", "34"), ("bytes=5-5", "5")] {
      let result = cache.load(nil, [.range: range])
      #expect(result.status == 206)
      #expect(result.body == text)
      #expect(result["Content-Range"] == "bytes \(range.dropFirst(6))/10")
    }
    for range in ["bytes=1-2", "bytes=5-6", "bytes=2-", "bytes=-3"] {
      #expect(cache.load(nil, [.range: range]).status == PolicyCache.unreachable, "\(range)")
    }
    // The head of a part is not the head of the whole.
    #expect(cache.load(nil, "HEAD").status == PolicyCache.unreachable)
    #expect(cache.load(.init(body: "whole")).body == "whole")
    #expect(cache.load(nil, "HEAD").status == 200)
  }

  @Test("A part of a representation whose length nobody knows answers by its bytes (RFC 9110, 14.4)")
  func unknownLength() {
    var cache = PolicyCache()
    cache.load(part(2, 5, "*"), [.range: "bytes=2-5"])
    #expect(cache.load(nil, [.range: "bytes=3-4"])["Content-Range"] == "bytes 3-4/*")
    #expect(cache.load(nil, [.range: "bytes=3-"]).status == PolicyCache.unreachable)
    #expect(cache.load(nil, [.range: "bytes=-1"]).status == PolicyCache.unreachable)
  }

  @Test(
    "A part without a Content-Range that can be read is not stored",
    arguments: ["bytes 5-2/10", "bytes 2-5/4", "items 2-5/10", "2-5/10", "bytes */10", ""])
  func badPart(_ range: String) {
    var cache = PolicyCache()
    var reply = part(2, 5)
    reply.fields[.contentRange] = range
    #expect(cache.load(reply, [.range: "bytes=2-5"]).status == 206)
    #expect(cache.records().isEmpty)
    reply.fields[.contentRange] = nil
    reply.fields[.contentType] = "multipart/byteranges; boundary=x"
    cache.load(reply, [.range: "bytes=2-5"])
    #expect(cache.records().isEmpty)
  }

  @Test("Parts under one strong validator grow together, and into the whole (RFC 9111, 3.4)")
  func combined() {
    for fields in [[.eTag: "\"1\""], [.lastModified: Self.modified]] as [HTTPFields] {
      var cache = PolicyCache()
      cache.load(part(0, 3, "10", fields), [.range: "bytes=0-3"])
      cache.load(part(3, 6, "10", fields), [.range: "bytes=3-6"])
      #expect(cache.load(nil, [.range: "bytes=0-6"]).body == "0123456")
      #expect(cache.records().count == 1)
      cache.load(part(7, 9, "10", fields), [.range: "bytes=7-9"])
      let result = cache.load(nil)
      #expect(result.status == 200)
      #expect(result.body == Self.text)
      #expect(result["Content-Length"] == "10")
      #expect(result["Content-Range"] == nil)
    }
  }

  @Test("… the new part's fields replacing the stored one's (RFC 9111, 3.4)")
  func combinedFields() {
    var cache = PolicyCache()
    cache.load(part(0, 3), [.range: "bytes=0-3"])
    cache.wait(50)
    cache.load(part(4, 6, "10", [.eTag: "\"1\"", .contentLanguage: "en"]), [.range: "bytes=4-6"])
    let result = cache.load(nil, [.range: "bytes=0-1"])
    #expect(result["Content-Language"] == "en")
    #expect(result.age == 0)
  }

  @Test("Parts with a weak, another or no validator do not: the newer one is kept (RFC 9111, 3.4)")
  func notCombined() {
    for (first, second) in [
      ([.eTag: "\"1\""], [.eTag: "\"2\""]), ([.eTag: "W/\"1\""], [.eTag: "W/\"1\""]), ([:], [:]),
      ([.eTag: "\"1\""], [:]),
      ([.lastModified: PolicyCache().date()], [.lastModified: PolicyCache().date()]),
    ] as [(HTTPFields, HTTPFields)] {
      var cache = PolicyCache()
      cache.load(part(0, 3, "10", first), [.range: "bytes=0-3"])
      cache.load(part(4, 9, "10", second), [.range: "bytes=4-9"])
      #expect(cache.records().count == 1)
      #expect(cache.load(nil, [.range: "bytes=0-9"]).status == PolicyCache.unreachable)
      #expect(cache.load(nil, [.range: "bytes=4-5"]).body == "45")
    }
  }

  @Test("Parts of two lengths are parts of two representations, whatever their tags (RFC 9111, 3.4)")
  func twoLengths() {
    var cache = PolicyCache()
    cache.load(part(0, 3), [.range: "bytes=0-3"])
    cache.load(part(4, 6, "20"), [.range: "bytes=4-6"])
    #expect(cache.load(nil, [.range: "bytes=0-6"]).status == PolicyCache.unreachable)
  }

  @Test("Parts with a gap between them are not put together")
  func gap() {
    var cache = PolicyCache()
    cache.load(part(0, 2), [.range: "bytes=0-2"])
    cache.load(part(4, 6), [.range: "bytes=4-6"])
    #expect(cache.load(nil, [.range: "bytes=0-6"]).status == PolicyCache.unreachable)
    #expect(cache.load(nil, [.range: "bytes=4-6"]).body == "456")
  }

  @Test("A part is no substitute for a complete response of which nothing says that it is outdated")
  func partBesideWhole() {
    var cache = whole()
    cache.load(part(0, 3), [.range: "bytes=0-3", .cacheControl: "no-cache"])
    #expect(cache.load(nil).body == Self.text)
    cache.load(part(0, 3, "10", [:]), [.range: "bytes=0-3", .cacheControl: "no-cache"])
    #expect(cache.load(nil).body == Self.text)
    cache.load(part(0, 3, "10", [.eTag: "\"2\""]), [.range: "bytes=0-3", .cacheControl: "no-cache"])
    #expect(cache.load(nil, [.range: "bytes=0-9"]).status == PolicyCache.unreachable)
  }

  @Test("A request for the whole asks for the rest of a part, under If-Range (RFC 9111, 3.3; RFC 9110, 13.1.5)")
  func completed() {
    var cache = PolicyCache()
    cache.load(part(0, 3), [.range: "bytes=0-3"])
    let result = cache.load(part(4, 9))
    #expect(cache.sent.last?["Range"] == "bytes=4-")
    #expect(cache.sent.last?["If-Range"] == "\"1\"")
    #expect(result.status == 200)
    #expect(result.body == Self.text)
    #expect(result["Content-Range"] == nil)
    #expect(cache.load(nil).body == Self.text)
  }

  @Test("When the representation has changed, the 200 to If-Range takes the part's place (RFC 9110, 13.1.5)")
  func changedMeanwhile() {
    var cache = PolicyCache()
    cache.load(part(0, 3), [.range: "bytes=0-3"])
    #expect(cache.load(.init(fields: [.cacheControl: "max-age=100", .eTag: "\"2\""], body: "new")).body == "new")
    #expect(cache.load(nil).body == "new")
  }

  @Test("A rest that is not the rest, and a 416, are asked again from the beginning, and the part is gone")
  func badRest() {
    let bad: [PolicyCache.Reply] = [
      part(5, 9), part(4, 8), part(4, 9, "*"), part(4, 9, "10", [.eTag: "\"2\""]), part(0, 3),
      .init(status: 416, fields: [.contentRange: "bytes */4"]), .init(status: 206, body: "?"),
    ]
    for reply in bad {
      var cache = PolicyCache()
      cache.load(part(0, 3), [.range: "bytes=0-3"])
      let result = cache.load {
        $0["Range"] == nil ? .init(fields: [.cacheControl: "max-age=100"], body: "again") : reply
      }
      #expect(result.body == "again")
      #expect(result.status == 200)
      #expect(cache.load(nil).body == "again")
    }
  }

  @Test("A rest without validators is taken: If-Range has said that it is the same (RFC 9110, 15.3.7)")
  func bareRest() {
    var cache = PolicyCache()
    cache.load(part(0, 3), [.range: "bytes=0-3"])
    #expect(cache.load(part(4, 9, "10", [:])).body == Self.text)
  }

  @Test("A transfer that broke off is kept as a part and gone on with (RFC 9111, 3.3)")
  func brokenOff() {
    for (fields, isKept) in [([.eTag: "\"1\""], true), ([.eTag: "W/\"1\""], false), ([:], false)]
      as [(HTTPFields, Bool)]
    {
      var cache = PolicyCache()
      var head = fields
      head[.contentLength] = "10"
      head[.cacheControl] = "max-age=100"
      cache.load(.init(fields: head, body: Self.text, breaksOffAt: 6))
      #expect(cache.records().isEmpty == !isKept)
      // What is there of it is never given as if it were the whole.
      #expect(cache.load(nil).status == PolicyCache.unreachable)
      guard isKept else { continue }
      #expect(cache.load(nil, [.range: "bytes=0-5"]).body == "012345")
      #expect(cache.load(nil, "HEAD")["Content-Length"] == "10")
      #expect(cache.load(part(6, 9, "10", fields)).body == Self.text)
      #expect(cache.sent.last?["Range"] == "bytes=6-")
      #expect(cache.load(nil).body == Self.text)
    }
  }

  @Test("A part that broke off while it was joined is kept as far as it came")
  func brokenOffAgain() {
    var cache = PolicyCache()
    cache.load(part(0, 3), [.range: "bytes=0-3"])
    var rest = part(4, 9)
    rest.breaksOffAt = 7
    cache.load(rest)
    #expect(cache.load(nil, [.range: "bytes=0-6"]).body == "0123456")
    #expect(cache.load(nil, [.range: "bytes=0-7"]).status == PolicyCache.unreachable)
  }

  @Test("A part that is stale is validated before it answers (RFC 9111, 4)")
  func stalePart() {
    var cache = PolicyCache()
    cache.load(part(0, 3, "10", [.eTag: "\"1\"", .cacheControl: "max-age=1"]), [.range: "bytes=0-3"])
    cache.wait(10)
    let result = cache.load(.init(status: 304, fields: [.eTag: "\"1\""]), [.range: "bytes=1-2"])
    #expect(cache.sent.last?["If-None-Match"] == "\"1\"")
    #expect(result.body == "12")
    #expect(result.status == 206)
  }
}
