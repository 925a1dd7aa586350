/// An app and its UI test, two processes: `swift run --enable-all-traits remote-control`.
@main
enum RemoteControlExample {
  static func main() async throws {
    if CommandLine.arguments.dropFirst().first == "app" { try await App.run() } else { try await UITest.run() }
  }
}
