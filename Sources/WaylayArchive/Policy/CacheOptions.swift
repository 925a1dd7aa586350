/// What one load adds to the question, beside the request.
package struct CacheOptions: Hashable, Sendable {
  package var mode: ArchiveMode
  /// Seen when a response is stored or freshened.
  package var lifetime: LifetimeOverride?
  /// What an unsafe-looking request, keyed by its body, is treated as: a `GET` (GraphQL over `POST`).
  package var isKeyedByBody: Bool

  package init(mode: ArchiveMode = .online, lifetime: LifetimeOverride? = nil, isKeyedByBody: Bool = false) {
    self.mode = mode
    self.lifetime = lifetime
    self.isKeyedByBody = isKeyedByBody
  }
}
