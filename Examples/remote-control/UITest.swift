import Foundation
import WaylayRemoteControl

/// The UI test: launches the app in a process of its own, and stubs what that requests.
enum UITest {
  static func run() async throws {
    let remote = RemoteControl { Stub(.get, "/versions", .text("closed", status: 503)) }
    let app = try RunningApp(environment: remote.invitation)
    print("at launch:", try app.open("https://shop.example/versions"))

    try await remote.stubs { Stub(.get, "/orders", .json(["tea"])) }
    print("stubbed:", try app.open("https://shop.example/orders"))

    try await remote.set(.offline)
    print("offline:", try app.open("https://shop.example/orders"))
    try await remote.resetConditions()

    print("requests of /orders:", try await remote.requests(to: "/orders").count)
    try await remote.verify()
    app.end()
  }
}

/// The app, in the place of an `XCUIApplication`.
struct RunningApp {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  init(environment: [String: String]) throws {
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = ["app"]
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
  }

  /// Lets the app request a URL, and returns the line that it prints.
  func open(_ url: String) throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data((url + "\n").utf8))
    var line = Data()
    while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) { line += byte }
    return String(decoding: line, as: UTF8.self)
  }

  func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
