import Foundation

/// One reading of a body that is written down: it hands on what it reads, when it is asked to.
final class BodyTap: @unchecked Sendable {
  // Unchecked: used by one reader at a time, like any iterator.
  private let body: MessageBody
  private var iterator: MessageBody.AsyncIterator
  private let slot: Slot
  private let inspector: Inspector
  private let isRequest: Bool
  /// The answer whose body it is: its metrics and trailers are known at the end.
  private let response: InterceptedResponse?
  private var offset = 0
  private var isOver = false

  init(_ body: MessageBody, _ slot: Slot, _ inspector: Inspector, isRequest: Bool, response: InterceptedResponse? = nil)
  {
    self.body = body
    self.slot = slot
    self.inspector = inspector
    self.isRequest = isRequest
    self.response = response
    iterator = body.makeAsyncIterator()
  }

  deinit {
    // The body of an answer that nobody reads any more.
    if !isOver, !isRequest { inspector.end(slot) { $0.isAbandoned = true } }
  }

  /// Another reading of the same body, for one that can be read again.
  func again() -> BodyTap { BodyTap(body, slot, inspector, isRequest: isRequest, response: response) }

  func next() async throws -> Data? {
    do {
      guard let chunk = try await iterator.next() else {
        finish(nil)
        return nil
      }
      inspector.passed(chunk, at: offset, of: slot, isRequest: isRequest)
      offset += chunk.count
      return chunk
    } catch {
      finish(error)
      throw error
    }
  }

  private func finish(_ error: (any Error)?) {
    guard !isOver else { return }
    isOver = true
    // What ends a request's body ends the load, which says so itself.
    guard !isRequest, let response else { return }
    let (metrics, trailers) = (response.metrics, response.trailers)
    inspector.end(slot, more: trailers.cost) { exchange in
      exchange.response?.metrics = metrics
      exchange.trailers = trailers
      exchange.error = error
    }
  }
}

/// The chunks of a reading.
struct Tapped: AsyncSequence, AsyncIteratorProtocol {
  let tap: BodyTap

  func makeAsyncIterator() -> Tapped { self }

  func next() async throws -> Data? { try await tap.next() }
}
