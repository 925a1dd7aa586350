import Foundation
import HTTPTypes

extension MessageBody {
  /// Starts reading. A one-shot body is taken by the first call of the iterator's `next()`, not by this one.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(storage)
  }

  /// Reads a body chunk by chunk.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private enum Reading {
      case data(Data)
      case unopened(Storage)
      case chunks(Chunks)
      case ended
    }

    private var reading: Reading
    private let load = Lineage.current?.load

    init(_ storage: Storage) {
      if case .data(let data) = storage { reading = .data(data) } else { reading = .unopened(storage) }
    }

    /// The next chunk, or `nil` after the last one.
    public mutating func next() async throws -> Data? {
      switch reading {
      case .ended:
        return nil
      case .data(let data):
        reading = .ended
        return data.isEmpty ? nil : data
      case .unopened(let storage):
        let chunks = try storage.open()
        reading = .chunks(chunks)
        return try await advance(chunks)
      case .chunks(let chunks):
        return try await advance(chunks)
      }
    }

    private mutating func advance(_ chunks: Chunks) async throws -> Data? {
      do {
        while let chunk = try await chunks.next() {
          load?.touch()
          if !chunk.isEmpty { return chunk }
        }
      } catch {
        reading = .ended
        throw error
      }
      reading = .ended
      return nil
    }
  }

  /// One reading of a stream, whatever its source. Used by one reader at a time, like any iterator.
  final class Chunks {
    private let pull: () async throws -> Data?

    init(pull: @escaping () async throws -> Data?) {
      self.pull = pull
    }

    init<Base: AsyncSequence>(_ base: Base) where Base.Element == Data {
      var iterator = base.makeAsyncIterator()
      pull = { try await iterator.next() }
    }

    func next() async throws -> Data? { try await pull() }
  }

  /// A stream that can be read once, shared by all copies of its body.
  final class OneShotSource: Sendable {
    let length: Int64?
    private let trailersWhenRead: @Sendable () -> HTTPFields
    private let make: @Sendable () -> Chunks
    private let claim = Locked<String?>(nil)

    /// - Parameters:
    ///   - trailers: The trailer fields that are known so far.
    ///   - make: Starts the one reading.
    init(
      length: Int64?, trailers: @escaping @Sendable () -> HTTPFields = { [:] },
      _ make: @escaping @Sendable () -> Chunks
    ) {
      self.length = length
      trailersWhenRead = trailers
      self.make = make
    }

    var reader: String? { claim.withLock { $0 } }

    var trailers: HTTPFields { trailersWhenRead() }

    func open() throws -> Chunks {
      let reader = Lineage.currentReader ?? "a reader outside any chain"
      let first = claim.withLock { taken -> String? in
        if taken == nil {
          taken = reader
          return nil
        }
        return taken
      }
      if let first { throw MessageBody.consumed(by: first, wantedBy: reader) }
      return make()
    }
  }

  static func consumed(by first: String, wantedBy second: String) -> WaylayError {
    WaylayError(
      .bodyConsumed,
      "\(second) wants a body that can be read once and that \(first) has read already: let \(first) collect it and pass on .data(…), or make the body replayable.",
      interceptor: first)
  }
}

extension MessageBody.Storage {
  /// Starts a reading; claims a one-shot body.
  func open() throws -> MessageBody.Chunks {
    switch self {
    case .data(let data): MessageBody.Chunks(AsyncDataSequence(data: data))
    case .file(let url, _): try MessageBody.Chunks(reading: url)
    case .replayable(let make, _): make()
    case .oneShot(let source): try source.open()
    }
  }
}

/// One chunk as a sequence.
private struct AsyncDataSequence: AsyncSequence {
  let data: Data

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(data: data) }

  struct AsyncIterator: AsyncIteratorProtocol {
    var data: Data?

    mutating func next() async throws -> Data? {
      defer { data = nil }
      return data
    }
  }
}
