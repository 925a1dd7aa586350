extension CacheEngine {
  /// What is written: version, then each answer with the date it was given.
  private struct Content: Codable {
    var version = 1
    var entries: [Record]

    struct Record: Codable {
      let host: String
      let port: Int
      let source: String
      /// Seconds since 1970.
      let stored: Double
      /// In seconds.
      let lifetime: Double
      let candidates: [Place]
    }

    struct Place: Codable {
      let address: String
      let port: Int?
      let protocols: [String]
    }
  }

  /// The most bytes that are decoded: a larger file was not written by a cache.
  private static let maximumSize = 16 << 20

  /// Reads the file. One that cannot be understood is ignored, with a line in the log.
  func load() {
    guard let file = options.file else { return }
    do {
      guard let data = try PrivateFile(file).read(), data.count <= Self.maximumSize else { return }
      let content = try JSONDecoder().decode(Content.self, from: data)
      guard content.version == 1 else { throw HostError(.resolverFailed, "its version is \(content.version)") }
      let (now, date) = (clock.time(), clock.date())
      state.withLock { state in
        for record in content.entries { Self.load(record, into: &state.table, now: now, date: date) }
      }
    } catch {
      options.logger?.warning(
        "the file of cached host addresses is ignored: \(error.redacted)", metadata: ["file": "\(file.path)"])
    }
  }

  private static func load(_ record: Content.Record, into table: inout CacheTable, now: Duration, date: Date) {
    let age = date.timeIntervalSince1970 - record.stored
    // A record of the future says that a clock was wrong: nobody knows how old it is.
    guard let host = try? HostName(record.host), !host.isAddress, record.lifetime > 0, age >= 0, age < 1e9 else {
      return
    }
    let lifetime = Duration.seconds(min(record.lifetime, 1e9)).clamped(to: table.options.timeToLive)
    let candidates = record.candidates.compactMap { place -> HostResolution.Candidate? in
      guard let address = try? HostAddress(place.address), place.port.map({ (1...65535).contains($0) }) ?? true else {
        return nil
      }
      return HostResolution.Candidate(address, port: place.port, protocols: place.protocols)
    }
    guard !candidates.isEmpty, .seconds(age) < lifetime + table.options.maximumStaleness else { return }
    let resolution = HostResolution(candidates, timeToLive: lifetime, source: record.source)
    table.store(resolution, for: HostQuery(host, port: record.port), stored: now - .seconds(age), lifetime: lifetime)
  }

  /// Writes the file a second from now, so that the answers of a start are one file.
  func saveSoon(_ state: inout State) {
    guard options.file != nil, state.saving == nil, !state.isStopped else { return }
    state.saving = Task.detached { [weak self, clock] in
      guard (try? await clock.sleep(.seconds(1))) != nil else { return }
      self?.saveNow()
    }
  }

  private func saveNow() {
    state.withLock { $0.saving = nil }
    do { try save() } catch {
      options.logger?.warning(
        "host addresses cannot be saved: \(error.redacted)", metadata: ["file": "\(options.file?.path ?? "")"])
    }
  }

  func save() throws {
    guard let file = options.file else { return }
    let (now, date) = (clock.time(), clock.date().timeIntervalSince1970)
    let entries = state.withLock { $0.table.entries }
    let records = entries.map { query, entry in
      Content.Record(
        host: query.host.description, port: query.port, source: entry.resolution.source,
        stored: date - (now - entry.stored).seconds,
        lifetime: (entry.expires - entry.stored).seconds,
        candidates: entry.resolution.candidates.map {
          .init(address: $0.address.literal, port: $0.port, protocols: $0.protocols)
        })
    }
    try PrivateFile(file).write(JSONEncoder().encode(Content(entries: records)))
  }
}

extension Duration {
  /// In seconds.
  package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
