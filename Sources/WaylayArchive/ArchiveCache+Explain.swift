import Foundation

extension ArchiveCache {
  /// Explains how the archive would handle a request now, and why. Nothing is sent, and nothing changes.
  ///
  /// ```swift
  /// print(await archive.explain(URLRequest(url: url)))
  /// ```
  public func explain(_ request: URLRequest) async -> ArchiveExplanation {
    let intercepted = InterceptedRequest(request)
    let mode = engine.mode(of: intercepted)
    let store: any ArchiveStore
    do {
      store = try await engine.opening.store()
      // A closed store returns no entries, which must not be reported as a miss.
      guard isOpen else { throw ArchiveError.closed }
    } catch {
      return ArchiveExplanation(rows: [("mode", "\(mode)"), ("archive", "not open: \(error.redacted)")], variants: [])
    }
    guard let load = try? await engine.reading(intercepted, in: store) else {
      return ArchiveExplanation(rows: [("request", "has no URL")], variants: [])
    }
    return await load.explanation()
  }
}

/// The handling of a request by an archive, as a table.
public struct ArchiveExplanation: Sendable, CustomStringConvertible {
  /// The rows, each with a name and a text.
  public let rows: [(name: String, text: String)]
  /// The stored responses for the request, one text for each.
  public let variants: [String]

  /// The table.
  public var description: String {
    let all = rows + variants.enumerated().map { ("stored \($0.offset + 1)", $0.element) }
    let width = all.map(\.name.count).max() ?? 0
    return all.map { $0.name + String(repeating: " ", count: width - $0.name.count) + "  " + $0.text }.joined(
      separator: "\n")
  }
}

extension ArchiveLoad {
  fileprivate func explanation() async -> ArchiveExplanation {
    var (entries, failure): ([StoredEntry], (any Error)?) = ([], nil)
    do { entries = try await self.entries() } catch { failure = error }
    let others = (try? await store.list(EntryFilter(.resource(place.resource)))) ?? []
    let known = Set(entries.map(\.id))
    let elsewhere = others.count { !known.contains($0.id) }
    let stored = understood(entries)
    let now = now
    let decision = decide(stored, now)
    var rows: [(String, String)] = [
      ("request", "\(request.method) \(url.redacted)"), ("mode", "\(options.mode)"),
      ("policy", "\(asked.cachePolicy.label)"), ("key", keyText),
    ]
    if key.partition != .shared { rows.append(("partition", "\(key.partition)")) }
    rows.append(
      (
        "stored",
        "\(stored.count)" + (entries.count > stored.count ? ", \(entries.count - stored.count) of another version" : "")
      ))
    if let failure { rows.append(("unreadable", failure.redacted)) }
    if elsewhere > 0 {
      rows.append(("elsewhere", "\(elsewhere) of this URL for other credentials, partitions or bodies"))
    }
    rows.append(("decision", "\(decision.label)"))
    let isOthers = elsewhere > 0 && decision.reason.code == .miss
    rows.append(("reason", isOthers ? "stored for other credentials, partitions or bodies only" : "\(decision.reason)"))
    if !decision.addedFields.isEmpty {
      rows.append(("asks", decision.addedFields.map { "\($0.name): \($0.value)" }.joined(separator: "; ")))
    }
    return ArchiveExplanation(rows: rows, variants: stored.map { Self.line($0, now) })
  }

  /// A printable form of the key, without query values and without the text of a custom key.
  private var keyText: String {
    let text = String(decoding: key.bytes, as: UTF8.self)
    guard configuration.keyFor == nil, let start = text.range(of: "://")?.lowerBound,
      let space = text[..<start].lastIndex(of: " ")
    else { return "\(key.bytes.count) bytes of the app's own" }
    return text[...space] + String(text[text.index(after: space)...]).redactedURL
  }

  private static func line(_ stored: Stored, _ now: CacheTime) -> String {
    let record = stored.record
    let age = record.age(at: now) / 1000
    var parts = [
      "\(record.status)", "\(stored.entry.bodyLength) bytes", "age \(age) s",
      "lifetime \(record.lifetime) s from \(record.lifetimeSource)",
      age < record.lifetime && !record.isOfUnknownAge(at: now) ? "fresh" : "stale",
    ]
    if let extent = record.extent { parts.append("bytes \(extent.lowerBound) to \(extent.upperBound - 1) only") }
    if let tag = record.entityTag {
      parts.append("ETag \(tag)")
    } else if record.lastModified != nil {
      parts.append("Last-Modified")
    }
    if let vary = record.fields[.vary] { parts.append("Vary: \(vary)") }
    let users = record.users.count
    if users > 0 { parts.append("of \(users == 1 ? "one user" : "\(users) users") by cookie") }
    if record.flags.contains(.invalidated) { parts.append("invalidated") }
    if !stored.entry.details.ownTags.isEmpty {
      parts.append("tags " + stored.entry.details.ownTags.sorted().joined(separator: ", "))
    }
    if stored.entry.details.isPinned { parts.append("pinned") }
    return parts.joined(separator: ", ")
  }
}

extension CacheDecision {
  fileprivate var label: String {
    switch action {
    case .serve(let answer): answer.isStale ? "answer with a stale response" : "answer from the archive"
    case .serveAndRevalidate: "answer with a stale response, and validate it in the background"
    case .forward:
      validating.isEmpty && !isCompleting
        ? "ask the network" : isCompleting ? "ask the network for the rest" : "validate the stored response"
    case .gatewayTimeout: "answer 504: only-if-cached"
    case .unavailable: "fail: no network allowed"
    }
  }
}
