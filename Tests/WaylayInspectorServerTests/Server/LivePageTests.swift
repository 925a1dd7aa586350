#if InspectorServer
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayInspector
  import WaylayInspectorServer

  #if os(Linux) || os(macOS)
    @Suite(
      .enabled(
        if: Browser.path != nil,
        "no Chromium is installed, so the live page was not looked at (apt-get install chromium)"
      ), .heavy,
      .timeLimit(.minutes(10)))
    struct LivePageTests {
      private func withServer(_ body: (TestOrigin, URLSession, Inspector, URL) async throws -> Void) async throws {
        try await withOrigin { origin in
          let inspector = Inspector()
          let session = URLSession(configuration: .ephemeral.intercepted(by: InterceptorRegistry { inspector }))
          var options = InspectorServer.Options()
          options.logger = nil
          let server = InspectorServer(inspector, session: session, options: options)
          let url = try await server.start()
          do {
            try await body(origin, session, inspector, url)
            await server.stop()
          } catch {
            await server.stop()
            throw error
          }
          session.invalidateAndCancel()
        }
      }

      @Test("rows appear as requests are made, are found, sent again and cleared")
      func live() async throws {
        try await withServer { origin, session, inspector, url in
          _ = try await session.data(from: origin.url("/before"))
          try await Browser.withPage { page in
            try await page.open(url.absoluteString)
            // What had happened before is there, and what happens comes without anybody's asking.
            try await page.until("document.getElementById('count').textContent === '1 request'")
            try await page.until("document.getElementById('live').dataset.state === 'on'")
            origin.reply(to: "/hello") { _ in
              Reply(
                200, [("Content-Type", "application/json")], .whole(Data("{\"text\":\"</script><img src=x>\"}".utf8)))
            }
            var request = URLRequest(url: origin.url("/hello?a=1"))
            request.httpMethod = "POST"
            request.httpBody = Data("greeting=1".utf8)
            request.setValue("Bearer 0123456789", forHTTPHeaderField: "Authorization")
            _ = try await session.data(for: request)
            try await page.until("document.getElementById('count').textContent === '2 requests'")
            try await page.filter("method:post")
            try await page.until("document.getElementById('count').textContent === '1 of 2 requests'")
            // The filter holds for what comes later.
            _ = try await session.data(from: origin.url("/after"))
            try await page.until("document.getElementById('count').textContent === '1 of 3 requests'")
            try await page.press("j")
            try await page.press("Enter")
            try await page.press("3")
            try await page.until("document.querySelector('.body').innerText.includes('<img src=x>')")
            #expect(try await page.evaluate("document.querySelectorAll('img').length").int == 0)
            // Sent again, it is another request with the same body, without the credential that was never kept.
            try await page.press("r")
            try await page.until("document.getElementById('toast').textContent === 'Sent again: 200'")
            try await page.until("document.getElementById('count').textContent === '2 of 4 requests'")
            let sent = origin.requests(to: "/hello")
            #expect(sent.map(\.body) == [Data("greeting=1".utf8), Data("greeting=1".utf8)])
            #expect(sent.map { $0.head.lowercased().contains("authorization") } == [true, false])
            try await page.evaluate("document.getElementById('clear').click()")
            try await page.until("document.getElementById('count').textContent === '0 requests'")
            #expect(inspector.count == 0)
          }
        }
      }

      @Test("thousands of entries are listed within moments, and a search says until then that it is not complete")
      func manyEntries() async throws {
        let (entries, listed, found) = Sizes.isWhole ? (10_000, "10\u{202F}000", 111) : (3000, "3\u{202F}000", 11)
        let inspector = Inspector(limits: Inspector.Limits(exchanges: entries, bytes: 256 << 20))
        for number in 0..<entries {
          inspector.add(Traffic.exchange(number, "https://api.example.com/v1/things/\(number)?page=\(number % 9)"))
        }
        var options = InspectorServer.Options()
        options.logger = nil
        let server = InspectorServer(inspector, options: options)
        let url = try await server.start()
        try await Browser.withPage { page in
          try await page.call(
            "Page.addScriptToEvaluateOnNewDocument",
            [
              "source": """
              window.said = [];
              document.addEventListener('DOMContentLoaded', () => {
                new MutationObserver(() => said.push(document.getElementById('partial')?.textContent))
                  .observe(document.getElementById('status'), { childList: true, subtree: true });
              });
              """
            ])
          try await page.open(url.absoluteString + "#q=things/99")
          try await page.until("document.getElementById('count').textContent === '\(found) of \(listed) requests'")
          try await page.until("document.getElementById('partial').textContent === ''")
          let said = try await page.evaluate("said").array?.compactMap(\.string) ?? []
          #expect(said.contains { $0.hasPrefix("The search is not complete: ") }, "\(said)")
          let took = try await page.evaluate("Math.round(performance.now())").int ?? 0
          print("\(entries) entries: listed and searched \(took) ms after the page was opened")
        }
        await server.stop()
      }

      @Test("a search in bodies says that it has only the beginning of long ones")
      func longBodies() async throws {
        let inspector = Inspector()
        inspector.add(Traffic.exchange(1, "https://a.test/short", body: "needle"))
        inspector.add(
          Traffic.exchange(2, "https://a.test/long", body: String(repeating: "hay ", count: 50_000) + "needle"))
        var options = InspectorServer.Options()
        options.logger = nil
        let server = InspectorServer(inspector, options: options)
        let url = try await server.start()
        try await Browser.withPage { page in
          try await page.open(url.absoluteString)
          try await page.until("document.getElementById('count').textContent === '2 requests'")
          #expect(try await page.evaluate("document.getElementById('partial').textContent").string == "")
          try await page.filter("body:needle")
          try await page.until("document.getElementById('count').textContent === '1 of 2 requests'")
          try await page.expect("The search is not complete", in: "partial")
        }
        await server.stop()
      }

      @Test("a request is shown as a stub, as text alone; one without an answer says why it cannot be")
      func stub() async throws {
        try await withServer { origin, session, inspector, url in
          origin.reply(to: "/hello") { _ in
            Reply(200, [("Content-Type", "application/json")], .whole(Data("{\"text\":\"<img src=x>\"}".utf8)))
          }
          _ = try await session.data(from: origin.url("/hello?token=abcdefgh&a=1"))
          let source = try #require(inspector.exchanges.first?.swiftStub())
          #expect(source.contains("token=*&a=1") && source.contains("<img src=x>"), "\(source)")
          try await Browser.withPage { page in
            try await page.open(url.absoluteString)
            try await page.until("document.getElementById('count').textContent === '1 request'")
            try await page.press("j")
            try await page.press("Enter")
            try await page.until("document.getElementById('stub') !== null")
            try await page.evaluate("document.getElementById('stub').click()")
            try await page.until("document.querySelector('#sheet[open] pre') !== null")
            #expect(try await page.evaluate("document.querySelector('#sheet pre').textContent").string == source)
            #expect(try await page.evaluate("document.querySelectorAll('img').length").int == 0)
            try await page.evaluate("document.getElementById('sheet').close()")
            await origin.stop()
            _ = try? await session.data(from: origin.url("/gone"))
            try await page.until("document.getElementById('count').textContent === '2 requests'")
            try await page.press("j")
            try await page.press("Enter")
            try await page.until("document.querySelector('.url').textContent.includes('/gone')")
            try await page.evaluate("document.getElementById('stub').click()")
            try await page.until("document.getElementById('toast').textContent.startsWith('It has no response')")
          }
        }
      }

      @Test("a page of another origin, and a name that leads to this machine, get nothing")
      func foreign() async throws {
        try await withServer { origin, session, _, url in
          _ = try await session.data(from: origin.url("/seen"))
          origin.reply(to: "/evil") { _ in
            Reply(
              200, [("Content-Type", "text/html")],
              .whole(Data("<!doctype html><html data-ready=true><body></body></html>".utf8)))
          }
          try await Browser.withPage(["--host-resolver-rules=MAP evil.example 127.0.0.1"]) { page in
            try await page.open(origin.url("/evil").absoluteString)
            let stolen = try await page.evaluate(
              """
              (async () => {
                const url = \(Page.literal(url.absoluteString));
                const got = [];
                await fetch(url).then(async (answer) => got.push(await answer.text()), () => 0);
                await fetch(url + 'entries/1', { headers: { 'X-Waylay': '1' } }).then(async (answer) => got.push(await \
                answer.text()), () => 0);
                await fetch(url + 'entries', { method: 'DELETE', mode: 'no-cors' }).then((answer) => \
                got.push(answer.type === 'opaque' ? '' : 'read'), () => 0);
                await new Promise((done) => {
                  const events = new EventSource(url + 'events');
                  events.onopen = () => { got.push('stream'); done(); };
                  events.onerror = () => { events.close(); done(); };
                });
                await new Promise((done) => {
                  const frame = document.createElement('iframe');
                  frame.onload = () => { try { got.push(frame.contentDocument.title); } catch {} done(); };
                  frame.src = url;
                  document.body.append(frame);
                });
                return got.join('');
              })()
              """)
            #expect(stolen.string == "")
            // By a name of its own, a page has the right address and still the wrong `Host`.
            var other = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
            other.host = "evil.example"
            try await page.call("Page.navigate", ["url": other.string ?? ""])
            try await page.until("document.body.innerText === 'Access is denied.'")
            try await page.open(url.absoluteString)
            try await page.until("document.getElementById('count').textContent === '1 request'")
          }
        }
      }
    }
  #endif
#endif
