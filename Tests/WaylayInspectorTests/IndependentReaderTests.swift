import Foundation
import TestSupport
import Testing
import WaylayCore
import WaylayHAR
import WaylayInspector
import WaylayMocks

#if os(Linux) || os(macOS)
  /// `Scripts/nightly.sh har_reader` installs the reader, and runs this with it: `WAYLAY_PYTHON` says which Python has
  /// it.
  @Suite("An archive that an inspector has written, in a reader of others", .timeLimit(.minutes(5)))
  struct IndependentReaderTests {
    private static let reader = """
      import base64, json, sys
      from haralyzer import HarEntry, HarParser
      for entry in HarParser.from_file(sys.argv[1]).har_data["entries"]:
        entry = HarEntry(entry)
        content = entry.response.raw_entry["content"]
        data = content.get("text", "")
        data = base64.b64decode(data) if content.get("encoding") == "base64" else data.encode()
        parts = [v for k, v in entry.timings.items() if k != "ssl" and isinstance(v, (int, float)) and v > 0]
        sums = abs(sum(parts) - entry.time) < 0.01 * (1 + len(parts))
        print(entry.request.method, entry.request.url, entry.response.status, len(data), entry.startTime.tzinfo is not None,
          sums, [c["name"] for c in entry.request.cookies])
      """

    @Test("is read as it was written: failures, bodies that were cut, bytes, answers of mocks, cookies")
    func haralyzer() async throws {
      let python = ProcessInfo.processInfo.environment["WAYLAY_PYTHON"] ?? "/usr/bin/python3"
      guard FileManager.default.isExecutableFile(atPath: python),
        try await Program(path: python).run(["-c", "import haralyzer"]).code == 0
      else { return print("no haralyzer for \(python): Scripts/nightly.sh har_reader installs it") }
      try await withDirectory { directory in
        let inspector = Inspector(limits: Inspector.Limits(bodyBytes: 1_000))
        let mock = MockInterceptor(.init(unmatched: .passThrough)) {
          Stub("https://a.test/mocked", .json(["name": "Ada \u{1F469}\u{200D}\u{1F680}"]))
        }
        let registry = InterceptorRegistry(logger: .recording()) {
          inspector
          mock
          Answering { request in
            switch request.url.path {
            case "/fails": throw URLError(.timedOut)
            case "/bytes":
              InterceptedResponse(
                to: request, fields: [.contentType: "image/png"], body: .data(Data((0...255).map { UInt8($0) })))
            case "/long":
              InterceptedResponse(
                to: request, fields: [.contentType: "text/plain"], body: .text(String(repeating: "x", count: 5_000)))
            default: InterceptedResponse(to: request, status: .noContent)
            }
          }
        }
        for path in ["mocked", "fails", "bytes", "long", "empty?q=a%20b&q=%26"] {
          var request = URLRequest(url: url("https://a.test/\(path)"))
          request.httpMethod = "POST"
          request.httpBody = Data("body of \(path)".utf8)
          request.setValue("session=1; theme=dark", forHTTPHeaderField: "Cookie")
          _ = try? await registry.data(for: request)
        }
        let file = directory.appendingPathComponent("all.har")
        try inspector.writeHAR(to: file)
        let (code, output) = try await Program(path: python).run(["-c", Self.reader, file.path])
        #expect(code == 0, "\(output)")
        let sizes = inspector.har().entries.map { $0.response.body.data.count }
        let lines = [
          "https://a.test/mocked 200", "https://a.test/fails 0", "https://a.test/bytes 200", "https://a.test/long 200",
          "https://a.test/empty?q=a%20b&q=%26 204",
        ]
        #expect(
          output.split(separator: "\n").map(String.init)
            == zip(lines, sizes).map { "POST \($0) \($1) True True ['session', 'theme']" })
        #expect(sizes == [sizes[0], 0, 256, 1_000, 0] && sizes[0] > 10)
      }
    }
  }
#endif
