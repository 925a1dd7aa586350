import WaylayCore

/// A host and its port: the key of the requests to one server.
struct Authority: Hashable {
  let host: String
  let port: Int
}

extension URL {
  var authority: Authority { Authority(host: host?.lowercased() ?? "", port: portOrDefault ?? 80) }
}

extension MessageBody {
  /// The same body, with an observer of its chunks; neither buffered nor delayed.
  ///
  /// - Parameters:
  ///   - see: Called with each chunk.
  ///   - atEnd: Called once: after the last chunk, when reading fails, or when the body is dropped earlier.
  func observed(
    _ see: @escaping @Sendable (Data) -> Void, atEnd: @escaping @Sendable ((any Error)?) -> Void
  ) -> MessageBody {
    if isReplayable {
      return .stream(length: length, replaying: { Passing(self, see, atEnd) })
    }
    let passing = Passing(self, see, atEnd)
    return .relaying(self, length: length) { try await passing.next() }
  }
}

/// One observed reading of a body.
private final class Passing: AsyncSequence, AsyncIteratorProtocol, @unchecked Sendable {
  // Unchecked: used by one reader at a time, like any iterator.
  private var chunks: MessageBody.AsyncIterator
  private let see: @Sendable (Data) -> Void
  private var atEnd: (@Sendable ((any Error)?) -> Void)?

  init(
    _ body: MessageBody, _ see: @escaping @Sendable (Data) -> Void, _ atEnd: @escaping @Sendable ((any Error)?) -> Void
  ) {
    chunks = body.makeAsyncIterator()
    (self.see, self.atEnd) = (see, atEnd)
  }

  deinit { atEnd?(CancellationError()) }

  func makeAsyncIterator() -> Passing { self }

  func next() async throws -> Data? {
    do {
      let chunk = try await chunks.next()
      if let chunk { see(chunk) } else { end(nil) }
      return chunk
    } catch {
      end(error)
      throw error
    }
  }

  private func end(_ error: (any Error)?) {
    atEnd?(error)
    atEnd = nil
  }
}
