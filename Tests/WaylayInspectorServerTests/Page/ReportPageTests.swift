import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayHAR
import WaylayInspector

#if os(Linux) || os(macOS)
  @Suite(
    .enabled(
      if: Browser.path != nil, "no Chromium is installed, so the page was not looked at (apt-get install chromium)"),
    .heavy,
    .timeLimit(.minutes(10)))
  struct ReportPageTests {
    /// Writes a page into a file and opens it there, without a network.
    private func withReport(
      _ archive: HAR, title: String = "Report", at fragment: String = "", _ body: (Page) async throws -> Void
    ) async throws {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-page-\(UUID().uuidString).html")
      defer { try? FileManager.default.removeItem(at: file) }
      try InspectorPage(title: title).html(showing: archive).write(to: file)
      try await Browser.withPage { page in
        try await page.open(file.absoluteString + fragment)
        try await body(page)
      }
    }

    @Test("a report shows its requests, finds among them, and tells what is known of one")
    func listAndFilter() async throws {
      try await withReport(Traffic.mixed) { page in
        #expect(try await page.evaluate("document.title").string == "Report")
        #expect(
          try await shown(page) == [
            "/v1/feed", "/v1/orders", "/v1/users/7", "/a.png", "/v1/slow", "/", "/plans", "/events",
          ])
        let queries: [(String, [String])] = [
          ("host:images.*", ["/a.png"]), ("host:example.net", ["/a.png"]), ("status:4xx", ["/v1/users/7"]),
          ("status:>=400", ["/v1/users/7", "/v1/slow"]), ("state:failed", ["/"]), ("method:post", ["/v1/orders"]),
          ("type:json -host:pay.example.com", ["/v1/feed", "/v1/orders", "/v1/users/7"]),
          ("duration:>500ms", ["/v1/orders", "/v1/slow"]),
          ("duration:>2s", ["/v1/slow"]), ("body:\"night trains\"", ["/v1/feed"]),
          ("source:mocked,archive", ["/plans"]),
          ("state:open", ["/events"]),
          ("\"page=2\"", ["/v1/feed"]), ("\"could not be resolved\"", ["/"]),
          (
            "status:200-204,404 method:get,put host:example.com -type:png",
            ["/v1/feed", "/v1/users/7", "/plans", "/events"]
          ),
          ("nothing like it", []),
        ]
        for (query, paths) in queries {
          try await page.filter(query)
          #expect(try await shown(page) == paths, "\(query)")
        }
        try await page.expect("No request matches", in: "empty")
        try await page.filter("status:nonsense")
        try await page.expect("status:nonsense", in: "status")
        try await page.filter("")
        // By keyboard: down to the second one, open it, and its failed neighbour.
        for _ in 1...6 { try await page.press("j") }
        try await page.press("Enter")
        let detail = try await page.evaluate("document.getElementById('detail').innerText").string ?? ""
        for text in [
          "gone.example.org", "Failed while resolving the name", "The name could not be resolved.", "192.0.2.1:443",
          "TLS handshake",
        ] {
          #expect(detail.contains(text), "\(text)")
        }
        for _ in 1...5 { try await page.press("k") }
        try await page.press("3")
        let body = try await page.evaluate("document.querySelector('.body').innerText").string
        #expect(body == "{\n  \"id\": 9007199254740993,\n  \"title\": \"Night trains\"\n}")
        try await page.press("Escape")
        #expect(try await page.evaluate("document.getElementById('detail').hidden").bool == true)
      }
    }

    @Test("nothing of what was recorded is ever run or loaded")
    func hostile() async throws {
      try await withOrigin { origin in
        let leak = origin.url("/leak").absoluteString
        var entries: [HAR.Entry] = []
        for (number, text) in Traffic.hostile(leak: leak).enumerated() {
          var entry = Traffic.exchange(
            number, "https://evil.example.com/\(text)?\(text)", type: "text/html", body: text)
          entry.request.method = text
          entry.request.headers.append(HAR.Field(text, text))
          entry.request.query.append(HAR.Field(text, text))
          entry.request.body = HAR.Body(Data(text.utf8), mediaType: text)
          entry.response.statusText = text
          entry.response.headers.append(HAR.Field("Content-Type", text))
          entry.comment = text
          entry.extensions.merge([
            "_state": "failed", "_error": .init(text), "_phase": .init(text), "_source": .init(text),
            "_attempts": [["address": .init(text), "outcome": .init(text)]],
          ]) { $1 }
          entries.append(entry)
        }
        try await withReport(HAR(entries: entries), title: "</title><script>window.harm = 1</script>") { page in
          #expect(try await page.evaluate("document.title").string == "</title><script>window.harm = 1</script>")
          for _ in entries {
            try await page.press("j")
            try await page.press("Enter")
            for tab in ["1", "2", "3"] { try await page.press(tab) }
          }
          try await page.evaluate("new Promise((done) => setTimeout(done, 100))")
          #expect(try await page.evaluate("'harm' in window").bool == false)
          #expect(try await page.evaluate("document.querySelectorAll('script').length").int == 1)
          #expect(
            try await page.evaluate("document.querySelectorAll('img, iframe, base, link, a, object, embed').length").int
              == 0)
          // The policy holds where the page's own care would not: a script put in by hand is not run, nothing is
          // fetched.
          let refused = """
            (async () => {
              const tried = [];
              try { const s = document.createElement('script'); s.textContent = 'window.harm = 1'; \
              document.body.append(s); } catch { tried.push('text'); }
              try { document.body.insertAdjacentHTML('beforeend', '<b>x</b>'); } catch { tried.push('markup'); }
              const image = new Image();
              image.src = \(Page.literal(leak));
              await fetch(\(Page.literal(leak))).catch(() => tried.push('fetch'));
              return tried.join(' ');
            })()
            """
          #expect(try await page.evaluate(refused).string == "text markup fetch")
          #expect(try await page.evaluate("'harm' in window").bool == false)
        }
        #expect(origin.requests.isEmpty)
      }
    }

    @Test("five thousand rows take as many elements as the screen has lines, and scroll")
    func manyRows() async throws {
      let entries = (0..<5000).map { number in
        Traffic.exchange(
          number, "https://api.example.com/v1/things/\(number)?page=\(number % 9)", status: number % 7 == 0 ? 500 : 200)
      }
      try await withReport(HAR(entries: entries)) { page in
        let measured = try await page.evaluate(
          """
          (async () => {
            const scroll = document.getElementById('scroll');
            const frames = [];
            let last = await new Promise(requestAnimationFrame);
            for (let step = 0; step < 120; step += 1) {
              scroll.scrollTop = step * (scroll.scrollHeight - scroll.clientHeight) / 119;
              const now = await new Promise(requestAnimationFrame);
              frames.push(now - last);
              last = now;
            }
            await new Promise(requestAnimationFrame);
            frames.sort((a, b) => a - b);
            const rows = [...document.querySelectorAll('#rows .row')].filter((row) => !row.hidden);
            const began = performance.now();
            const field = document.getElementById('query');
            field.value = 'status:5xx duration:>10ms things';
            field.dispatchEvent(new Event('input'));
            return { median: frames[60], slowest: frames[119], rows: document.querySelectorAll('#rows .row').length,
              hasLast: rows.some((row) => row.innerText.includes('/v1/things/4999')), filtered: performance.now() - \
              began };
          })()
          """)
        let (median, slowest) = (measured["median"]?.double ?? .infinity, measured["slowest"]?.double ?? .infinity)
        let filtered = measured["filtered"]?.double ?? -1
        print(
          "5 000 rows: a frame takes \(median) ms at the median, \(slowest) ms at the most; a filter \(filtered) ms")
        #expect(measured["hasLast"]?.bool == true)
        #expect((1...120).contains(measured["rows"]?.int ?? 0))
        // A screen has 60 frames in a second, which is 17 ms each; a page that lays out all rows takes seconds here. In
        // between is the machine.
        #expect(median < 500)
        #expect(
          try await page.evaluate("document.getElementById('count').textContent").string
            == "715 of 5\u{202F}000 requests")
      }
    }

    @Test("a phone shows rows of two lines with whole hosts, a request over all of it, and nothing that is wider")
    func phone() async throws {
      try await withReport(Traffic.mixed) { page in
        _ = try await page.call(
          "Emulation.setDeviceMetricsOverride", ["width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": true])
        try await page.until("document.body.classList.contains('phone')")
        let fits = "[document.documentElement, ...document.body.children].every((one) => one.scrollWidth <= 360)"
        for query in ["", "stauts:4xx OR duration:long"] {
          try await page.filter(query)
          #expect(try await page.evaluate(fits).bool == true, "\(query)")
          #expect(try await shown(page).count == 8, "\(query)")
        }
        #expect(
          try await page.evaluate(
            "[...document.querySelectorAll('.rows .host')].every((host) => host.scrollWidth <= host.clientWidth)"
          ).bool == true)
        _ = try await page.evaluate("document.querySelector('.rows .row:not([hidden])').click()")
        try await page.until("document.getElementById('detail').getBoundingClientRect().width === 360")
        #expect(try await page.evaluate(fits).bool == true)
      }
    }

    @Test("the waterfall spans the times of what is shown: of the rows that match, and of those on the screen")
    func waterfall() async throws {
      // Each an hour after the one before: of all of them, each would be a dot.
      let entries = (0..<1000).map { number in
        var entry = Traffic.exchange(
          number, "https://api.example.com/\(number)", status: number == 7 ? 500 : 200, wait: 984)
        entry.started = Traffic.start.addingTimeInterval(Double(number) * 3600)
        return entry
      }
      try await withReport(HAR(entries: entries)) { page in
        func widths() async throws -> [Double] {
          try await page.evaluate(
            """
            [...document.querySelectorAll('#rows .row')].filter((row) => !row.hidden).map((row) => row.parts.fall)
              .map((fall) => [...fall.children].reduce((sum, bar) => sum + (bar.hidden ? 0 : parseFloat(bar.style.width)), 0))
            """
          ).array?.compactMap(\.double) ?? []
        }
        // Some thirty rows are on the screen: a second of some thirty hours.
        let second = 100.0 / (1000 * 3600)
        #expect(try await widths().allSatisfy { $0 > 10 * second && $0 < 1 })
        try await page.filter("status:500")
        #expect(try await widths().map { Int($0.rounded()) } == [100])
        try await page.expect("over 1", in: "status")
        try await page.filter("")
        try await page.evaluate("document.getElementById('scroll').scrollTop = 15000")
        try await page.until("document.getElementById('rows').innerText.includes('/510')")
        #expect(try await widths().contains { $0 > 10 * second })
      }
    }

    @Test("an archive without entries, and an address that says how to begin")
    func beginnings() async throws {
      try await withReport(HAR()) { page in
        try await page.expect("No requests were recorded", in: "empty")
      }
      try await withReport(Traffic.mixed, at: "#q=host:api.*&open=3&tab=response&theme=dark") { page in
        let found = try await shown(page)
        #expect(found.count == 4)
        #expect(try await page.evaluate("document.documentElement.dataset.theme").string == "dark")
        #expect(
          try await page.evaluate("document.querySelector('.body').innerText").string
            == "{\n  \"title\": \"not found\"\n}")
      }
    }

    /// The paths in the list, from the top.
    private func shown(_ page: Page) async throws -> [String] {
      let paths = try await page.evaluate(
        """
        [...document.querySelectorAll('#rows .row')].filter((row) => !row.hidden).sort((a, b) => a.place - b.place)
          .map((row) => row.querySelector('.path').firstChild.textContent)
        """)
      return paths.array?.compactMap(\.string) ?? []
    }
  }
#endif
