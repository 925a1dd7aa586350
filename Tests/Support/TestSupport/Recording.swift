import Foundation
package import Logging
import WaylayCore

/// What a test run has said, in log lines, events, descriptions, errors and the output of programs: all of it is
/// searched for what must not be there.
///
/// Secrets that tests plant contain ``mark``. What is recorded goes through ``note(_:)``: every line, at any level, of
/// loggers that are made by `Logger.recording`, or by `Logger(label:)`, and of registries, archives and rewriters
/// without a logger of their own. When the process ends and a mark was found, it says where, and the run fails. With
/// `WAYLAY_SEARCHED`, it says how many texts it has searched, which `Scripts/secrets.sh` wants to see; otherwise the
/// last line is Testing's own, with the tests that passed, the known issues and the seconds.
package enum Recording {
  /// What every planted secret contains, so that its bytes can be found.
  package static let mark = "pl4nted"
  /// The exit code of a process that has found one.
  package static let exitCode: Int32 = 70

  private struct State {
    var count = 0
    var finds: [String] = []
    var awaited: [String: Int] = [:]
  }

  private static let state = Locked(State())

  /// Sees to it that all that is logged is recorded, and searched at the end. Once per process.
  package static let begin: Void = {
    LoggingSystem.bootstrap { _ in RecordingHandler(add: { _ in }) }
    FallbackLogger.current = Logger(label: "whatever has none")
    atexit {
      let (count, finds) = Recording.state.withLock { ($0.count, $0.finds) }
      guard !finds.isEmpty || ProcessInfo.processInfo.environment["WAYLAY_SEARCHED"] != nil else { return }
      let list =
        finds.isEmpty ? "none was found." : "\(finds.count) were found:\n" + finds.prefix(20).joined(separator: "\n")
      FileHandle.standardError.write(Data("searched \(count) recorded texts for planted secrets: \(list)\n".utf8))
      if !finds.isEmpty { _exit(Recording.exitCode) }
    }
  }()

  /// Records a text.
  package static func note(_ text: String) {
    _ = begin
    let isFind = text.utf8.count >= mark.utf8.count && text.contains(mark)
    state.withLock { state in
      state.count += 1
      if isFind { state.finds.append(String(text.prefix(500))) }
      for awaited in state.awaited.keys where text.contains(awaited) { state.awaited[awaited, default: 0] += 1 }
    }
  }

  /// How many of the texts that are recorded during some work hold a text that nobody else says.
  package static func count(of text: String, during work: () async throws -> Void) async rethrows -> Int {
    _ = begin
    state.withLock { $0.awaited[text] = 0 }
    defer { state.withLock { _ = $0.awaited.removeValue(forKey: text) } }
    try await work()
    return state.withLock { $0.awaited[text] ?? 0 }
  }

  /// Records what an error says, and what is beneath it: all of it, but the text that Foundation makes of a `URLError`
  /// with the URL that failed.
  package static func note(_ error: any Error) {
    note(error.localizedDescription)
    note(error.redacted)
    if error is any LoadError {
      note(String(describing: error))
      note(String(reflecting: error))
      note("\([error])")
    }
    let beneath: (any Error)? =
      switch error {
      case let error as any LoadError: error.underlying
      case let error as URLError: error.userInfo[NSUnderlyingErrorKey] as? any Error
      default: nil
      }
    if let beneath, beneath is any LoadError { note(beneath) }
  }
}

/// Gives every line, with its metadata, to a closure and to ``Recording``.
package struct RecordingHandler: LogHandler {
  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?
  package var logLevel = Logger.Level.trace
  private let add: @Sendable (String) -> Void

  package init(add: @escaping @Sendable (String) -> Void) {
    self.add = add
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
      .joined()
    let line = "\(event.level) \(event.message)\(all)"
    Recording.note(line)
    add(line)
  }
}

extension Logger {
  /// A logger whose lines, `level message key=value…`, go to a list and are searched for planted secrets.
  package static func recording(_ lines: Log<String>? = nil) -> Logger {
    recording { lines?.add($0) }
  }

  /// A logger whose lines go to a closure and are searched for planted secrets.
  package static func recording(_ add: @escaping @Sendable (String) -> Void) -> Logger {
    _ = Recording.begin
    return Logger(label: "test") { _ in RecordingHandler(add: add) }
  }
}
