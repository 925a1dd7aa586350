/// An explanation of how a ``HostRewriter`` would route a URL now. Its ``description`` is a human-readable table.
///
/// ```swift
/// print(await rewriter.explain(url))
/// // api.example.com:443, rule "api.example.com: 203.0.113.7, 2001:db8::7", then the system's resolver
/// // 1  203.0.113.7:443    rule  proven  12.4 ms
/// // 2  [2001:db8::7]:443  rule  untried
/// ```
public struct HostExplanation: Sendable, CustomStringConvertible {
  /// The host and port of the URL; `nil` for a URL without a host.
  public let host: String?
  /// The rule that matches the host; `nil` if none does and the request is left alone.
  public let rule: HostRule?
  /// The addresses in the order in which they would be tried.
  public var candidates: [HostCandidate] { rows.map(\.candidate) }
  /// The addresses with their health records.
  package let rows: [Row]
  /// The text above the table: the rule and the fallback.
  public let summary: String
  /// Why a routed host has no addresses; `nil` otherwise.
  public let error: (any Error)?

  /// One address.
  package struct Row: Sendable, Hashable {
    /// The address and its source.
    package let candidate: HostCandidate
    /// A human-readable summary of its record: `proven`, `untried`, `banned: certificate refused`.
    package let state: String
    /// The smoothed time for connecting and the TLS handshake.
    let handshake: Duration?
    /// How long the address is banned from now on; `nil` if it is not banned.
    let ban: Duration?
  }

  /// The summary and the table.
  public var description: String {
    let cells = rows.enumerated().map { index, row in
      let source = row.candidate.source + (row.candidate.age.map { ", \($0.components.seconds) s old" } ?? "")
      return [
        "\(index + 1)", row.candidate.description, source + (row.candidate.isStale ? ", stale" : ""), row.state,
        row.handshake.map { "\($0.milliseconds) ms" } ?? "", row.ban.map { "for \($0.components.seconds) s" } ?? "",
      ]
    }
    let lines = Self.table(cells)
    return ([summary] + lines + (error.map { ["error: \($0)"] } ?? [])).joined(separator: "\n")
  }

  /// Aligns rows of cells in columns; returns the lines.
  static func table(_ rows: [[String]]) -> [String] {
    guard let first = rows.first else { return [] }
    let widths = first.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let line = zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
        .joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }
}

extension HostExplanation {
  init(_ host: String?, _ summary: String, rule: HostRule? = nil, rows: [Row] = [], error: (any Error)? = nil) {
    self.init(host: host, rule: rule, rows: rows, summary: summary, error: error)
  }
}

extension [HostAttempt] {
  /// The attempts as a human-readable table: address, source, outcome, times.
  public var table: String {
    HostExplanation.table(
      [["address", "source", "outcome", "started", "took"]]
        + map { attempt in
          [
            attempt.candidate?.description ?? "the system's resolver", attempt.candidate?.source ?? "",
            attempt.outcome.description + (attempt.isSuspectedHijack ? " (suspected hijack)" : ""),
            "\(attempt.start.milliseconds) ms",
            "\(attempt.duration.milliseconds) ms",
          ]
        }
    ).joined(separator: "\n")
  }
}
