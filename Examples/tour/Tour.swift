import Foundation
import TestOrigin
import Waylay

/// A short tour: each scene sends real requests to a real server on loopback and says what it expected to see.
@main
enum Tour {
  private static let help = """
    OVERVIEW: Shows what Waylay does: each scene sends real requests to a server on loopback, and says what it expected.

    Nothing leaves this machine. Exits with 1 when a scene saw something else, and prints where the report page of its \
    traffic is.

    USAGE: tour [--list]

    OPTIONS:
      --list                  Print the titles of the scenes.
      -h, --help              Show help information.
    """

  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    for argument in arguments {
      switch argument {
      case "-h", "--help": return print(help)
      case "--list": return print(scenes.map(\.title).joined(separator: "\n"))
      default:
        FileHandle.standardError.write(Data("Error: Unknown argument '\(argument)'\n\n\(help)\n".utf8))
        // EX_USAGE of sysexits.h, as programs with the argument parser exit.
        exit(64)
      }
    }
    let origin = try await TestOrigin.start()
    print("A server listens on \(origin.url()). All sessions below are ordinary URLSessions.\n")
    var failed = 0
    for scene in scenes {
      let report = Report(scene.title)
      do {
        try await scene.play(origin, report)
      } catch {
        report.expect("no error", was: "\(error)", false)
      }
      report.print()
      if !report.isAsExpected { failed += 1 }
    }
    await origin.stop()
    print(
      failed == 0
        ? "All \(scenes.count) scenes saw what they expected."
        : "\(failed) of \(scenes.count) scenes saw something else.")
    exit(failed == 0 ? 0 : 1)
  }

  static let scenes: [Scene] =
    [.mock, .retry, .answer, .canonicalisation, .loopGuard, .redirect, .stream, .page] + archiveScenes + platformScenes
}

/// One scene of the tour.
struct Scene: Sendable {
  let title: String
  let play: @Sendable (TestOrigin, Report) async throws -> Void
}
