package import Foundation
package import WaylayCore
package import WaylayHAR

extension HAR.Entry {
  /// One request and its answer, as an archive has them.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - body: What of its body has been seen.
  ///   - response: The answer; `nil` where there was none.
  ///   - responseBody: What of the answer's body has been seen.
  ///   - started: When it began.
  ///   - head: How long after that the head of the answer was there.
  ///   - elapsed: How long all of it took.
  ///   - metrics: What a transport has measured, where there is no answer to say it.
  package init(
    _ request: InterceptedRequest, body: SeenBody? = nil, _ response: InterceptedResponse?,
    responseBody: SeenBody? = nil,
    started: Date, head: Duration? = nil, elapsed: Duration, metrics: LoadMetrics? = nil
  ) {
    let metrics = response?.metrics ?? metrics
    self.init(
      started: started, request: HAR.Request(request, body: body, metrics: metrics),
      response: response.map { HAR.Response($0, body: responseBody) } ?? .none,
      timings: HAR.Timings(metrics, head: head, elapsed: elapsed))
    serverAddress = metrics?.host
  }
}

extension HAR.Timings {
  /// The parts of an exchange: what a transport has measured, within what somebody above it has seen. They add up to
  /// all of it.
  ///
  /// What the transport was not asked in, waiting for links before it and behind it, is ``blocked``.
  ///
  /// - Parameters:
  ///   - metrics: What a transport has measured.
  ///   - head: How long it took until the head of the answer was there, for an answer that no transport has measured.
  ///   - elapsed: How long all of it took.
  package init(_ metrics: LoadMetrics?, head: Duration? = nil, elapsed: Duration) {
    let elapsed = max(elapsed, .zero)
    guard let metrics, let firstByte = metrics.firstByte ?? metrics.total else {
      let head = min(max(head ?? elapsed, .zero), elapsed)
      self.init(wait: head.milliseconds, receive: (elapsed - head).milliseconds)
      return
    }
    // Each point in time is no earlier than the one before: what a transport says may be anything.
    let lookup = max(metrics.nameLookup ?? .zero, .zero)
    let connected = max(metrics.connect ?? lookup, lookup)
    let secured = max(metrics.secureConnection ?? connected, connected)
    let first = max(firstByte, secured)
    let end = max(metrics.total ?? max(first, elapsed), first)
    let isKept = metrics.isConnectionReused == true
    self.init(
      blocked: (elapsed - end).milliseconds, dns: isKept ? nil : metrics.nameLookup.map { _ in lookup.milliseconds },
      connect: isKept ? nil : metrics.connect.map { _ in (secured - lookup).milliseconds },
      ssl: isKept ? nil : metrics.secureConnection.map { _ in (secured - connected).milliseconds },
      wait: isKept ? first.milliseconds : (first - secured).milliseconds, receive: (end - first).milliseconds)
  }
}

extension Duration {
  /// Milliseconds, with a fraction.
  package var milliseconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
  }
}
