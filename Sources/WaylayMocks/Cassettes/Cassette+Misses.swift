import Foundation
import WaylayHAR

extension Cassette {
  /// What is said to a request that no entry is for, or no more.
  func miss(_ asked: ComparedRequest, in state: State) -> MockError {
    let request = "\(asked.method) \(Redaction.shown(asked.url.url))"
    let fitting = state.tracks.filter { $0.accepts(asked, options.matching) }
    guard fitting.isEmpty else {
      let list = fitting.prefix(3).map { "\n  \($0)" }.joined() + (fitting.count > 3 ? "\n  …" : "")
      let count =
        fitting.count == 1
        ? "1 entry for it, which is used up" : "\(fitting.count) entries for it, which are used up"
      return MockError(
        .usedUp,
        "\(request) has been played already: the cassette \(file.lastPathComponent) has \(count).\(list)\n"
          + "Find out why the request was made again, re-record everything (WAYLAY_RECORD=all swift test), or allow "
          + "the last response to repeat (Cassette.Options.allowsRepeats).", location: location)
    }
    var text = "No entry of the cassette \(file.lastPathComponent) matches \(request)"
    if state.tracks.isEmpty {
      text += ": the cassette is empty."
    } else {
      let count = state.tracks.count
      text += "\nNearest of \(count) \(count == 1 ? "entry" : "entries"):"
      text += nearest(to: asked, in: state.tracks).map { "\n  \($0.0)\n" + Mismatch.lines($0.1) }.joined()
    }
    text +=
      "\nRecord new requests (WAYLAY_RECORD=newEpisodes swift test), or re-record all (WAYLAY_RECORD=all swift test)."
    return MockError(.unmatched, text, location: location)
  }

  /// The entries that differ least.
  private func nearest(to asked: ComparedRequest, in tracks: [Track]) -> [(Track, [Mismatch])] {
    let all = tracks.map { ($0, $0.mismatches(asked, options.matching)) }
    return Array(all.sorted { ($0.1.distance, $0.0.number) < ($1.1.distance, $1.0.number) }.prefix(3))
  }
}

extension Track: CustomStringConvertible {
  /// The entry on one line.
  var description: String {
    let status = entry.response.status == 0 ? "failed" : "\(entry.response.status)"
    let date =
      entry.started.timeIntervalSince1970 > 0 ? ", " + entry.started.formatted(.iso8601.year().month().day()) : ""
    return "entry \(number): \(question.method) \(Redaction.shown(question.url.url)) (\(status)\(date))"
  }

  /// How a request differs from what was recorded.
  func mismatches(_ asked: ComparedRequest, _ aspects: Set<Cassette.Aspect>) -> [Mismatch] {
    let order: [Cassette.Aspect] = [.method, .url, .host, .path, .query]
    let headers = aspects.filter { if case .header = $0.kind { true } else { false } }
    let ordered = order.filter(aspects.contains) + headers.sorted { "\($0.kind)" < "\($1.kind)" }
    let all = ordered + (aspects.contains(.body) ? [.body] : [])
    return all.filter { !accepts(asked, [$0]) }.flatMap { mismatches(asked, $0.kind) }
  }

  private func mismatches(_ asked: ComparedRequest, _ aspect: Cassette.Aspect.Kind) -> [Mismatch] {
    let (recorded, other) = (question.url, asked.url)
    switch aspect {
    case .method: return [Mismatch("method", expected: question.method, actual: asked.method, distance: 1)]
    case .url:
      var found: [Mismatch] = []
      if recorded.scheme != other.scheme {
        found.append(Mismatch("scheme", expected: recorded.scheme, actual: other.scheme, distance: 0.5))
      } else if recorded.port != other.port {
        found.append(Mismatch("port", expected: "\(recorded.port)", actual: "\(other.port)", distance: 0.7))
      }
      for part in [Cassette.Aspect.host, .path] where !accepts(asked, [part]) { found += mismatches(asked, part.kind) }
      return found
    case .host:
      let distance = 1 + TextDistance.between(recorded.host, other.host)
      return [Mismatch("host", expected: recorded.host, actual: other.host, distance: distance)]
    case .path:
      let distance = 2 * TextDistance.between(recorded.path, other.path)
      return [Mismatch("path", expected: recorded.path, actual: other.path, distance: distance)]
    case .query: return queryMismatches(asked)
    case .header(let name):
      func shown(_ value: String?) -> String { value.map { Redaction.field(name, $0) } ?? "no such field" }
      return [
        Mismatch(
          "header \(name)", expected: shown(question.header(name)), actual: shown(asked.header(name)), distance: 0.3)
      ]
    case .body: return bodyMismatches(asked)
    }
  }

  private func queryMismatches(_ asked: ComparedRequest) -> [Mismatch] {
    let names = Set(question.query.map(\.name)).union(asked.query.map(\.name)).sorted()
    return names.compactMap { name in
      let (one, other) = (question.query.filter { $0.name == name }, asked.query.filter { $0.name == name })
      guard one != other else { return nil }
      func shown(_ items: [QueryItems.Item]) -> String {
        items.isEmpty ? "no such item" : Redaction.query(name, items.map(\.spelled).joined(separator: "&"))
      }
      return Mismatch("query \(name)", expected: shown(one), actual: shown(other), distance: 0.3)
    }
  }

  private func bodyMismatches(_ asked: ComparedRequest) -> [Mismatch] {
    if case .json(let recorded) = question.content, case .json(let other) = asked.content {
      let differences = JSONComparison().differences(other, recorded).filter { !$0.expected.contains(mark) }
      if !differences.isEmpty {
        return differences.prefix(5).map {
          Mismatch(
            "body at \($0.path)", expected: Excerpt.of($0.expected), actual: Excerpt.of($0.actual), distance: 0.2)
        }
      }
    }
    func shown(_ body: Data) -> String {
      guard !body.isEmpty else { return "none" }
      return String(data: body, encoding: .utf8).map { Excerpt.ofText($0) } ?? "\(body.count) bytes"
    }
    return [Mismatch("body", expected: shown(question.body), actual: shown(asked.body), distance: 0.6)]
  }
}

extension Mismatch {
  /// Differences, below what differs.
  static func lines(_ mismatches: [Mismatch]) -> String {
    let width = mismatches.map(\.aspect.count).max() ?? 0
    return mismatches.map { mismatch in
      let name = mismatch.aspect.padding(toLength: width, withPad: " ", startingAt: 0)
      let indent = String(repeating: " ", count: width)
      return "    \(name)  expected \(mismatch.expected)\n    \(indent)  but was  \(mismatch.actual)"
    }.joined(separator: "\n")
  }
}
