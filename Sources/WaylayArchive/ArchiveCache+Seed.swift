import Foundation
import HTTPTypes

extension ArchiveCache {
  /// Stores the files of a folder as responses, for example those that ship with an app so that its first launch needs
  /// no network.
  ///
  /// ```swift
  /// let folder = Bundle.main.resourceURL!.appendingPathComponent("seed")
  /// try await archive.seed(from: folder, as: URL(string: "https://example.com/guide/")!)
  /// ```
  ///
  /// `seed/images/map.png` becomes the response for `https://example.com/guide/images/map.png`, and an `index.html`
  /// also the one for its folder. A response has the media type of the file's extension, and the file's modification
  /// date as `Last-Modified`. It is stale at once unless `lifetime` says otherwise: while there is a network, the
  /// server is asked for a newer version. Hidden files and links are skipped.
  ///
  /// Keys, lifetimes and `willStore` of the ``Configuration`` apply as to any response; the request is a plain `GET`
  /// without credentials, in the partition that ``Configuration/partition`` returns for it.
  ///
  /// - Parameters:
  ///   - folder: The folder.
  ///   - base: The URL that the folder represents.
  ///   - lifetime: How long the responses stay fresh, from now on.
  ///   - isReplacing: Whether files replace existing responses for their URLs; if `false`, existing responses stay.
  /// - Returns: The number of responses stored. One that is too large, or that `willStore` rejects, is reported as an
  ///   event.
  /// - Throws: ``ArchiveError`` if the archive could not be opened, and with `ArchiveError.unreadable` if a file
  ///   or the folder cannot be read: everything before it has been stored.
  @discardableResult
  public func seed(
    from folder: URL, as base: URL, lifetime: Duration = .zero, replacing isReplacing: Bool = false
  ) async throws -> Int {
    let store = try await engine.opening.store()
    let decided = store.moment
    var count = 0
    for seed in try Seed.all(in: folder, as: base) {
      try Task.checkCancellation()
      if try await engine.store(seed, for: lifetime, in: store, replacing: isReplacing, decided) { count += 1 }
    }
    return count
  }
}

/// A file to store as a response.
private struct Seed {
  let file: URL
  let url: URL
  let size: Int64
  let changed: Date

  static func all(in folder: URL, as base: URL) throws -> [Seed] {
    let paths: [String]
    do {
      paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    } catch {
      throw ArchiveError(.unreadable, "the folder \(folder.path) cannot be read: check the path.", underlying: error)
    }
    let root = base.path.hasSuffix("/") ? base : base.appendingPathComponent("", isDirectory: true)
    return try paths.sorted().flatMap { path -> [Seed] in
      let names = path.split(separator: "/").map(String.init)
      guard !names.contains(where: { $0.hasPrefix(".") }) else { return [] }
      let file = folder.appendingPathComponent(path)
      let attributes: [FileAttributeKey: Any]
      do {
        attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      } catch {
        throw unreadable(file, error)
      }
      guard attributes[.type] as? FileAttributeType == .typeRegular else { return [] }
      let parent = names.dropLast().reduce(root) { $0.appendingPathComponent($1, isDirectory: true) }
      var urls = [parent.appendingPathComponent(names[names.count - 1], isDirectory: false)]
      if names.last == "index.html" { urls.append(parent) }
      let (size, changed) = (attributes[.size] as? NSNumber, attributes[.modificationDate] as? Date)
      return urls.map { Seed(file: file, url: $0, size: size?.int64Value ?? 0, changed: changed ?? Date()) }
    }
  }

  static func unreadable(_ file: URL, _ error: any Error) -> ArchiveError {
    ArchiveError(.unreadable, "the file \(file.path) cannot be read: check its permissions.", underlying: error)
  }

  func response(to request: InterceptedRequest, fresh lifetime: Duration) -> InterceptedResponse {
    var fields: HTTPFields = [
      .contentLength: "\(size)", .cacheControl: "max-age=\(max(0, lifetime.wholeSeconds))",
      .lastModified: HTTPDate.text(seconds: CacheTime(min(changed, Date())).seconds),
    ]
    fields[.contentType] = MediaType.of(pathExtension: file.pathExtension) ?? "application/octet-stream"
    return InterceptedResponse(to: request, fields: fields, body: .file(file), source: .seed)
  }
}

extension InterceptedResponse.Source {
  fileprivate static let seed = InterceptedResponse.Source("seed", storesCookies: false)
}

extension ArchiveEngine {
  /// Stores a file like an origin's response; returns whether it is stored.
  fileprivate func store(
    _ seed: Seed, for lifetime: Duration, in store: any ArchiveStore, replacing isReplacing: Bool,
    _ decided: Int64
  ) async throws -> Bool {
    let request = InterceptedRequest(URLRequest(url: seed.url))
    let load = try await reading(request, in: store)
    let stored = load.understood(try await load.entries())
    guard stored.isEmpty || isReplacing else { return false }
    do {
      let (response, outcome) = (seed.response(to: request, fresh: lifetime), LoadOutcome(of: self, decided: decided))
      if case .stored = try await load.store(response, replacing: stored, outcome) { return true }
    } catch {
      try Task.checkCancellation()
      throw Seed.unreadable(seed.file, error)
    }
    return false
  }
}

extension ArchiveLoad {
  /// Whether the archive can answer requests of this kind.
  var canAnswer: Bool {
    (asked.method == .get || asked.method == .head) && !asked.hasBody || options.isKeyedByBody
  }

  /// The index of the stored response that answers the request offline, at any age.
  func selected(_ stored: [Stored]) -> Int? {
    var options = options
    options.mode = .offline
    let decision = policy.decide(asked, records: stored.map(\.record), now: now, options: options)
    guard case .serve(let reply) = decision.action else { return nil }
    return reply.index
  }

  /// Stores a response like an origin's, and returns the result.
  func store(
    _ response: InterceptedResponse, replacing stored: [Stored], _ outcome: LoadOutcome
  ) async throws -> LoadOutcome.Kind? {
    // In the background, so that no miss is reported.
    var load = inBackground
    load.outcome = outcome
    load = load.decidedNow
    let sent = Sent(time: now, moment: engine.changes.now)
    let decision = CacheDecision(.forward, ArchiveReason(.miss))
    let exchange = OriginExchange(decision: decision, stored: stored) { _ in response }
    let kept = try await load.received(response, sent, exchange)
    for try await _ in kept.body {}
    return outcome.kind
  }
}
