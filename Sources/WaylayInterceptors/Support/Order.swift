import WaylayCore

/// The pairs of interceptors with a required order, and the reason: the rules of the page "Which order", checked at
/// registration.
enum Order {
  /// Type names, because some types belong to modules that this one does not import.
  static let pairs: [(first: String, then: String, reason: String)] = [
    ("ValidateStatus", "Retry", "it would turn the responses to retry into errors"),
    ("ValidateStatus", "BearerToken", "it would turn the 401 that triggers a refresh into an error"),
    ("Retry", "BearerToken", "each attempt needs a current token"),
    ("Retry", "ConcurrencyLimit", "a request would occupy its slot while it waits for its next attempt"),
    ("Retry", "RateLimit", "only interceptors after the retry see each attempt"),
    ("Retry", "Tracing", "each attempt is a span of its own"),
    ("Retry", "TrafficMetrics", "each attempt is measured on its own, without the wait between them"),
    ("Retry", "RequestSigner", "each attempt needs a fresh signature"),
    ("Retry", "NetworkConditions", "simulated failures should be retried like real ones"),
    ("BearerToken", "ArchiveCache", "the archive would not know to which user a response belongs"),
    ("BearerToken", "ConcurrencyLimit", "a request would occupy its slot while it waits for a refresh"),
    ("BearerToken", "Tracing", "each attempt is a span of its own"),
    ("BearerToken", "RequestSigner", "the signature may cover the token"),
    ("ArchiveCache", "ConcurrencyLimit", "a stored response needs no slot"),
    ("ArchiveCache", "RateLimit", "a stored response is not a request"),
    ("ArchiveCache", "Tracing", "a stored response is not a request, and needs no span"),
    ("ArchiveCache", "TrafficMetrics", "a stored response would be measured as a fast request"),
    ("ConcurrencyLimit", "RequestSigner", "a signature ages while its request waits"),
    ("RateLimit", "RequestSigner", "a signature ages while its request waits"),
    ("SetField", "RequestSigner", "the signature may cover the field"),
    ("Tracing", "RequestSigner", "the signature may cover traceparent"),
    ("Tracing", "NetworkConditions", "simulated network delays belong to the request's span"),
  ]
}

/// An interceptor of this product.
protocol OrderedInterceptor: ChainValidating {}

extension OrderedInterceptor {
  /// Returns the interceptors on the wrong side of this one.
  public func problems(in chain: InterceptorChain) -> [String] { misplaced(in: chain) }

  func misplaced(in chain: InterceptorChain) -> [String] {
    let names = chain.interceptors.map { String(describing: type(of: $0)) }
    let own = String(describing: Self.self)
    guard let place = names.firstIndex(of: own) else { return [] }
    let (before, behind) = (names[..<place], names[place...])
    return Order.pairs.compactMap { pair in
      if pair.then == own, behind.contains(pair.first) {
        return "comes before \(pair.first): put \(pair.first) first, because otherwise \(pair.reason)"
      }
      // The archive does not import this module, so it cannot check this pair.
      guard pair.first == own, pair.then == "ArchiveCache", before.contains(pair.then) else { return nil }
      return "comes after \(pair.then): put \(own) first, because otherwise \(pair.reason)"
    }
  }
}
