import Foundation
import TestOrigin

@testable import WaylayArchive

extension Question {
  private static let modified = "Sun, 06 Nov 1994 07:49:37 GMT"
  private static let tagged = [(name: "Cache-Control", value: "max-age=10"), (name: "ETag", value: "\"1\"")]

  static let validation: [Question] = [
    Question(
      "a tag", .asks(tagged), .validates(after: 20, tagged) { $0.sees = [("If-None-Match", "\"1\"")] },
      .reuses(after: 5)),
    Question(
      "a weak tag", .asks([("Cache-Control", "max-age=10"), ("ETag", "W/\"1\"")]),
      .validates(after: 20, [("ETag", "W/\"1\"")]) { $0.sees = [("If-None-Match", "W/\"1\"")] }),
    Question(
      "a tag without quotation marks", .asks([("Cache-Control", "max-age=10"), ("ETag", "abc")]),
      .validates(after: 20) { $0.sees = [("If-None-Match", "abc")] }),
    Question(
      "a date", .asks([("Cache-Control", "max-age=10"), ("Last-Modified", modified)]),
      .validates(after: 20) { $0.sees = [("If-Modified-Since", modified), ("If-None-Match", nil)] }),
    Question(
      "both", .asks(tagged + [("Last-Modified", modified)]),
      .validates(after: 20, tagged) { $0.sees = [("If-Modified-Since", modified), ("If-None-Match", "\"1\"")] }),
    Question("no-cache", .asks([("Cache-Control", "no-cache"), ("ETag", "\"1\"")]), .validates(), .validates()),
    Question(
      "a new one", .asks(tagged), .asks([("Cache-Control", "max-age=10")]) { $0.expectedBody = 2 }.after(20), .reuses(2)
    ),
    Question(
      "fields of a 304", .asks(tagged + [("X-A", "1"), ("X-B", "1"), ("Content-Type", "text/plain")]),
      .validates(after: 20, tagged + [("X-A", "2"), ("X-C", "3"), ("Content-Type", "text/html")]) {
        $0.expectedFields = [
          ("X-A", "2"), ("X-B", "1"), ("X-C", "3"), ("Content-Type", "text/html"), ("Content-Length", "6"),
        ]
      },
      .reuses { $0.expectedFields = [("X-A", "2"), ("X-B", "1"), ("X-C", "3"), ("Content-Length", "6")] }),
    Question(
      "what a 304 may not change", .asks(tagged),
      .validates(
        after: 20,
        tagged + [("Content-Encoding", "gzip"), ("Content-Range", "bytes 0-1/2"), ("X-A", "1"), ("Connection", "x-a")]
      ) {
        $0.expectedFields = [("Content-Encoding", nil), ("Content-Range", nil), ("X-A", nil)]
      }),
    Question(
      "Set-Cookie of a 304", .asks(tagged),
      .validates(after: 20, tagged + [("Set-Cookie", "a=b")]) { $0.expectedFields = [("Set-Cookie", "a=b")] }),
    Question(
      "a 304 that says no-store", .asks(tagged),
      .validates(after: 20, [("ETag", "\"1\""), ("Cache-Control", "no-store")]),
      .asks { $0.sees = [("If-None-Match", nil)] }),
    Question(
      "a 404 that is stored", .asks(tagged, status: 404),
      .asks(tagged, status: 304) {
        $0.expectedStatus = 404; $0.expectedBody = 1
      }.after(20)),
    Question(
      "a HEAD that agrees", .asks([("Cache-Control", "max-age=100"), ("ETag", "\"1\"")]),
      .asks([("Cache-Control", "max-age=100"), ("ETag", "\"1\""), ("X-A", "1")]) {
        $0.method = "HEAD"; $0.fields = ["Cache-Control": "no-cache"]
      }.after(50),
      .reuses(after: 60) { $0.expectedFields = [("X-A", "1")] }),
    Question(
      "a HEAD that does not", .asks([("Cache-Control", "max-age=100"), ("ETag", "\"1\"")]),
      .asks([("ETag", "\"2\"")]) {
        $0.method = "HEAD"; $0.fields = ["Cache-Control": "no-cache"]
      }, .asks()),
  ]

  private static func invalidates(_ method: String, _ status: Int = 200, _ isInvalidated: Bool = true) -> Question {
    Question(
      "\(method) and \(status)", .asks([("Cache-Control", "max-age=100")]),
      .asks(status: status) { $0.method = method },
      isInvalidated ? .asks() : .reuses())
  }

  static let invalidation: [Question] =
    ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH"].map { invalidates($0) }
    + ["POST", "PUT", "DELETE", "M-SEARCH"].map { invalidates($0, 500, false) }
    + [
      invalidates("PUT", 404, false), invalidates("OPTIONS", 200, false), invalidates("POST", 201),
      invalidates("DELETE", 204),
    ]
    + ["Location", "Content-Location"].map { name in
      Question(
        name, .asks([("Cache-Control", "max-age=100")]) { $0.path = "/b" },
        .asks([(name, "b")], status: 201) { $0.method = "POST" },
        .asks { $0.path = "/b" })
    }
    + ["Location", "Content-Location"].map { name in
      Question(
        "\(name) elsewhere", .asks([("Cache-Control", "max-age=100")]) { $0.path = "/b" },
        .asks([(name, "http://example.org/b")], status: 201) { $0.method = "POST" }, .reuses { $0.path = "/b" })
    }

  private static let text = "0123456789"

  private static func whole(_ more: [(name: String, value: String)] = []) -> Step {
    .asks([("Cache-Control", "max-age=100"), ("ETag", "\"1\"")] + more) { $0.body = .whole(Data(text.utf8)) }
  }

  private static func part(
    _ first: Int, _ last: Int, tag: String = "\"1\"", _ change: (inout Step) -> Void = { _ in }
  ) -> Step {
    .asks(
      [("Cache-Control", "max-age=100"), ("ETag", tag), ("Content-Range", "bytes \(first)-\(last)/10")], status: 206
    ) {
      $0.fields = ["Range": "bytes=\(first)-\(last)"]
      $0.body = .whole(Data(Array(text.utf8)[first...last]))
      change(&$0)
    }
  }

  private static func slice(_ range: String, _ expected: String, _ contentRange: String) -> Step {
    .reuses {
      $0.fields = ["Range": range]
      $0.expectedStatus = 206
      $0.expectedText = expected
      $0.expectedFields = [("Content-Range", contentRange), ("Content-Length", "\(expected.utf8.count)")]
    }
  }

  private static func isWhole(_ step: inout Step) {
    step.expectedStatus = 200
    step.expectedText = text
    step.expectedFields = [("Content-Range", nil), ("Content-Length", "10")]
  }

  static let ranges: [Question] = [
    Question("from the front", whole(), slice("bytes=0-3", "0123", "bytes 0-3/10")),
    Question("to the end", whole(), slice("bytes=7-", "789", "bytes 7-9/10")),
    Question("from the end", whole(), slice("bytes=-3", "789", "bytes 7-9/10")),
    Question("a part", part(2, 5), slice("bytes=3-4", "34", "bytes 3-4/10"), .asks()),
    Question("parts that grow into the whole", part(0, 3), part(4, 9), .reuses { isWhole(&$0) }),
    Question(
      "the rest of a part", part(0, 3),
      part(4, 9) {
        $0.fields = [:]
        isWhole(&$0)
        $0.sees = [("Range", "bytes=4-"), ("If-Range", "\"1\"")]
      }, .reuses { isWhole(&$0) }),
    Question(
      "a part that has changed", part(0, 3),
      .asks([("Cache-Control", "max-age=100"), ("ETag", "\"2\"")]) { $0.expectedBody = 2 },
      .reuses(2)),
    Question("several ranges", whole(), .asks { $0.fields = ["Range": "bytes=0-1,4-5"] }),
    Question(
      "If-Range that holds", whole(),
      .reuses {
        $0.fields = ["Range": "bytes=0-1", "If-Range": "\"1\""]; $0.expectedText = "01"
      }),
    Question(
      "If-Range that does not", whole(),
      .reuses {
        $0.fields = ["Range": "bytes=0-1", "If-Range": "\"2\""]; $0.expectedText = text
      }),
  ]
}
