import Foundation
import WaylayHAR

/// Traffic made by hand, for pages.
enum Traffic {
  static let start = Date(timeIntervalSince1970: 1_763_800_000)

  static func exchange(
    _ id: Int, _ url: String, method: String = "GET", status: Int = 200, type: String = "application/json",
    body: String = "{}",
    wait: Double = 40, more: [String: JSONValue] = [:]
  ) -> HAR.Entry {
    var entry = HAR.Entry(
      started: start.addingTimeInterval(Double(id) * 0.025),
      request: HAR.Request(method: method, url: url, headers: [HAR.Field("Accept", "*/*")]),
      response: HAR.Response(
        status: status, statusText: status == 200 ? "OK" : "", headers: [HAR.Field("Content-Type", type)],
        body: HAR.Body(Data(body.utf8), mediaType: type)),
      timings: HAR.Timings(dns: 3, connect: 9, ssl: 5, send: 0.2, wait: wait, receive: 4))
    entry.extensions = [
      "_id": .init(String(id)), "_state": "finished", "_source": "network",
      "_bodySize": .init(body.utf8.count),
    ].merging(more) { $1 }
    return entry
  }

  /// A few of every kind.
  static let mixed = HAR(entries: [
    exchange(1, "https://api.example.com/v1/feed?page=2", body: #"{"id":9007199254740993,"title":"Night trains"}"#),
    exchange(2, "https://api.example.com/v1/orders", method: "POST", status: 201, wait: 900),
    exchange(
      3, "https://api.example.com/v1/users/7", status: 404, type: "application/problem+json",
      body: #"{"title":"not found"}"#),
    exchange(4, "https://images.example.net/a.png", type: "image/png", body: "PNG", wait: 12),
    exchange(5, "https://api.example.com/v1/slow", status: 503, type: "text/html", body: "<h1>busy</h1>", wait: 2300),
    exchange(
      6, "https://gone.example.org/", status: 0, type: "", body: "",
      more: [
        "_state": "failed", "_error": "The name could not be resolved.", "_phase": "resolving",
        "_attempts": [["address": "192.0.2.1:443", "outcome": "refused"]],
      ]),
    exchange(7, "https://pay.example.com/plans", more: ["_source": "mocked"]),
    exchange(
      8, "https://live.example.com/events", type: "text/event-stream", body: "data: 1\n\n", more: ["_state": "open"]),
  ])

  /// What would do harm if any of it were taken for markup or for a script.
  static func hostile(leak: String) -> [String] {
    [
      "</script><script>window.harm = 1</script>", "<!--<script>", "<script src=\"\(leak)\"></script>",
      "]]><svg onload=\"window.harm = 1\">",
      "<img src=\"\(leak)\" onerror=\"window.harm = 1\">",
      "<iframe srcdoc=\"<script>parent.harm = 1</script>\"></iframe>",
      "\u{2028}window.harm = 1\u{2029}", "\"};window.harm = 1;//", "javascript:window.harm=1", "{{SCRIPT}}{{HAR}}",
      "<base href=\"\(leak)\">",
      "<link rel=stylesheet href=\"\(leak)\">", "<meta http-equiv=refresh content=\"0;url=\(leak)\">",
      "\\u003cscript>window.harm = 1\\u003c/script>",
      "<style>@import '\(leak)'</style>", "\u{0}\u{1}\u{202E}<b>",
    ]
  }
}
