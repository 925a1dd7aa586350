import Foundation
import Testing
import Waylay
import WaylayHAR
import WaylayInspectorServer

/// What `print(error)` shows, for every public type of error.
@Suite("The text of an error")
struct ErrorTextTests {
  /// What stands beneath must not be printed: it may say anything.
  private struct Talkative: Error, CustomStringConvertible {
    let description = "s3cret"
  }

  private static let url = "https://user:s3cret@example.com/a?token=s3cret#s3cret"

  private static func samples() throws -> [any Error] {
    let url = try #require(URL(string: url))
    let message = "the answer of \(url) cannot be used: ask again."
    let beneath = Talkative()
    return [
      WaylayError(.invalidResponse, message, interceptor: "Retry", url: url, underlying: beneath),
      TransportError(
        .cannotConnectToHost, phase: .connecting, address: "203.0.113.7:443", message: message, underlying: beneath),
      ArchiveError(.notStored, message, url: url, underlying: beneath),
      HostError(.noSuchHost, message, host: "example.com", underlying: beneath),
      MockError(.unmatched, "no stub matches GET https://example.com/a", underlying: beneath),
      HARError(.unreadable, "it ends too early", file: URL(fileURLWithPath: "/home/s3cret/a.har"), underlying: beneath),
    ]
  }

  @Test("is one line with its code and what to do, the same for print, in collections and in a failed #expect")
  func shape() throws {
    for error in try Self.samples() {
      let text = "\(error)"
      #expect(String(reflecting: error) == text)
      #expect("\([error])" == "[\(text)]")
      #expect(!text.contains("\n") && text.count > 20 && text.count < 300, "\(text)")
      for noise in ["Optional(", "Error(", "Code(", "rawValue", "Waylay.", "WaylayCore.", "s3cret", "nil"] {
        #expect(!text.contains(noise), "\(noise) in \(text)")
      }
      #expect(!error.localizedDescription.contains("could not be completed"), "\(error.localizedDescription)")
      #expect(!error.localizedDescription.contains("s3cret"), "\(error.localizedDescription)")
      #expect(!error.localizedDescription.contains("Error."), "\(error.localizedDescription)")
    }
  }

  @Test("begins with type and code for every error that comes beneath a URLError")
  func begin() throws {
    for case let error as any LoadError in try Self.samples() {
      #expect("\(error)".wholeMatch(of: /[A-Z][A-Za-z]+Error\.[a-zA-Z]+: .+/) != nil, "\(error)")
    }
  }

  /// A type that is added has to be added here.
  @Test("is looked at for every public type of error there is")
  func complete() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources")
    var found: Set<String> = []
    let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
    for case let file as URL in files ?? .init() where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for match in text.matches(of: /public (?:struct|enum|final class) (\w+): (?:[^{]*, )?(?:Load)?Error\b/) {
        found.insert(String(match.1))
      }
    }
    // These are made by their own modules alone; their text is that of the protocol.
    let seen = try Set(Self.samples().map { "\(type(of: $0))" }).union([
      "StatusError"
    ])
    #expect(found == seen)
  }
}
