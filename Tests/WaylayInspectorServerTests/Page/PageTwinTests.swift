import Foundation
import TestSupport
import Testing
import WaylayHAR
import WaylayInspector

#if os(Linux) || os(macOS)
  /// What the page does by itself, in JavaScript, against what the library does.
  @Suite(
    "The page and the library",
    .enabled(
      if: Browser.path != nil, "no Chromium is installed, so the page was not looked at (apt-get install chromium)"),
    .heavy,
    .timeLimit(.minutes(10)))
  struct PageTwinTests {
    /// What is kept of traffic by an inspector, as the page gets it.
    private static func kept() -> Inspector {
      let inspector = Inspector()
      for entry in Traffic.mixed.entries { inspector.add(entry) }
      var odd = Traffic.exchange(
        9, "HTTPS://ada@[::1]:8443/\u{C9}t\u{E9}?q=-x%20\"y\"", method: "PATCH", status: 299,
        type: "Text/HTML; charset=utf-8", body: "\u{C9}T\u{C9} and, commas", wait: 100)
      odd.timings = HAR.Timings(wait: 500)
      odd.request.headers = [HAR.Field("X-Note", "it's -x \"quoted\\\" host:b"), HAR.Field("Accept", "*/*")]
      odd.request.body = HAR.Body(Data("two words".utf8), mediaType: "text/plain")
      odd.response.statusText = "Somewhat Fine"
      odd.serverAddress = "192.0.2.7"
      odd.comment = "a remark about it"
      inspector.add(odd)
      var binary = Traffic.exchange(10, "https://a.b.example.com/bin", type: "image/png", wait: 1)
      binary.response.body = HAR.Body(Data([0, 0xFF]) + Data("BiNary \u{E9}".utf8), mediaType: "image/png", size: 2048)
      inspector.add(binary)
      inspector.add(
        Traffic.exchange(11, "no URL at all", status: 0, type: "", body: "", more: ["_state": "unseen"]))
      return inspector
    }

    private static let queries = [
      "", "feed", "FEED", "-feed", "-FEED json", "\"page=2\"", "-\"page=2\"", "\"-x\"", "-x", "page 2", "two words",
      "\"two words\"", "body:\"two words\"", "body:two", "body:TWO", "body:\"and, commas\"", "body:commas,feed",
      "body:\u{C9}T\u{C9}", "body:\u{E9}t\u{E9}", "\u{E9}", "\u{C9}", "body:binary", "body:\u{E9}",
      "host:example.com", "host:EXAMPLE.com", "host:api.*", "host:*", "host:*.*.example.*", "host:example",
      "host:[::1]",
      "host:a.b.example.com,gone.example.org", "-host:example.com", "host:api.*com", "host:*com*com",
      "status:200", "status:2xx", "status:2XX", "status:0", "status:0xx", "status:200-299", "status:>=400",
      "status:>299",
      "status:<300", "status:<=200", "status:404,503", "status:<1", "-status:2xx", "status:>999",
      "method:get", "method:GET,PATCH", "method:ge", "-method:get", "type:json", "type:JSON", "type:text/html",
      "type:charset", "type:png,html", "duration:500", "duration:500ms", "duration:>500ms", "duration:<=0.5s",
      "duration:=500", "duration:>0.001min", "duration:<900000us", "size:2", "size:>=2kb", "size:<2kb", "size:=2048b",
      "size:>1", "url:FEED", "url:\"v1/users\"", "url:\u{E9}", "url:%20", "header:x-note", "header:\"host:b\"",
      "header:\"x-note: it\"", "header:quoted\\", "error:resolved", "error:\"could not\"", "source:network",
      "source:mocked", "source:MOCKED,archive", "-source:network", "state:open", "state:failed,unseen",
      "state:FINISHED",
      "phase:resolving", "-phase:resolving", "https://api.example.com", "\"https://api\" -status:4xx",
      "192.0.2.7", "remark", "\"Somewhat Fine\"", "http/1.1", "accept", "\"accept: */*\"", "*/*", "ada", "\\",
      "\"a\\\\b\"",
      "\"\\\"y\\\"\"", "body:\"x\"feed", "status:200 method:get host:example.com -type:png", "   feed   ", "a\tb",
    ]

    @Test("find the same, whatever is asked of them")
    func search() async throws {
      let inspector = Self.kept()
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-page-\(UUID().uuidString).html")
      defer { try? FileManager.default.removeItem(at: file) }
      try inspector.report().write(to: file)
      try await Browser.withPage { page in
        try await page.open(file.absoluteString)
        for query in Self.queries {
          try await page.filter(query)
          let shown = try await page.evaluate(
            """
            [...document.querySelectorAll('#rows .row')].filter((row) => !row.hidden).sort((a, b) => a.place - b.place)
              .map((row) => row.querySelector('.path').firstChild.textContent)
            """
          ).array?.compactMap(\.string)
          let wrong = try await page.evaluate("document.getElementById('status').innerText.includes('not understood')")
            .bool
          let expected = try inspector.exchanges(matching: Inspector.Query(query)).map { Self.path($0.request.url) }
          #expect(shown == expected, "\(query)")
          #expect(wrong == false, "\(query)")
        }
        // What the library calls a mistake is shown as one, or is what somebody is still writing.
        for query in [
          "status:nonsense", "status:5", "duration:fast", "duration:1h", "size:>", "status:300-200", "duration:1-2",
        ]
        where (try? Inspector.Query(query)) == nil {
          try await page.filter(query)
          try await page.expect("not understood: \(query)", in: "status")
        }
      }
    }

    /// The part of a URL that the list shows.
    private static func path(_ url: String) -> String {
      guard let scheme = url.range(of: "://") else { return url }
      let rest = url[scheme.upperBound...]
      let path = rest.drop { !"/?#".contains($0) }.prefix { !"?#".contains($0) }
      return path.isEmpty ? "/" : String(path)
    }

    @Test("write the same command for curl, whatever is in the request")
    func curl() async throws {
      let texts = [
        "plain", "it's", "$(id)`id`", "a\nb\tc", "@file", "", "\u{1B}[2J", "\u{202E}abc", "'\u{301}; id", "\\", "ä€😀",
        "\"", "--help", "@\u{301}x", "\u{0}", "\u{2028}",
      ]
      var entries: [HAR.Entry] = []
      for (number, text) in texts.enumerated() {
        for method in ["GET", "POST", "HEAD"] {
          for body in [nil, Data(), Data(text.utf8), Data([0xFF, 0]) + Data(text.utf8)]
          where method != "HEAD" || body == nil {
            var entry = Traffic.exchange(number, "https://api.example.com/a?q=\(text)", method: method)
            entry.request.headers = [
              HAR.Field("Host", "api.example.com"), HAR.Field("X-Text", text), HAR.Field("Content-Length", "3"),
              HAR.Field(":path", "/a"), HAR.Field("@name", "x"),
            ]
            if number % 2 == 0 { entry.request.headers.append(HAR.Field("Content-Type", "text/plain")) }
            entry.request.body = body.map { HAR.Body($0, mediaType: "text/plain") }
            entry.extensions["_id"] = .string("\(entries.count)")
            entries.append(entry)
          }
        }
      }
      let archive = try HAR(data: HAR(entries: entries).data())
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-page-\(UUID().uuidString).html")
      defer { try? FileManager.default.removeItem(at: file) }
      try InspectorPage(title: "curl").html(showing: archive).write(to: file)
      try await Browser.withPage { page in
        try await page.open(file.absoluteString)
        try await page.evaluate(
          """
          window.copied = '';
          Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } });
          """)
        for entry in archive.entries {
          try await page.press("j")
          try await page.press("c")
          let command = try await page.evaluate("window.copied").string
          #expect(command == entry.request.curlCommand(), "\(entry.request)")
        }
      }
    }
  }
#endif
