import Foundation
package import Logging
import WaylayCore

/// What a test run has said, in log lines, events, descriptions and errors: all of it is searched for what must not be there.
///
/// Secrets that tests plant contain ``mark``. What is recorded goes through ``note(_:)``; loggers of tests are made by
/// ``Logging/Logger/recording(_:)``, and `Logger(label:)` without a handler of its own records too. When the process ends, the marks that were
/// found are printed, and the run fails.
package enum Recording {
  /// What every planted secret contains, so that its bytes can be found.
  package static let mark = "pl4nted"

  private struct State {
    var count = 0
    var finds: [String] = []
  }

  private static let state = Locked(State())

  /// Sees to it that what is recorded is searched at the end. Once per process.
  package static let begin: Void = {
    LoggingSystem.bootstrap { _ in RecordingHandler(add: { _ in }) }
    atexit {
      let (count, finds) = Recording.state.withLock { ($0.count, $0.finds) }
      guard !finds.isEmpty else { return }
      let text = "planted secrets in \(finds.count) of \(count) recorded texts:\n" + finds.prefix(20).joined(separator: "\n") + "\n"
      FileHandle.standardError.write(Data(text.utf8))
      _exit(70)
    }
  }()

  /// Records a text.
  package static func note(_ text: String) {
    _ = begin
    let isFind = text.utf8.count >= mark.utf8.count && text.contains(mark)
    state.withLock { state in
      state.count += 1
      if isFind { state.finds.append(String(text.prefix(500))) }
    }
  }

  /// Records what an error says, and what is beneath it: all of it, but the text that Foundation makes of a `URLError` with the URL that failed.
  package static func note(_ error: any Error) {
    note(error.localizedDescription)
    note(error.redacted)
    if error is any LoadError || error is any PlainlyDescribedError {
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
    if let beneath, beneath is any LoadError || beneath is any PlainlyDescribedError { note(beneath) }
  }

  /// How many texts have been recorded.
  package static var count: Int { state.withLock { $0.count } }
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
    let all = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    let line = "\(event.level) \(event.message)\(all)"
    Recording.note(line)
    add(line)
  }
}

extension Logger {
  /// A logger whose lines, `level message key=value…`, go to a list and are searched for planted secrets.
  package static func recording(_ lines: Log<String>? = nil) -> Logger {
    _ = Recording.begin
    return Logger(label: "test") { _ in RecordingHandler { lines?.add($0) } }
  }
}
