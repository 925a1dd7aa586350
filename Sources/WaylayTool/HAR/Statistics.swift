import Foundation
import WaylayHAR

/// What an archive holds, counted entry by entry, with memory that does not grow with the archive.
struct Statistics {
  /// Names that are counted one by one; the rest together.
  private static let mostNames = 10_000

  private let most: Int
  private let redaction: Redaction
  private var counted = StatisticsReport()
  private var hosts = Tally()
  private var statuses = Tally()
  private var methods = Tally()
  private var types = Tally()

  init(most: Int, redaction: Redaction) {
    self.most = most
    self.redaction = redaction
  }

  /// What was counted so far.
  var report: StatisticsReport {
    var report = counted
    (report.hosts, report.statuses, report.methods, report.types) = (
      hosts.rows, statuses.rows, methods.rows, types.rows
    )
    return report
  }

  mutating func add(_ entry: HAR.Entry, _ number: Int) {
    let (request, response) = (entry.request, entry.response)
    let sent = request.body.map { max($0.size, $0.data.count) } ?? 0
    let received = max(response.body.size, response.body.data.count, 0)
    counted.entries += 1
    counted.requestBytes = counted.requestBytes.addingSaturating(sent)
    counted.responseBytes = counted.responseBytes.addingSaturating(received)
    if response.status == 0 { counted.failed += 1 }
    if response.body.isTruncated { counted.cutOff += 1 }
    counted.started = min(counted.started ?? entry.started, entry.started)
    let time = entry.time.isFinite ? max(0, entry.time) : 0
    counted.milliseconds += time
    let end = entry.started.addingTimeInterval(time / 1000)
    counted.ended = max(counted.ended ?? end, end)
    hosts.add(URL(string: request.url)?.host ?? "(none)", received)
    statuses.add(response.status == 0 ? "(no answer)" : "\(response.status)", received)
    methods.add(request.method, received)
    let type = response.body.mediaType.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    types.add(type.isEmpty ? "(none)" : type, received)
    guard most > 0, counted.slowest.count < most || time > counted.slowest[counted.slowest.count - 1].milliseconds
    else { return }
    let slow = StatisticsReport.Slow(
      entry: number, url: redaction.shown(request.url), status: response.status, milliseconds: time)
    let place = counted.slowest.firstIndex { $0.milliseconds < time } ?? counted.slowest.count
    counted.slowest.insert(slow, at: place)
    if counted.slowest.count > most { counted.slowest.removeLast() }
  }

  private struct Tally {
    private var counts: [String: (count: Int, bytes: Int)] = [:]

    mutating func add(_ name: String, _ bytes: Int) {
      let name = String(name.prefix(200))
      let key = counts[name] != nil || counts.count < Statistics.mostNames ? name : "(others)"
      let now = counts[key] ?? (0, 0)
      counts[key] = (now.count + 1, now.bytes.addingSaturating(bytes))
    }

    var rows: [StatisticsReport.Row] {
      counts.map { StatisticsReport.Row(name: $0.key, count: $0.value.count, bytes: $0.value.bytes) }
        .sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    }
  }
}

extension Int {
  /// The sum, or the largest number there is: what a file says of a size may be anything.
  fileprivate func addingSaturating(_ other: Int) -> Int {
    let (sum, isOver) = addingReportingOverflow(other)
    return isOver ? .max : sum
  }
}

/// What `har stats` says.
struct StatisticsReport: Encodable {
  struct Row: Encodable {
    let name: String
    let count: Int
    let bytes: Int
  }

  struct Slow: Encodable {
    let entry: Int
    let url: String
    let status: Int
    let milliseconds: Double
  }

  var entries = 0
  var requestBytes = 0
  var responseBytes = 0
  /// Exchanges without an answer.
  var failed = 0
  /// Bodies of which the archive has the beginning only.
  var cutOff = 0
  var started: Date?
  var ended: Date?
  /// The time of all exchanges together.
  var milliseconds = 0.0
  var hosts: [Row] = []
  var statuses: [Row] = []
  var methods: [Row] = []
  var types: [Row] = []
  var slowest: [Slow] = []

  var text: String {
    var lines = [
      "\(entries) exchanges, \(requestBytes) bytes sent, \(responseBytes) bytes received, \(Self.time(milliseconds)) "
        + "in all"
    ]
    if let started, let ended { lines.append("from \(started.formatted(.iso8601)) to \(ended.formatted(.iso8601))") }
    if failed > 0 { lines.append("\(failed) without a response") }
    if cutOff > 0 { lines.append("\(cutOff) bodies cut off in the archive") }
    for (title, rows) in [("hosts", hosts), ("statuses", statuses), ("methods", methods), ("types", types)]
    where !rows.isEmpty {
      lines += ["", title] + Table.lines(rows.prefix(20).map { ["  " + $0.name, "\($0.count)", "\($0.bytes) bytes"] })
      if rows.count > 20 { lines.append("  and \(rows.count - 20) more: see --json") }
    }
    if !slowest.isEmpty {
      lines +=
        ["", "slowest"]
        + Table.lines(slowest.map { ["  entry \($0.entry)", Self.time($0.milliseconds), "\($0.status)", $0.url] })
    }
    return lines.joined(separator: "\n")
  }

  private static func time(_ milliseconds: Double) -> String {
    milliseconds < 1000 ? String(format: "%.1f ms", milliseconds) : String(format: "%.2f s", milliseconds / 1000)
  }
}

/// Rows of cells as lines with columns.
enum Table {
  static func lines(_ rows: [[String]]) -> [String] {
    guard let columns = rows.map(\.count).max() else { return [] }
    let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
      return cells.joined(separator: "  ").replacing(/\ +$/, with: "")
    }
  }
}
