#if CommandLineTool
  import ArgumentParser
  import Foundation
  import WaylayArchive
  import WaylayCore
  import WaylayHAR
  import WaylayHosts
  import WaylayInspector
  import WaylayMocks

  /// `waylay get`.
  struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "get", abstract: "Load a URL: over addresses of your own, out of an archive, or from mocks.",
      discussion: """
        The body goes to standard output, or to a file. Redirects are followed. An HTTP status is no failure unless \
        --fail is given.

        With --json: {"url", "status", "fields": [{"name", "value"}], "source", "bytes", "milliseconds", "address", \
        "protocol", "body" or \
        "bodyBase64" (not with -o)}. "source" is "network", "archive", "stale archive" or "cassette" (--mocks).
        """)
    @Argument(help: "The URL.") var url: String
    @OptionGroup var asked: RequestOptions
    @OptionGroup var ways: RouteOptions
    @Option(help: ArgumentHelp("Keep responses in this archive, and use what it has.", valueName: "directory"))
    var archive: String?
    @Option(
      help: ArgumentHelp("The key of an encrypted archive, in a file. Or in WAYLAY_ARCHIVE_KEY.", valueName: "file"))
    var keyFile: String?
    @Flag(help: "Take what the archive has, whatever its age, and never ask the network.") var offline = false
    @Option(
      name: [.customLong("mocks"), .customLong("mock")],
      help: ArgumentHelp(
        "Answer from an HTTP archive, by method and URL, and never from the network.", valueName: "file"))
    var mocks: String?
    @Option(
      help: ArgumentHelp("Write what was sent and received to an HTTP archive, without credentials.", valueName: "file")
    )
    var har: String?
    @Flag(name: .shortAndLong, help: "Print the head of the response before its body.") var include = false
    @Flag(help: "End with status 1 when the HTTP status is 400 or more.") var fail = false
    @OptionGroup var target: FileOptions
    @OptionGroup var secrets: RedactionOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
      if offline, archive == nil { throw ValidationError("--offline needs an archive: name it with --archive.") }
      if mocks != nil, archive != nil {
        throw ValidationError(
          "--mocks answers every request: leave out --archive, where its responses would be stored.")
      }
      if include, common.json { throw ValidationError("--json includes the head: leave out -i.") }
    }

    func run() async throws {
      let request = try asked.request(to: Addresses.url(url))
      let output = try target.file()
      let trace = try har.map { try OutputFile($0, mayReplace: target.force) }
      // A few loads at most: redirects, and attempts at addresses.
      let limits = Inspector.Limits(exchanges: 1000, bytes: 64 << 20, bodyBytes: 16 << 20)
      let inspector = Inspector(limits: limits, redaction: secrets.redaction)
      let cache = try openArchive()
      let mocked = try mocks.map { try Self.cassette($0) }
      let rewriter = try ways.rewriter(for: request.url)
      let registry = InterceptorRegistry(
        transport: try Transports.make(authority: ways.authority()), configuration: .ephemeral
      ) {
        if trace != nil { inspector }
        if let cache { cache }
        if let mocked { mocked }
        if let rewriter { rewriter }
        if trace != nil { inspector.attempts }
      }
      let result: Result<Int, any Error>
      do { result = .success(try await load(request, registry, output)) } catch { result = .failure(error) }
      registry.invalidate()
      await cache?.close()
      if let trace { try trace.write(inspector) }
      let status = try result.get()
      if fail, status >= 400 {
        throw ToolFailure(.failed, "status", "the server responded with status \(status).")
      }
    }

    /// Plays an HTTP archive, as often as asked.
    private static func cassette(_ path: String) throws -> Cassette {
      let file = URL(fileURLWithPath: path)
      guard FileManager.default.fileExists(atPath: file.path) else {
        throw ToolFailure(.files, "mocks.missing", "there is no \(path): name an HTTP archive.")
      }
      // Says what is wrong with the file; a cassette says how to record it in a test.
      _ = try HAR(named: path)
      var options = Cassette.Options()
      options.unused = .ignore
      options.allowsRepeats = true
      let cassette = Cassette(file.path, mode: .none, options: options)
      if let issue = cassette.issues.first { throw ToolFailure(.files, "mocks.unreadable", issue.message) }
      return cassette
    }

    private func openArchive() throws -> ArchiveCache? {
      guard let archive else { return nil }
      let key = try KeyFile.key(keyFile, variable: "WAYLAY_ARCHIVE_KEY")
      // What is only read is not made, and an app may have it open.
      let store = try ArchiveOptions.open(archive, key, isReadOnly: offline)
      let cache = ArchiveCache(store: store)
      if offline { cache.mode = .offline }
      return cache
    }

    private func load(_ request: URLRequest, _ registry: InterceptorRegistry, _ output: OutputFile?) async throws -> Int
    {
      let start = ContinuousClock.now
      let body: MessageBody? = try asked.body().map { .data($0) }
      let response = try await registry.load(request, body: body)
      let status = response.status.code
      let metrics = response.metrics
      if common.json, output == nil {
        let data: Data
        do { data = try await response.body.collect(upTo: 256 << 20) } catch let error as WaylayError
          where error.code == .bodyTooLarge
        {
          throw ToolFailure(
            .failed, "bodyTooLarge", "the body is too large for a JSON object: write it to a file with -o.")
        }
        try Output.json(GetReport(response, metrics, Int64(data.count), start, data))
        return status
      }
      if include { try Output.text(Self.head(response, metrics)) }
      let bar = ProgressBar(expected: response.body.length, isShown: output != nil || isatty(STDOUT_FILENO) == 0)
      defer { bar.end() }
      var count: Int64 = 0
      try await BodyPrinter.print(response.body, to: output) { received in
        count = received
        bar.update(received)
      }
      if common.json { try Output.json(GetReport(response, metrics, count, start, nil)) }
      return status
    }

    private static func head(_ response: InterceptedResponse, _ metrics: LoadMetrics?) -> String {
      let version = metrics?.protocolName.map { $0.lowercased().hasPrefix("h2") ? "HTTP/2" : "HTTP/1.1" } ?? "HTTP/1.1"
      let reason = response.status.reasonPhrase
      let lines = response.fields.map { Output.shown("\($0.name.rawName): \($0.value)") }
      return
        (["\(version) \(response.status.code)" + (reason.isEmpty ? "" : " \(Output.shown(reason))")] + lines + ["", ""])
        .joined(separator: "\r\n")
    }
  }

  /// What `get --json` says.
  private struct GetReport: Encodable {
    struct Field: Encodable {
      let name: String
      let value: String
    }

    let url: String
    let status: Int
    let fields: [Field]
    let source: String
    let bytes: Int64
    let milliseconds: Double
    let address: String?
    let `protocol`: String?
    let body: String?
    let bodyBase64: String?

    init(
      _ response: InterceptedResponse, _ metrics: LoadMetrics?, _ bytes: Int64, _ start: ContinuousClock.Instant,
      _ data: Data?
    ) {
      url = response.url.absoluteString
      status = response.status.code
      fields = response.fields.map { Field(name: $0.name.rawName, value: $0.value) }
      source = response.source.description
      self.bytes = bytes
      milliseconds = start.duration(to: .now) / .milliseconds(1)
      address = metrics?.address
      `protocol` = metrics?.protocolName
      body = data.flatMap { String(data: $0, encoding: .utf8) }
      bodyBase64 = body == nil ? data?.base64EncodedString() : nil
    }
  }

  /// A bar on standard error, for a load that takes a while; on a terminal alone.
  final class ProgressBar {
    private let expected: Int64?
    private let isShown: Bool
    private let start = ContinuousClock.now
    private var last: Duration = .zero
    private var isDrawn = false

    init(expected: Int64?, isShown: Bool) {
      self.expected = expected
      self.isShown = isShown && isatty(STDERR_FILENO) == 1
    }

    /// Draws it anew, some ten times a second, once half a second is over.
    func update(_ received: Int64) {
      guard isShown else { return }
      let elapsed = start.duration(to: .now)
      guard elapsed > .milliseconds(500), elapsed - last > .milliseconds(100) else { return }
      last = elapsed
      isDrawn = true
      FileHandle.standardError.write(Data(("\r\u{1B}[K" + Self.text(received, of: expected, in: elapsed)).utf8))
    }

    func end() {
      if isDrawn { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
    }

    /// What it says.
    static func text(_ received: Int64, of expected: Int64?, in elapsed: Duration) -> String {
      let seconds = max(elapsed / .seconds(1), 0.001)
      let speed = "\(size(Double(received) / seconds))/s"
      guard let expected, expected > 0 else { return "\(size(Double(received)))  \(speed)" }
      let share = min(max(Double(received) / Double(expected), 0), 1)
      let filled = Int(share * 30)
      let bar = String(repeating: "#", count: filled) + String(repeating: " ", count: 30 - filled)
      return "[\(bar)] \(Int(share * 100)) %  \(size(Double(received))) of \(size(Double(expected)))  \(speed)"
    }

    private static func size(_ bytes: Double) -> String {
      for (unit, name) in [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")] where bytes >= unit {
        return String(format: "%.1f", bytes / unit) + " " + name
      }
      return "\(Int(bytes)) bytes"
    }
  }
#endif
