import Foundation
import TestSupport
import Testing
import WaylayHAR
import WaylayInspector

#if os(Linux) || os(macOS)
  /// The search language of the page, in JavaScript.
  @Suite(
    "The page's search",
    .enabled(
      if: Browser.path != nil, "no Chromium is installed, so the page was not looked at (apt-get install chromium)"),
    .heavy,
    .timeLimit(.minutes(10)))
  struct PageSearchTests {
    /// Traffic with odd texts in many places: eleven exchanges, as the page gets them from an inspector.
    static func kept() -> Inspector {
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

    /// Queries, and the numbers of the exchanges that they find.
    static let queries: [(text: String, found: String)] = [
      ("", "1 2 3 4 5 6 7 8 9 10 11"),
      ("feed", "1"),
      ("FEED", "1"),
      ("-feed", "2 3 4 5 6 7 8 9 10 11"),
      ("-FEED json", "2 3 7"),
      ("\"page=2\"", "1"),
      ("-\"page=2\"", "2 3 4 5 6 7 8 9 10 11"),
      ("\"-x\"", "9"),
      ("-x", "11"),
      ("page 2", "1"),
      ("two words", ""),
      ("\"two words\"", ""),
      ("body:\"two words\"", "9"),
      ("body:two", "9"),
      ("body:TWO", "9"),
      ("body:\"and, commas\"", "9"),
      ("body:commas,feed", ""),
      ("body:\u{C9}T\u{C9}", "9"),
      ("body:\u{E9}t\u{E9}", ""),
      ("\u{E9}", "9"),
      ("\u{C9}", "9"),
      ("body:binary", "10"),
      ("body:\u{E9}", "10"),
      ("host:example.com", "1 2 3 5 7 8 10"),
      ("host:EXAMPLE.com", "1 2 3 5 7 8 10"),
      ("host:api.*", "1 2 3 5"),
      ("host:*", "1 2 3 4 5 6 7 8 9 10 11"),
      ("host:*.*.example.*", "10"),
      ("host:example", ""),
      ("host:[::1]", "9"),
      ("host:a.b.example.com,gone.example.org", "6 10"),
      ("-host:example.com", "4 6 9 11"),
      ("host:api.*com", "1 2 3 5"),
      ("host:*com*com", ""),
      ("status:200", "1 4 7 8 10"),
      ("status:2xx", "1 2 4 7 8 9 10"),
      ("status:2XX", "1 2 4 7 8 9 10"),
      ("status:0", "6 11"),
      ("status:0xx", "6 11"),
      ("status:200-299", "1 2 4 7 8 9 10"),
      ("status:>=400", "3 5"),
      ("status:>299", "3 5"),
      ("status:<300", "1 2 4 7 8 9 10"),
      ("status:<=200", "1 4 7 8 10"),
      ("status:404,503", "3 5"),
      ("status:<1", ""),
      ("-status:2xx", "3 5 6 11"),
      ("status:>999", ""),
      ("method:get", "1 3 4 5 6 7 8 10 11"),
      ("method:GET,PATCH", "1 3 4 5 6 7 8 9 10 11"),
      ("method:ge", ""),
      ("-method:get", "2 9"),
      ("type:json", "1 2 3 7"),
      ("type:JSON", "1 2 3 7"),
      ("type:text/html", "5 9"),
      ("type:charset", "9"),
      ("type:png,html", "4 5 9 10"),
      ("duration:500", "2 5 9"),
      ("duration:500ms", "2 5 9"),
      ("duration:>500ms", "2 5"),
      ("duration:<=0.5s", "1 3 4 6 7 8 9 10 11"),
      ("duration:=500", "9"),
      ("duration:>0.001min", "2 5 9"),
      ("duration:<900000us", "1 3 4 6 7 8 9 10 11"),
      ("size:2", "1 2 3 4 5 7 8 9 10"),
      ("size:>=2kb", "10"),
      ("size:<2kb", "1 2 3 4 5 6 7 8 9 11"),
      ("size:=2048b", "10"),
      ("size:>1", "1 2 3 4 5 7 8 9 10"),
      ("url:FEED", "1"),
      ("url:\"v1/users\"", "3"),
      ("url:\u{E9}", "9"),
      ("url:%20", "9"),
      ("header:x-note", "9"),
      ("header:\"host:b\"", "9"),
      ("header:\"x-note: it\"", ""),
      ("header:quoted\\", "9"),
      ("error:resolved", "6"),
      ("error:\"could not\"", "6"),
      ("source:network", "1 2 3 4 5 6 8 9 10 11"),
      ("source:mocked", "7"),
      ("source:MOCKED,archive", "7"),
      ("-source:network", "7"),
      ("state:open", "8"),
      ("state:failed,unseen", "6 11"),
      ("state:FINISHED", "1 2 3 4 5 7 9 10"),
      ("phase:resolving", "6"),
      ("-phase:resolving", "1 2 3 4 5 7 8 9 10 11"),
      ("https://api.example.com", "1 2 3 5"),
      ("\"https://api\" -status:4xx", "1 2 5"),
      ("192.0.2.7", "9"),
      ("remark", "9"),
      ("\"Somewhat Fine\"", "9"),
      ("http/1.1", "1 2 3 4 5 6 7 8 9 10 11"),
      ("accept", "1 2 3 4 5 6 7 8 9 10 11"),
      ("\"accept: */*\"", ""),
      ("*/*", "1 2 3 4 5 6 7 8 9 10 11"),
      ("ada", ""),
      ("\\", "9"),
      ("\"a\\\\b\"", ""),
      ("\"\\\"y\\\"\"", "9"),
      ("body:\"x\"feed", ""),
      ("status:200 method:get host:example.com -type:png", "1 7 8"),
      ("   feed   ", "1"),
      ("a\tb", "3 6 9 10"),
    ]

    private func withPage(_ body: (Page) async throws -> Void) async throws {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-page-\(UUID().uuidString).html")
      defer { try? FileManager.default.removeItem(at: file) }
      try Self.kept().report().write(to: file)
      try await Browser.withPage { page in
        try await page.open(file.absoluteString)
        try await body(page)
      }
    }

    @Test("finds what each word of its language says")
    func search() async throws {
      let paths = Self.kept().exchanges.map { Self.path($0.request.url) }
      try await withPage { page in
        for (query, found) in Self.queries {
          try await page.filter(query)
          let shown =
            try await page.evaluate(
              """
              [...document.querySelectorAll('#rows .row')].filter((row) => !row.hidden).sort((a, b) => a.place - b.place)
                .map((row) => row.querySelector('.path').firstChild.textContent)
              """
            ).array?.compactMap(\.string) ?? []
          let numbers = shown.map { path in paths.firstIndex(of: path).map { "\($0 + 1)" } ?? "?" }
          #expect(numbers.joined(separator: " ") == found, "\(query)")
          #expect(try await page.evaluate("document.getElementById('mistakes').hidden").bool == true, "\(query)")
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

    @Test("says what it did not understand, how it is written, and which terms there are")
    func mistakes() async throws {
      let terms =
        "The terms are host: status: method: type: duration: size: body: url: header: error: source: state: phase:"
      try await withPage { page in
        for (query, word, hint) in [
          ("hots:x", "hots:x", "there is no term hots"), ("feed -hots:\"a b\"", "-hots:\"a b\"", "put it in quotes"),
          ("status:abc", "status:abc", "write status:404, status:4xx"), ("-status:5", "", ""),
          ("status:nonsense", "status:nonsense", "status:400-499"),
          ("status:300-200", "status:300-200", "status:>=400"),
          ("a OR b", "OR", "all words must match"), ("a && b", "&&", "status:404,503"),
          ("NOT a", "NOT", "- before a word"),
          ("duration:fast", "duration:fast", "us, ms, s and min"), ("duration:1h", "duration:1h", "duration:>500ms"),
          ("size:>", "size:>", "b, kb, mb and gb"), ("duration:1-2", "duration:1-2", "duration:>500ms"),
        ] {
          try await page.filter(query)
          let isHidden = try await page.evaluate("document.getElementById('mistakes').hidden").bool
          #expect(isHidden == word.isEmpty, "\(query)")
          guard !word.isEmpty else { continue }
          try await page.expect("\(word) is not understood: ", in: "mistakes")
          try await page.expect(hint, in: "mistakes")
          try await page.expect(terms, in: "mistakes")
          try await page.expect("not understood: \(word)", in: "status")
          try await page.filter("feed")
          #expect(try await page.evaluate("document.getElementById('mistakes').hidden").bool == true, "\(query)")
        }
        // In quotes they are text to look for.
        for query in ["\"hots:x\"", "\"OR\"", "\"status:abc\"", "or", "192.0.2.7:443", "https://api.example.com"]
          // Addresses, and the beginnings of some.
          + ["localhost:8080", "localhost:8080/path", "http:", "https:/", "-http:", "hots:"]
        {
          try await page.filter(query)
          #expect(try await page.evaluate("document.getElementById('mistakes').hidden").bool == true, "\(query)")
        }
      }
    }
  }

  @Suite("The search language outside the page")
  struct ExchangeQueryTests {
    @Test("finds what the page finds", arguments: PageSearchTests.queries.map(\.text))
    func search(text: String) {
      let query = ExchangeQuery(text)
      let found = PageSearchTests.kept().exchanges.filter(query.matches).map { "\($0.id)" }.joined(separator: " ")
      #expect(found == PageSearchTests.queries.first { $0.text == text }?.found)
      #expect(query.mistakes.isEmpty)
    }

    @Test(
      "says which word it did not understand",
      arguments: [
        "hots:x", "status:abc", "status:300-200", "OR", "&&", "duration:fast", "duration:1h", "size:>", "size:1-2",
      ])
    func mistakes(word: String) {
      #expect(ExchangeQuery("feed \(word)").mistakes.first?.hasPrefix("\(word): ") == true)
    }
  }
#endif
