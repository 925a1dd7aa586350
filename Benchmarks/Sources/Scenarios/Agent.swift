import Foundation

/// What a coding agent waits for: `waylay mcp`, in a process of its own. Left out where the program is not built
/// (swift build -c release --enable-all-traits --product waylay).
extension Scenario {
  static func agent() -> [Scenario] {
    guard FileManager.default.isExecutableFile(atPath: Agent.program) else { return [] }
    let search = "agent: search_requests among 10000 requests"
    return [Scenario(search, against: search) { try await Agent.shared.search() }.large()]
  }
}

private actor Agent {
  static let shared = Agent()
  static let program = "../.build/release/waylay"
  private var pipes: (input: FileHandle, output: FileHandle)?

  /// Has 10 000 requests searched, and waits for the line of the response.
  func search() throws {
    let (input, output) = try pipes ?? start()
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

  private func start() throws -> (input: FileHandle, output: FileHandle) {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString).har")
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
    process.executableURL = URL(fileURLWithPath: Self.program)
    process.arguments = ["mcp", file.path]
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    let pipes = (input.fileHandleForWriting, output.fileHandleForReading)
    self.pipes = pipes
    return pipes
  }
}
