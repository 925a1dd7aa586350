import Foundation
import TestOrigin

@testable import WaylayArchive

extension Question {
  private static let lasting = [(name: "Cache-Control", value: "max-age=100"), (name: "ETag", value: "\"1\"")]

  private static func request(
    _ title: String, _ cacheControl: String, after wait: Int64 = 50, isReused: Bool
  ) -> Question {
    Question(
      title, .asks(lasting),
      isReused
        ? .reuses(after: wait) { $0.fields = ["Cache-Control": cacheControl] }
        : .asks { $0.fields = ["Cache-Control": cacheControl] }.after(wait))
  }

  static let requests: [Question] = [
    request("max-age that is old enough", "max-age=50", isReused: true),
    request("max-age that is too old", "max-age=49", isReused: false),
    request("max-age=0", "max-age=0", isReused: false),
    request("min-fresh that is left", "min-fresh=50", isReused: true),
    request("min-fresh that is not", "min-fresh=51", isReused: false),
    request("max-stale that is enough", "max-stale=50", after: 150, isReused: true),
    request("max-stale that is not", "max-stale=49", after: 150, isReused: false),
    request("max-stale without an end", "max-stale", after: 10_000, isReused: true),
    request("no-cache", "no-cache", isReused: false),
    request("no-store", "no-store", isReused: true),
    request("only-if-cached", "only-if-cached", isReused: true),
    Question(
      "only-if-cached and nothing there",
      Step(fields: ["Cache-Control": "only-if-cached"], expected: .archive, expectedStatus: 504)),
    Question("Pragma: no-cache", .asks(lasting), .asks { $0.fields = ["Pragma": "no-cache"] }),
    Question(
      "Authorization of another", .asks(lasting) { $0.fields = ["Authorization": "a"] },
      .asks { $0.fields = ["Authorization": "b"] }),
    Question(
      "Authorization of the same", .asks(lasting) { $0.fields = ["Authorization": "a"] },
      .reuses { $0.fields = ["Authorization": "a"] }),
    Question(
      "If-None-Match that holds", .asks(lasting),
      .reuses {
        $0.fields = ["If-None-Match": "W/\"1\""]; $0.expectedStatus = 304; $0.expectedText = ""
      }),
    Question("If-None-Match that does not", .asks(lasting), .reuses { $0.fields = ["If-None-Match": "\"2\""] }),
    Question(
      "If-Modified-Since that holds",
      .asks([("Cache-Control", "max-age=100"), ("Last-Modified", "Sun, 06 Nov 1994 07:49:37 GMT")]),
      .reuses {
        $0.fields = ["If-Modified-Since": "Sun, 06 Nov 1994 07:49:37 GMT"]; $0.expectedStatus = 304;
        $0.expectedText = ""
      }),
    Question(
      "If-Match is the origin's", .asks(lasting),
      .asks(status: 412) {
        $0.fields = ["If-Match": "\"2\""]; $0.expectedStatus = 412
      }, .reuses()),
    Question(
      "the client's own condition against a stale answer", .asks(lasting),
      .asks(status: 304) {
        $0.fields = ["If-None-Match": "\"0\""]; $0.expectedStatus = 304; $0.sees = [("If-None-Match", "\"0\"")]
      }.after(150)),
    Question(
      "reloadIgnoringLocalCacheData", .asks(lasting),
      .asks {
        $0.cachePolicy = .reloadIgnoringLocalCacheData; $0.sees = [("If-None-Match", nil)]
      }),
    Question(
      "returnCacheDataElseLoad", .asks(lasting), .reuses(after: 10_000) { $0.cachePolicy = .returnCacheDataElseLoad }),
    Question(
      "returnCacheDataDontLoad", .asks(lasting), .reuses(after: 10_000) { $0.cachePolicy = .returnCacheDataDontLoad }),
    Question(
      "reloadRevalidatingCacheData", .asks(lasting), .validates { $0.cachePolicy = .reloadRevalidatingCacheData }),
  ]

  static let stale: [Question] = [
    Question(
      "stale-if-error", .asks([("Cache-Control", "max-age=10, stale-if-error=100")]),
      .asks(status: 503) {
        $0.expectedBody = 1; $0.expectedStatus = 200
      }.after(50)),
    Question(
      "stale-if-error when the connection closes", .asks([("Cache-Control", "max-age=10, stale-if-error=100")]),
      .asks {
        $0.body = .close; $0.expectedBody = 1
      }.after(50)),
    Question(
      "stale-if-error that is over", .asks([("Cache-Control", "max-age=10, stale-if-error=30")]),
      .asks(status: 503) {
        $0.expectedBody = 2; $0.expectedStatus = 503
      }.after(50)),
    Question(
      "stale-if-error against must-revalidate",
      .asks([("Cache-Control", "max-age=10, stale-if-error=100, must-revalidate")]),
      .asks(status: 503) { $0.expectedBody = 2 }.after(50)),
    Question(
      "must-revalidate against max-stale", .asks([("Cache-Control", "max-age=10, must-revalidate")]),
      .asks { $0.fields = ["Cache-Control": "max-stale"] }.after(50)),
    Question(
      "an error without stale-if-error", .asks([("Cache-Control", "max-age=10")]),
      .asks(status: 500) { $0.expectedStatus = 500 }.after(50)),
    Question(
      "immutable", .asks([("Cache-Control", "max-age=100, immutable"), ("ETag", "\"1\"")]),
      .reuses { $0.cachePolicy = .reloadRevalidatingCacheData }),
  ]

  private static func varying(_ vary: String) -> [(name: String, value: String)] {
    [("Cache-Control", "max-age=100"), ("Vary", vary)]
  }

  static let vary: [Question] = [
    Question(
      "the same value", .asks(varying("Foo")) { $0.fields = ["Foo": "1"] }, .reuses { $0.fields = ["foo": "1"] }),
    Question("another value", .asks(varying("Foo")) { $0.fields = ["Foo": "1"] }, .asks { $0.fields = ["Foo": "2"] }),
    Question("a value that is missing", .asks(varying("Foo")) { $0.fields = ["Foo": "1"] }, .asks()),
    Question("a value where none was", .asks(varying("Foo")), .asks { $0.fields = ["Foo": "1"] }),
    Question(
      "two fields", .asks(varying("Foo, Bar")) { $0.fields = ["Foo": "1", "Bar": "2"] },
      .asks { $0.fields = ["Foo": "1", "Bar": "3"] }),
    Question(
      "two lines of Vary", .asks(varying("Foo") + [("Vary", "Bar")]) { $0.fields = ["Foo": "1", "Bar": "2"] },
      .asks { $0.fields = ["Foo": "1", "Bar": "3"] }),
    Question("an asterisk", .asks(varying("*")), .asks()),
    Question("an asterisk among others", .asks(varying("Foo, *")), .asks()),
    Question(
      "white space", .asks(varying("Foo")) { $0.fields = ["Foo": "1, 2"] }, .reuses { $0.fields = ["Foo": "1,2"] }),
    Question(
      "letter case of a language", .asks(varying("Accept-Language")) { $0.fields = ["Accept-Language": "en-US"] },
      .reuses { $0.fields = ["Accept-Language": "EN-us"] }),
    Question(
      "variants beside each other", .asks(varying("Foo")) { $0.fields = ["Foo": "1"] },
      .asks(varying("Foo")) { $0.fields = ["Foo": "2"] },
      .reuses(1) { $0.fields = ["Foo": "1"] }, .reuses(2) { $0.fields = ["Foo": "2"] }),
    Question(
      "the tags of all variants", .asks(varying("Foo") + [("ETag", "\"1\"")]) { $0.fields = ["Foo": "1"] },
      .asks(varying("Foo") + [("ETag", "\"2\"")]) { $0.fields = ["Foo": "2"] },
      .validates(1, [("ETag", "\"1\"")]) {
        $0.fields = ["Foo": "3"]; $0.sees = [("If-None-Match", "\"1\", \"2\"")]
      },
      .reuses(1) { $0.fields = ["Foo": "3"] }),
  ]
}
