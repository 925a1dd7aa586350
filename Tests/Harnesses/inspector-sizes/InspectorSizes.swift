import ArgumentParser
import Foundation
import WaylayInspector

/// Measures an inspector at full size, and fails where it is over its bounds. `Scripts/nightly.sh sizes` runs it.
@main
struct InspectorSizes: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspector-sizes", abstract: "An inspector with a million exchanges, and with 10 GiB of bodies.",
    subcommands: [Search.self, Bodies.self])

  /// The most memory this process has had so far, in bytes; `nil` where the system does not say.
  static var peak: Int? { status("VmHWM:") }

  /// The memory that this process has now.
  static var memory: Int? { status("VmRSS:") }

  private static func status(_ name: String) -> Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
    else { return nil }
    return line.split(separator: "\t").last.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
  }

  static func megabytes(_ bytes: Int?) -> String { bytes.map { "\($0 / 1_000_000) MB" } ?? "unknown" }
}

/// Answers each request at once.
struct Answering: RequestInterceptor {
  let answer: @Sendable (InterceptedRequest) -> InterceptedResponse

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    answer(request)
  }
}
