/// Finds the entries for a request by their compared parts, without comparing each entry.
struct TrackIndex: Sendable {
  /// The redacted values of a recorded request, by place.
  private struct Removals: Hashable {
    var digests: [String] = []
    var salt = ""
    var gaps: JSONValue = nil
  }

  /// Entries of equal requests, oldest first.
  private struct Queue {
    var tracks: [Int] = []
    /// The position before which all entries are used.
    var start = 0
    /// Whether the entries differ in redacted values.
    var differs = false
    /// Whether that has been checked for the unused entries.
    var isChecked = false
  }

  private let aspects: [Cassette.Aspect]
  private let mark: String
  /// The queues by recorded request: for equal live requests, and for those with other values in the gaps.
  private var same: [Removals: [JSONValue: Int]] = [:]
  private var fitting: [Removals: [JSONValue: Int]] = [:]
  private var queues: [Queue] = []

  /// - Parameter told: The aspects whose redacted values are compared by their digests.
  private init(_ tracks: [Track], by aspects: Set<Cassette.Aspect>, told: Set<Cassette.Aspect> = []) {
    self.aspects = Array(aspects)
    mark = tracks.first?.mark ?? ""
    for (number, track) in tracks.enumerated() {
      let digests = track.digests(told).sorted { $0.key < $1.key }
      var removals = Removals(digests: digests.map(\.key), salt: digests.isEmpty ? "" : track.salt)
      for (form, parts) in track.question.forms(self.aspects).enumerated() {
        let key = JSONValue(parts + digests.map { JSONValue($0.value) })
        let queue = same[removals]?[key] ?? queues.count
        if queue == queues.count { queues.append(Queue()) }
        if let first = queues[queue].tracks.first, tracks[first].told() != track.told() { queues[queue].differs = true }
        queues[queue].tracks.append(number)
        same[removals, default: [:]][key] = queue
        let gaps = parts.map { track.gaps(in: $0) }
        guard form == 0, !gaps.allSatisfy(\.isNull) else { continue }
        removals.gaps = JSONValue(gaps)
        fitting[removals, default: [:]][key] = queue
        removals.gaps = nil
      }
    }
  }

  /// The indexes for ``Cassette/State/take(_:_:)``. Aspects left out of the matching break ties between entries.
  static func all(_ tracks: [Track], matching: Set<Cassette.Aspect>) -> [TrackIndex] {
    let every = matching.union([.url, .query, .body])
    let plain = [TrackIndex(tracks, by: matching), TrackIndex(tracks, by: every)]
    guard tracks.contains(where: { !$0.digests(every).isEmpty }) else { return plain }
    return plain + [
      TrackIndex(tracks, by: matching, told: matching), TrackIndex(tracks, by: every, told: matching),
      TrackIndex(tracks, by: every, told: matching.union([.body])),
    ]
  }

  private func numbers(in groups: [Removals: [JSONValue: Int]], for asked: ComparedRequest) -> [Int] {
    guard !groups.isEmpty else { return [] }
    var numbers: [Int] = []
    let forms = asked.forms(aspects).map { JSONValue($0) }
    for (removals, queues) in groups {
      let digests = removals.digests.map { JSONValue(asked.taken[$0]?.digest(removals.salt)) }
      for form in forms {
        let parts = form.fitted(to: removals.gaps, mark).array ?? []
        if let number = queues[JSONValue(parts + digests)] { numbers.append(number) }
      }
    }
    return numbers
  }

  /// Whether redacted values distinguish the entries for a request.
  func differ(for asked: ComparedRequest, in tracks: [Track], where fits: ((Track) -> Bool)?) -> Bool {
    let found = Set(numbers(in: same, for: asked) + numbers(in: fitting, for: asked)).map { queues[$0] }
    guard found.count > 1 || found.contains(where: \.differs) else { return false }
    if fits == nil, found.contains(where: \.differs) { return true }
    return Set(found.flatMap(\.tracks).map { tracks[$0] }.filter { fits?($0) != false }.map { $0.told() }).count > 1
  }

  /// The first unused entry for a request, and the differences between the unused ones if it is the first found.
  mutating func next(
    for asked: ComparedRequest, in tracks: [Track], where fits: (Track) -> Bool
  ) -> (track: Int, doubts: Set<String>)? {
    for groups in [same, fitting] {
      var found: (track: Int, queue: Int)?
      for queue in numbers(in: groups, for: asked) {
        while let track = queues[queue].tracks.dropFirst(queues[queue].start).first, tracks[track].uses > 0 {
          queues[queue].start += 1
        }
        let free = queues[queue].tracks[queues[queue].start...]
        guard let track = free.first(where: { tracks[$0].uses == 0 && fits(tracks[$0]) }) else { continue }
        if track < found?.track ?? .max { found = (track, queue) }
      }
      guard let found else { continue }
      guard queues[found.queue].differs, !queues[found.queue].isChecked else { return (found.track, []) }
      queues[found.queue].isChecked = true
      let free = queues[found.queue].tracks.map { tracks[$0] }.filter { $0.uses == 0 && fits($0) }
      return (found.track, Cassette.doubts(among: free.map { $0.told() }))
    }
    return nil
  }

  /// The last entry for a request, used or not.
  func last(for asked: ComparedRequest, in tracks: [Track], where fits: (Track) -> Bool) -> Int? {
    (numbers(in: same, for: asked) + numbers(in: fitting, for: asked)).compactMap { queue in
      queues[queue].tracks.last { fits(tracks[$0]) }
    }.max()
  }
}

extension Cassette.State {
  /// Takes the entry for a request.
  ///
  /// - Returns: The entry, and the places of redacted values that may distinguish it from other entries.
  mutating func take(_ asked: ComparedRequest, _ options: Cassette.Options) -> (Track, doubts: Set<String>)? {
    guard !tracks.isEmpty else { return nil }
    func fits(_ track: Track) -> Bool { options.accepts(track, asked) }
    // A single entry matches any secret; digests distinguish several entries.
    let isTold =
      indexes.count > 2 && indexes[0].differ(for: asked, in: tracks, where: options.matcher == nil ? nil : fits)
    for level in isTold ? [4, 3, 2] : [1, 0] {
      guard let (track, found) = indexes[level].next(for: asked, in: tracks, where: fits) else { continue }
      tracks[track].uses += 1
      defer { doubts.formUnion(found) }
      return (tracks[track], found.subtracting(doubts))
    }
    guard options.allowsRepeats, let last = indexes[isTold ? 2 : 0].last(for: asked, in: tracks, where: fits) else {
      return nil
    }
    tracks[last].uses += 1
    return (tracks[last], [])
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
