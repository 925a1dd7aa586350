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
            entry.extensions["_id"] = "\(entries.count)"
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
