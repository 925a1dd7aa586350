import TestSupport
import WaylayCore

/// A logger whose lines can be read.
final class LineLog: Sendable {
  private struct Handler: LogHandler {
    let log: LineLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      Recording.note("\(event.message) \(event.metadata ?? [:])")
      log.state.withLock { $0.append("\(event.level): \(event.message)") }
    }
  }

  private let state = Locked<[String]>([])

  var lines: [String] { state.withLock { $0 } }

  var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }
}
