/// A body on its way from an address: when it is cut, or stays away until nobody wants it any more, the address hears
/// of it.
final class BodyWatch: Sendable {
  private let reading: Reading
  private let clock: HostClock
  /// How long a part of the body may take before giving up speaks against the address.
  private let patience: Duration
  private let fault: @Sendable () -> Void

  /// Unchecked: used by one reader at a time, like any iterator; `MessageBody` sees to it that there is only one.
  private final class Reading: @unchecked Sendable {
    private var chunks: MessageBody.AsyncIterator

    init(_ body: MessageBody) {
      chunks = body.makeAsyncIterator()
    }

    func next() async throws -> Data? { try await chunks.next() }
  }

  init(_ body: MessageBody, clock: HostClock, patience: Duration, fault: @escaping @Sendable () -> Void) {
    reading = Reading(body)
    self.clock = clock
    self.patience = patience
    self.fault = fault
  }

  func next() async throws -> Data? {
    let begin = clock.time()
    do {
      return try await reading.next()
    } catch {
      let isGivenUp = error is CancellationError || Task.isCancelled
      if isGivenUp ? clock.time() - begin >= patience : HostAttempt.Outcome(error) != nil { fault() }
      throw error
    }
  }
}
