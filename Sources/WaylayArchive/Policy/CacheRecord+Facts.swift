extension CacheRecord {
  /// What the record says, line by line, for people: no values of request fields, and no bodies.
  package func facts(at now: CacheTime) -> [(name: String, value: String)] {
    let age = age(at: now) / 1000
    var facts = [
      ("status", method == .head ? "\(status), head alone" : "\(status)"), ("date", HTTPDate.text(seconds: date)),
      ("age", "\(age) s"),
      ("lifetime", "\(lifetime) s from \(lifetimeSource)"),
      ("time to live", "\(lifetime.subtractingSaturating(age)) s"),
    ]
    if staleWhileRevalidate > 0 { facts.append(("stale-while-revalidate", "\(staleWhileRevalidate) s")) }
    if staleIfError > 0 { facts.append(("stale-if-error", "\(staleIfError) s")) }
    for (flag, name) in Self.flagNames where flags.contains(flag) { facts.append(("marked", name)) }
    if let entityTag { facts.append(("ETag", entityTag)) }
    if let lastModified { facts.append(("Last-Modified", lastModified)) }
    switch vary {
    case .nothing: break
    case .fields(let names): facts.append(("Vary", names.joined(separator: ", ")))
    case .anything: facts.append(("Vary", "*"))
    }
    if let extent {
      facts.append(("stored bytes", ContentRange(extent, of: completeLength).value))
    } else if let completeLength {
      facts.append(("length", "\(completeLength)"))
    }
    return facts
  }

  private static let flagNames: [(Flags, String)] = [
    (.noCache, "no-cache"), (.mustRevalidate, "must-revalidate"), (.immutable, "immutable"),
    (.invalidated, "invalidated"),
    (.decoded, "body without its coding"),
  ]
}
