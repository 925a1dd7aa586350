/// Finds the entries for a request by their compared parts, without comparing each entry.
struct TrackIndex: Sendable {
  /// Entries of equal requests, oldest first.
  private struct Queue {
    /// The hidden values in compared parts: their numbers, or `null`.
    let numbers: [JSONValue]
    var tracks: [Int] = []
    /// The position before which all entries are used.
    var start = 0

    mutating func next(in all: [Track], where fits: (Track) -> Bool) -> Int? {
      while start < tracks.count, all[tracks[start]].uses > 0 { start += 1 }
      return tracks[start...].first { all[$0].uses == 0 && fits(all[$0]) }
    }
  }

  /// Entries of requests that differ in nothing but hidden values.
  private struct Family {
    /// The compared parts of the first request, as recorded.
    let template: [JSONValue]
    let places: [String]
    var queues: [Queue] = []
    private var byNumbers: [[JSONValue]: Int] = [:]
    /// The position before which all queues are used up.
    private var start = 0
    /// The places of which a choice was reported.
    private var told: Set<String> = []

    init(_ template: [JSONValue], _ places: [String]) { (self.template, self.places) = (template, places) }

    mutating func add(_ track: Int, _ numbers: [JSONValue]) {
      let queue = byNumbers[numbers] ?? queues.count
      if queue == queues.count { queues.append(Queue(numbers: numbers)) }
      byNumbers[numbers] = queue
      queues[queue].tracks.append(track)
    }

    /// The first unused entry, and its queue.
    mutating func next(
      in tracks: [Track], _ values: [HiddenValue], _ known: Bindings?, where fits: (Track) -> Bool
    ) -> (queue: Int, track: Int)? {
      if let exact = known?.numbers(of: values).flatMap({ byNumbers[$0] }),
        let track = queues[exact].next(in: tracks, where: fits)
      {
        return (exact, track)
      }
      var first: (queue: Int, track: Int)?
      for queue in queues.indices[start...] {
        if queue == start, queues[queue].next(in: tracks, where: { _ in true }) == nil { start += 1 }
        guard known?.allow(queues[queue].numbers, values) != false,
          let track = queues[queue].next(in: tracks, where: fits), track < first?.track ?? .max
        else { continue }
        first = (queue, track)
        // Queues are in the order of their first entries.
        if track == queues[queue].tracks[0] { break }
      }
      return first
    }

    /// The places at which unused entries differ that fit as well as the one taken.
    mutating func choice(
      besides queue: Int, in tracks: [Track], _ values: [HiddenValue], _ known: Bindings?, where fits: (Track) -> Bool
    ) -> Set<String> {
      guard queues.count > 1, told != Set(places), known?.numbers(of: values) != queues[queue].numbers else {
        return []
      }
      var found: Set<String> = []
      for other in queues.indices[start...] where other != queue {
        guard known?.allow(queues[other].numbers, values) != false,
          queues[other].next(in: tracks, where: fits) != nil
        else { continue }
        found.formUnion(differences(queue, other))
      }
      found.subtract(told)
      told.formUnion(found)
      return found
    }

    func differences(_ one: Int, _ other: Int) -> Set<String> {
      let (one, other) = (queues[one].numbers, queues[other].numbers)
      let places = places + repeatElement("hidden values", count: max(0, max(one.count, other.count) - places.count))
      return Set(places.indices.filter { one.dropFirst($0).first != other.dropFirst($0).first }.map { places[$0] })
    }
  }

  /// An entry for a request.
  struct Found {
    var track: Int
    /// The numbers of its hidden values, and the values of the request in their places.
    var numbers: [JSONValue]
    var values: [HiddenValue]
    /// The places of hidden values in which other entries differ that fit as well.
    var choice: Set<String>
  }

  private let aspects: [Cassette.Aspect]
  /// The number of aspects that decide; further ones break ties.
  private let compared: Int
  private let mark: String
  /// The families by recorded request: for equal live requests, and by gaps for those with other values in them.
  private var same: [JSONValue: Int] = [:]
  private var fitting: [JSONValue: [JSONValue: Int]] = [:]
  private var families: [Family] = []

  /// The index that breaks ties between matching entries by the rest of the request.
  init(_ tracks: [Track], matching: Set<Cassette.Aspect>) {
    self.init(tracks, tracks.map(\.recorded), by: matching, ties: Self.ties)
  }

  private static let ties: Set<Cassette.Aspect> = [.url, .query, .body]

  /// - Parameters:
  ///   - recorded: The requests of the entries, with the marks of hidden values.
  ///   - aspects: The aspects that decide.
  ///   - ties: Further ones, which break ties.
  private init(
    _ tracks: [Track], _ recorded: [ComparedRequest], by aspects: Set<Cassette.Aspect>, ties: Set<Cassette.Aspect> = []
  ) {
    self.aspects = Array(aspects) + ties.subtracting(aspects)
    compared = aspects.count
    mark = tracks.first?.mark ?? ""
    for (number, track) in tracks.enumerated() {
      let recorded = recorded[number].forms(self.aspects)
      for (form, parts) in track.question.forms(self.aspects).enumerated() {
        let key = JSONValue(parts)
        let family = same[key] ?? families.count
        let template = Array(recorded[min(form, recorded.count - 1)].prefix(compared))
        let hidden = hidden(template, in: nil)
        if family == families.count { families.append(Family(template, hidden.map(\.place))) }
        families[family].add(
          number, hidden.map { $0.number.map { JSONValue($0) } ?? JSONValue(.null) } + track.told(aspects))
        same[key] = family
        let gaps = parts.map { track.gaps(in: $0) }
        guard form == 0, !gaps.allSatisfy(\.isNull) else { continue }
        fitting[JSONValue(gaps), default: [:]][key] = family
      }
    }
  }

  /// The indexes for ``Cassette/State/take(_:_:)``.
  static func all(_ tracks: [Track], matching: Set<Cassette.Aspect>) -> [TrackIndex] {
    let recorded = tracks.map(\.recorded)
    return [TrackIndex(tracks, recorded, by: matching, ties: ties), TrackIndex(tracks, recorded, by: matching)]
  }

  private func hidden(_ template: [JSONValue], in parts: [JSONValue]?) -> [HiddenValue] {
    zip(aspects, template).enumerated().flatMap { index, part in
      part.1.hidden(mark, in: parts?[index], at: part.0.place)
    }
  }

  private func families(in groups: [JSONValue: [JSONValue: Int]], for asked: ComparedRequest) -> [Int] {
    guard !groups.isEmpty else { return [] }
    let forms = asked.forms(aspects).map { JSONValue($0) }
    return groups.flatMap { gaps, families in forms.compactMap { families[$0.fitted(to: gaps, mark)] } }
  }

  /// The first unused entry for a request.
  ///
  /// - Parameter known: The values of numbers, if an entry must not have another number in place of a known value.
  mutating func next(
    for asked: ComparedRequest, in tracks: [Track], _ known: Bindings?, where fits: (Track) -> Bool
  ) -> Found? {
    for groups in [[JSONValue(.null): same], fitting] {
      var found: (family: Int, queue: Int, track: Int, values: [HiddenValue])?
      for family in families(in: groups, for: asked) {
        let values = values(of: asked, in: families[family])
        guard let next = families[family].next(in: tracks, values, known, where: fits),
          next.track < found?.track ?? .max
        else { continue }
        found = (family, next.queue, next.track, values)
      }
      guard let found else { continue }
      return Found(
        track: found.track, numbers: families[found.family].queues[found.queue].numbers, values: found.values,
        choice: families[found.family].choice(besides: found.queue, in: tracks, found.values, known, where: fits))
    }
    return nil
  }

  /// The last entry for a request, used or not.
  func last(for asked: ComparedRequest, in tracks: [Track], _ known: Bindings, where fits: (Track) -> Bool) -> Found? {
    let families = families(in: [JSONValue(.null): same], for: asked) + families(in: fitting, for: asked)
    let found = families.flatMap { family in
      let values = values(of: asked, in: self.families[family])
      return self.families[family].queues.compactMap { queue in
        queue.tracks.last { fits(tracks[$0]) }.map {
          Found(track: $0, numbers: queue.numbers, values: values, choice: [])
        }
      }
    }
    let allowed = found.filter { known.allow($0.numbers, $0.values) }
    return (allowed.isEmpty ? found : allowed).max { $0.track < $1.track }
  }

  private func values(of asked: ComparedRequest, in family: Family) -> [HiddenValue] {
    guard !family.places.isEmpty else { return [] }
    let forms = asked.raw.forms(aspects).map { hidden(family.template, in: $0) }
    return forms.max { $0.count { $0.value != nil } < $1.count { $0.value != nil } } ?? []
  }

  /// The entries that differ only in hidden values, by the first of them, and the places of these values.
  ///
  /// - Parameter given: The numbers that a client learns from a response.
  func choices(given: Set<Int>) -> [Int: Set<String>] {
    families.reduce(into: [:]) { found, family in
      let queues = family.queues.indices.filter { queue in
        !family.queues[queue].numbers.contains { $0.int.map(given.contains) == true }
      }
      guard let first = queues.first else { return }
      let places = queues.dropFirst().reduce(into: Set<String>()) { $0.formUnion(family.differences(first, $1)) }
      if !places.isEmpty { found[family.queues[first].tracks[0], default: []].formUnion(places) }
    }
  }
}

extension Cassette.State {
  /// Takes the entry for a request.
  mutating func take(_ asked: ComparedRequest, _ options: Cassette.Options) -> Taken? {
    guard !tracks.isEmpty else { return nil }
    func fits(_ track: Track) -> Bool { options.accepts(track, asked) }
    // An entry with another number than that of a known value fits only if no other one does.
    for known in [bindings, nil] {
      for level in indexes.indices {
        guard let found = indexes[level].next(for: asked, in: tracks, known, where: fits) else { continue }
        tracks[found.track].uses += 1
        let changed = bindings.bind(found.numbers, found.values).subtracting(reported)
        reported.formUnion(changed)
        return Taken(track: tracks[found.track], choice: found.choice, changed: changed)
      }
    }
    guard options.allowsRepeats, let last = indexes[1].last(for: asked, in: tracks, bindings, where: fits) else {
      return nil
    }
    tracks[last.track].uses += 1
    let changed = bindings.bind(last.numbers, last.values).subtracting(reported)
    reported.formUnion(changed)
    return Taken(track: tracks[last.track], changed: changed)
  }

  /// An entry that is played.
  struct Taken {
    let track: Track
    /// The places of hidden values in which other entries differ that fit as well.
    var choice: Set<String> = []
    /// The places of hidden values that had another value before.
    var changed: Set<String> = []
  }
}

extension ComparedRequest {
  /// The parts of the request, and the same with the text of the body, which may be equal under another media type.
  fileprivate func forms(_ aspects: [Cassette.Aspect]) -> [[JSONValue]] {
    let parts = aspects.map(part)
    guard let place = aspects.firstIndex(of: .body), let text = String(data: body, encoding: .utf8) else {
      return [parts]
    }
    var plain = parts
    plain[place] = JSONValue(text)
    return plain == parts ? [parts] : [parts, plain]
  }
}
