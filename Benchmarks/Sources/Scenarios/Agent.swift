import Foundation

/// What a coding agent waits for: `waylay mcp`, in a process of its own.
extension Scenario {
  static func agent() -> [Scenario] {
    [
      Scenario(
        "agent: search_requests among 10000 requests", against: "inspector: search among 100000 exchanges"
      ) { try await Agent.shared.search() }.large()
    ]
  }

  /// The processor time of the program that a scenario runs, in microseconds.
  public static var programTime: Double {
    get async { await Agent.shared.time }
  }
}

private actor Agent {
  static let shared = Agent()
  private var running: (process: Process, input: FileHandle, output: FileHandle)?

  /// Its processor time in microseconds.
  var time: Double {
    #if os(Linux)
      var (clock, time) = (clockid_t(), timespec())
      guard let process = running?.process, clock_getcpuclockid(process.processIdentifier, &clock) == 0,
        clock_gettime(clock, &time) == 0
      else { return 0 }
      return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    #else
      return 0
    #endif
  }

  /// Has 10 000 requests searched, and waits for the line of the response.
  func search() throws {
    let (_, input, output) = try running ?? start()
    let call =
      #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_requests","arguments":{"query":"status:404 host:api3.example.com header:json"}}}"#
    try input.write(contentsOf: Data((call + "\n").utf8))
    var response = Data()
    while response.last != UInt8(ascii: "\n") {
      let bytes = output.availableData
      guard !bytes.isEmpty else { throw URLError(.unknown) }
      response += bytes
    }
    guard response.range(of: Data(#""isError":false"#.utf8)) != nil else { throw URLError(.cannotParseResponse) }
  }

  private func start() throws -> (process: Process, input: FileHandle, output: FileHandle) {
    let folder = Scratch.folder()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent("many.har")
    let entries = (0..<10_000).map { number in
      """
      {"startedDateTime":"2026-05-04T09:30:00Z","time":12,"request":{"method":"GET","httpVersion":"HTTP/2","headers":\
      [{"name":"Accept","value":"application/json"}],"url":"https://api\(number % 7).example.com/v1/things/\(number)"},\
      "response":{"status":\(number % 77 == 0 ? 404 : 200),"httpVersion":"HTTP/2","headers":[{"name":"Content-Type",\
      "value":"application/json"}],"content":{"size":9,"mimeType":"application/json","text":"{\\"id\\":\(number)}"}}}
      """
    }
    try Data(#"{"log":{"version":"1.2","entries":[\#(entries.joined(separator: ","))]}}"#.utf8).write(to: file)
    let (process, input, output) = (Process(), Pipe(), Pipe())
    // Built beside this program.
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("waylay")
    process.arguments = ["mcp", file.path]
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    let started = (process, input.fileHandleForWriting, output.fileHandleForReading)
    running = started
    return started
  }
}
