import Foundation
import WaylayHAR

extension Cassette {
  /// The error for a request without an unused matching entry.
  func miss(_ asked: ComparedRequest, in state: State) -> MockError { asked.reporting { report(asked, in: state) } }

  private func report(_ asked: ComparedRequest, in state: State) -> MockError {
    let request = "\(asked.method) \(Redaction.shown(asked.url.url))"
    let fitting = state.tracks.filter { $0.accepts(asked, options.matching) && options.accepts($0, asked) }
    guard fitting.isEmpty else {
      let list = fitting.prefix(3).map { "\n  \($0)" }.joined() + (fitting.count > 3 ? "\n  …" : "")
      let count =
        fitting.count == 1
        ? "1 entry for it, which is used up" : "\(fitting.count) entries for it, which are used up"
      return MockError(
        .exhausted,
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
      text += nearest(to: asked, in: state.tracks).map { "\n  \($0.0)\n" + $0.1.lines }.joined()
    }
    if asked.body.count <= 2048 { text += "\nThe request:\n  \(asked.request.curlCommand(isMultiline: false))" }
    text +=
      "\nRecord new requests (WAYLAY_RECORD=newEpisodes swift test), or re-record all (WAYLAY_RECORD=all swift test)."
    return MockError(.unmatched, text, location: location)
  }

  /// The entries with the smallest differences.
  private func nearest(to asked: ComparedRequest, in tracks: [Track]) -> [(Track, [Mismatch])] {
    let all = tracks.map { track -> (Track, [Mismatch]) in
      let found = track.mismatches(asked, options.matching)
      return (
        track,
        found.isEmpty
          ? [Mismatch("matcher", expected: "true", actual: "the closure returned false", distance: 0.5)] : found
      )
    }
    return Array(all.sorted { ($0.1.distance, $0.0.number) < ($1.1.distance, $1.0.number) }.prefix(3))
  }
}

extension Track: CustomStringConvertible {
  var description: String {
    let status = entry.response.status == 0 ? "failed" : "\(entry.response.status)"
    let date =
      entry.started.timeIntervalSince1970 > 0 ? ", " + entry.started.formatted(.iso8601.year().month().day()) : ""
    return "entry \(number): \(question.method) \(Redaction.shown(question.url.url)) (\(status)\(date))"
  }

  /// The differences between a request and the recorded one.
  func mismatches(_ asked: ComparedRequest, _ aspects: Set<Cassette.Aspect>) -> [Mismatch] {
    let order: [Cassette.Aspect] = [.method, .url, .host, .path, .query]
    let named = aspects.subtracting(order + [.body])
    let ordered = order.filter(aspects.contains) + named.sorted { "\($0.kind)" < "\($1.kind)" }
    let all = ordered + (aspects.contains(.body) ? [.body] : [])
    return all.filter { !accepts(asked, [$0]) }.flatMap { mismatches(asked, $0.kind) }
  }

  private func mismatches(_ asked: ComparedRequest, _ aspect: Cassette.Aspect.Kind) -> [Mismatch] {
    switch aspect {
    case .method: return [Mismatch("method", expected: question.method, actual: asked.method, distance: 1)]
    case .url, .host, .path:
      let names =
        switch aspect {
        case .host: ["host"]
        case .path: ["path"]
        default: ["scheme", "port", "host"] + (accepts(asked, [.path]) ? [] : ["path"])
        }
      return question.url.url.urlPattern.mismatches(asked.url).filter { names.contains($0.aspect) }
    case .query: return itemMismatches(question.query, asked.query, "query")
    case .queryItem(let name):
      return itemMismatches(question.query, asked.query, "query").filter { $0.aspect == "query \(name)" }
    case .headerField(let name), .field(let name):
      func shown(_ request: ComparedRequest) -> String {
        request.field(name, inForms: aspect == .field(name)).map { Redaction.field(name, $0) } ?? "no such field"
      }
      return [Mismatch("header \(name)", expected: shown(question), actual: shown(asked), distance: 0.3)]
    case .json, .body: return bodyMismatches(asked)
    }
  }

  private func itemMismatches(
    _ recorded: [QueryItems.Item], _ asked: [QueryItems.Item], _ kind: String
  ) -> [Mismatch] {
    let names = Set(recorded.map(\.name)).union(asked.map(\.name)).sorted()
    return names.compactMap { name in
      let (one, other) = (recorded.filter { $0.name == name }, asked.filter { $0.name == name })
      guard !accepts(one.json, other.json) else { return nil }
      func shown(_ items: [QueryItems.Item]) -> String {
        items.isEmpty ? "no such item" : Redaction.query(name, items.map(\.spelled).joined(separator: "&"))
      }
      return Mismatch("\(kind) \(name)", expected: shown(one), actual: shown(other), distance: 0.3)
    }
  }

  private func bodyMismatches(_ asked: ComparedRequest) -> [Mismatch] {
    switch (question.content, asked.content) {
    case (.json(let recorded), .json(let other)):
      let differences = JSONComparison(recorded).differences(from: other, limit: 20, work: 2_000).map(\.mismatch)
        .filter { !$0.texts.expected.contains(mark) }
      if !differences.isEmpty { return Array(differences.prefix(5)) }
    case (.form(let recorded), .form(let other)):
      let found = itemMismatches(recorded, other, "form field")
      if !found.isEmpty { return found }
    case (.parts(let recorded), .parts(let other)):
      let names = Set((recorded + other).map(\.name)).sorted()
      let found = names.filter { name in
        !accepts(recorded.filter { $0.name == name }.json, other.filter { $0.name == name }.json)
      }
      if !found.isEmpty {
        return found.map { name in
          func shown(_ parts: [MultipartForm.Part]) -> String {
            let parts = parts.filter { $0.name == name }
            guard !parts.isEmpty else { return "no such part" }
            return Redaction.hides(name) ? Redaction.mark : parts.map { self.shown($0.body) }.joined(separator: ", ")
          }
          return Mismatch("part \(name)", expected: shown(recorded), actual: shown(other), distance: 0.3)
        }
      }
    default: break
    }
    let place = question.body.commonPrefix(with: asked.body)
    let name = question.body.isEmpty || asked.body.isEmpty ? "body" : "body from byte \(place)"
    return [Mismatch(name, expected: shown(question.body), actual: shown(asked.body), distance: 0.6)]
  }

  private func shown(_ body: Data) -> String {
    guard !body.isEmpty else { return "none" }
    return String(data: body, encoding: .utf8).map { Excerpt.ofText($0) } ?? "\(body.count) bytes"
  }
}

extension Data {
  /// The number of bytes at the beginning that are those of other data, too.
  fileprivate func commonPrefix(with other: Data) -> Int {
    var (same, end) = (0, Swift.min(count, other.count))
    while same < end {
      let middle = (same + end + 1) / 2
      if dropFirst(same).prefix(middle - same) == other.dropFirst(same).prefix(middle - same) {
        same = middle
      } else {
        end = middle - 1
      }
    }
    return same
  }
}
