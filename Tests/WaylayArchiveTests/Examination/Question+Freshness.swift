import Foundation
import TestOrigin

@testable import WaylayArchive

extension Question {
  private static func header(_ name: String, _ value: String) -> [(name: String, value: String)] { [(name, value)] }

  private static func reused(
    _ title: String, _ fields: [(name: String, value: String)], after wait: Int64 = 5
  ) -> Question {
    Question(title, .asks([("Date", "NOW")] + fields), .reuses(after: wait))
  }

  private static func notReused(
    _ title: String, _ fields: [(name: String, value: String)], after wait: Int64 = 5
  ) -> Question {
    Question(title, .asks([("Date", "NOW")] + fields), .asks().after(wait))
  }

  static let freshness: [Question] = [
    reused("max-age", [("Cache-Control", "max-age=10")]),
    reused("max-age in upper case", [("CACHE-CONTROL", "MAX-AGE=10")]),
    reused("max-age over two lines", [("Cache-Control", "foo"), ("Cache-Control", "max-age=10")]),
    reused("quoted max-age", [("Cache-Control", "max-age=\"10\"")]),
    reused("max-age that is too great", [("Cache-Control", "max-age=9999999999999999999999")], after: 86_400),
    notReused("max-age that is over", [("Cache-Control", "max-age=5")]),
    notReused("max-age=0", [("Cache-Control", "max-age=0")], after: 0),
    notReused("max-age that is no number", [("Cache-Control", "max-age=10x")]),
    notReused("max-age with a fraction", [("Cache-Control", "max-age=10.5")]),
    notReused("negative max-age", [("Cache-Control", "max-age=-10")]),
    notReused("two max-age, the first is over", [("Cache-Control", "max-age=1, max-age=100")]),
    notReused("s-maxage alone", [("Cache-Control", "s-maxage=100")]),
    reused("s-maxage=0 beside max-age", [("Cache-Control", "max-age=100, s-maxage=0")]),
    reused("max-age before Expires", [("Cache-Control", "max-age=100"), ("Expires", "0")]),
    reused("Expires", [("Expires", "Sun, 06 Nov 2094 08:49:37 GMT")]),
    reused("Expires in the form of RFC 850", [("Expires", "Sunday, 06-Nov-11 08:49:37 GMT")]),
    reused("Expires in the form of asctime", [("Expires", "Sun Nov  6 08:49:37 2094")]),
    notReused("Expires with another zone", [("Expires", "Sun, 06 Nov 2094 08:49:37 CET")]),
    notReused("Expires: 0", [("Expires", "0")]),
    notReused("two Expires, the first is no date", [("Expires", "0"), ("Expires", "Sun, 06 Nov 2094 08:49:37 GMT")]),
    notReused("nothing at all", []),
    notReused("CDN-Cache-Control alone", [("CDN-Cache-Control", "max-age=100")]),
    reused("a tenth since Last-Modified", [("Last-Modified", "Sun, 06 Nov 1994 07:49:37 GMT")]),
    notReused("Age that is past the lifetime", [("Cache-Control", "max-age=10"), ("Age", "20")]),
    notReused("two lines of Age, the first counts", [("Cache-Control", "max-age=10"), ("Age", "20"), ("Age", "0")]),
    reused("Age that is no number", [("Cache-Control", "max-age=10"), ("Age", "x")]),
    Question(
      "a Date that is old", .asks([("Cache-Control", "max-age=10"), ("Date", "Sun, 06 Nov 1994 07:49:37 GMT")]), .asks()
    ),
    Question(
      "Age is written", .asks([("Cache-Control", "max-age=100"), ("Age", "7"), ("Date", "NOW")]),
      .reuses(after: 20) { $0.expectedFields = [("Age", "27")] }),
    reused("trailers are not header fields", [("Cache-Control", "max-age=10"), ("Trailer", "Cache-Control")]),
    Question(
      "Cache-Control in the trailers does not count",
      .asks {
        $0.body = .chunks([Data("x".utf8)], pause: 0)
        $0.trailers = [("Cache-Control", "max-age=100")]
      }, .asks()),
  ]

  static let storage: [Question] = [
    Question("no-store", .asks([("Cache-Control", "max-age=100, no-store")]), .asks()),
    Question(
      "no-store in the request",
      .asks([("Cache-Control", "max-age=100")]) { $0.fields = ["Cache-Control": "no-store"] }, .asks()),
    reused("private", [("Cache-Control", "private, max-age=10")]),
    reused("must-understand beside no-store", [("Cache-Control", "must-understand, no-store, max-age=10")]),
    reused("Set-Cookie", [("Cache-Control", "max-age=10"), ("Set-Cookie", "a=b")]),
    reused("Pragma in the response", [("Cache-Control", "max-age=10"), ("Pragma", "no-cache")]),
    Question(
      "fields of the connection are not kept",
      .asks([
        ("Cache-Control", "max-age=10"), ("Connection", "X-A"), ("X-A", "1"), ("X-B", "1"), ("Proxy-Authenticate", "x"),
      ]),
      .reuses { $0.expectedFields = [("X-A", nil), ("X-B", "1"), ("Proxy-Authenticate", nil)] }),
    Question(
      "fields that no-cache names are not kept",
      .asks([("Cache-Control", "max-age=10, no-cache=\"x-a\""), ("X-A", "1"), ("X-B", "1")]),
      .reuses { $0.expectedFields = [("X-A", nil), ("X-B", "1")] }),
    Question(
      "every line of a field is kept", .asks([("Cache-Control", "max-age=10"), ("X-A", "1"), ("X-A", "2")]),
      .reuses { $0.expectedFields = [("X-A", "1, 2")] }),
    Question(
      "no body", .asks([("Cache-Control", "max-age=10")], status: 204),
      .reuses {
        $0.expectedStatus = 204; $0.expectedText = ""
      }),
    Question(
      "an error with a lifetime", .asks([("Cache-Control", "max-age=10")], status: 500),
      .reuses { $0.expectedStatus = 500 }),
    Question(
      "a status that nobody knows", .asks([("Cache-Control", "max-age=10")], status: 499),
      .reuses { $0.expectedStatus = 499 }),
    Question(
      "a status that nobody knows, without a lifetime",
      .asks([("Last-Modified", "Sun, 06 Nov 1994 07:49:37 GMT")], status: 499), .asks()),
    Question("a fragment is no part of the URL", .asks([("Cache-Control", "max-age=10")]), .reuses { $0.path = "/#a" }),
    Question("a query is", .asks([("Cache-Control", "max-age=10")]), .asks { $0.path = "/?a" }),
    Question(
      "a query is found again", .asks([("Cache-Control", "max-age=10")]) { $0.path = "/?a=b" },
      .reuses { $0.path = "/?a=b" }),
    Question(
      "GET answers HEAD", .asks([("Cache-Control", "max-age=10"), ("X-A", "1")]),
      .reuses {
        $0.method = "HEAD"; $0.expectedFields = [("X-A", "1")]
      }),
    Question("HEAD does not answer GET", .asks([("Cache-Control", "max-age=10")]) { $0.method = "HEAD" }, .asks()),
    Question("POST is not answered", .asks([("Cache-Control", "max-age=10")]), .asks { $0.method = "POST" }),
    Question(
      "chunks",
      .asks([("Cache-Control", "max-age=10")]) { $0.body = .chunks([Data("st".utf8), Data("ep 1".utf8)], pause: 1) },
      .reuses()),
  ]
}
