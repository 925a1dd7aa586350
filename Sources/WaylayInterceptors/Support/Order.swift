import WaylayCore

/// The pairs of interceptors with a required order, and the reason: the rules of the page "Which order", checked at
/// registration.
enum Order {
  /// Type names, because some types belong to modules that this one does not import.
  static let pairs: [(first: String, then: String, reason: String)] = [
    ("ValidateStatus", "Retry", "it would make errors of the responses that are to be retried"),
    ("ValidateStatus", "BearerToken", "it would make an error of the 401 that asks for another token"),
    ("Retry", "BearerToken", "each attempt needs the token of its time"),
    ("Retry", "ConcurrencyLimit", "a request that waits for its next attempt would keep its place"),
    ("Retry", "RateLimit", "only what stands behind the retry counts each attempt"),
    ("Retry", "Tracing", "each attempt is a span of its own"),
    ("Retry", "TrafficMetrics", "each attempt is measured on its own, without the wait between them"),
    ("Retry", "RequestSigner", "each attempt needs a signature of its time"),
    ("Retry", "NetworkConditions", "failures that are made up are to be retried like real ones"),
    ("BearerToken", "ArchiveCache", "the archive would not know whose response it stores, and whom to give it"),
    ("BearerToken", "ConcurrencyLimit", "a request that waits for a refresh would keep its place"),
    ("BearerToken", "Tracing", "each attempt is a span of its own"),
    ("BearerToken", "RequestSigner", "the signature may cover the token"),
    ("ArchiveCache", "ConcurrencyLimit", "a stored response needs no place among the requests"),
    ("ArchiveCache", "RateLimit", "a stored response is no request"),
    ("ArchiveCache", "Tracing", "a stored response is no request, and so no span"),
    ("ArchiveCache", "TrafficMetrics", "a stored response is no request, and would count as a fast one"),
    ("ConcurrencyLimit", "RequestSigner", "a signature ages while its request waits"),
    ("RateLimit", "RequestSigner", "a signature ages while its request waits"),
    ("SetField", "RequestSigner", "the signature may cover the field"),
    ("Tracing", "RequestSigner", "the signature may cover traceparent"),
    ("Tracing", "NetworkConditions", "what is made up of the network is part of the request's span"),
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
        return "stands before \(pair.first): put \(pair.first) first, because otherwise \(pair.reason)"
      }
      // The archive does not import this module, so it cannot check this pair.
      guard pair.first == own, pair.then == "ArchiveCache", before.contains(pair.then) else { return nil }
      return "stands behind \(pair.then): put \(own) first, because otherwise \(pair.reason)"
    }
  }
}
