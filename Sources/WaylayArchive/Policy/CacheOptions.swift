/// What one load adds to the question, beside the request.
package struct CacheOptions: Sendable {
  /// What the app makes of a head that is about to be stored.
  package struct Revision: Sendable {
    package var fields: HTTPFields
    package var lifetime: LifetimeOverride?

    package init(fields: HTTPFields, lifetime: LifetimeOverride? = nil) {
      self.fields = fields
      self.lifetime = lifetime
    }
  }

  package var mode: ArchiveMode
  /// Seen when a response is stored or freshened.
  package var lifetime: LifetimeOverride?
  /// What an unsafe-looking request, keyed by its body, is treated as: a `GET` (GraphQL over `POST`).
  package var isKeyedByBody: Bool
  /// Asked about the head that a stored response gets when it is freshened, so that what was edited out does not come
  /// back with a 304.
  package var revise: (@Sendable (_ status: Int, _ fields: HTTPFields) -> Revision)?

  package init(mode: ArchiveMode = .online, lifetime: LifetimeOverride? = nil, isKeyedByBody: Bool = false) {
    self.mode = mode
    self.lifetime = lifetime
    self.isKeyedByBody = isKeyedByBody
  }
}
