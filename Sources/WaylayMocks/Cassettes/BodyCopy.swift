import Foundation
import WaylayHAR
import WaylayRecording

/// Copies the bytes of a body while they pass, up to a limit.
final class BodyCopy: Sendable {
  private let seen = Locked<(data: Data, size: Int, pieces: [HAR.Body.Piece])>((Data(), 0, []))
  private let limit: Int
  private let stopwatch: Stopwatch?

  /// - Parameter stopwatch: Measures the arrival time of each piece.
  init(limit: Int, _ stopwatch: Stopwatch? = nil) {
    self.limit = limit
    self.stopwatch = stopwatch
  }

  func add(_ chunk: Data) {
    let time = stopwatch?.elapsed().milliseconds
    seen.withLock { seen in
      seen.size = seen.size.saturating(adding: chunk.count)
      if seen.size <= limit { seen.data.append(chunk) } else { seen.data = Data() }
      guard let time, !chunk.isEmpty, seen.size <= limit else { return }
      // Bounds the list: further chunks are added to the last piece.
      if seen.pieces.count < 65_536 {
        seen.pieces.append(HAR.Body.Piece(time: time, size: chunk.count))
      } else {
        seen.pieces[seen.pieces.count - 1].size += chunk.count
      }
    }
  }

  /// Reads and copies a body; stops once it exceeds the limit.
  func add(all body: MessageBody) async throws {
    for try await chunk in body {
      add(chunk)
      guard isWhole else { return }
    }
  }

  var isWhole: Bool { seen.withLock { $0.size <= limit } }

  var body: SeenBody { seen.withLock { SeenBody($0.data, size: $0.size, pieces: $0.pieces) } }
}

extension MessageBody {
  /// The same body, copied while it is read. It can be read once.
  ///
  /// - Parameter exchange: Notified at the end, on an error, and when the body is released unread.
  func copied(to copy: BodyCopy, of exchange: RecordedExchange? = nil) -> MessageBody {
    let reading = RecordedReading(of: exchange)
    return relayed { chunks in
      do {
        let chunk = try await chunks.next()
        if let chunk { copy.add(chunk) } else { reading.exchange?.end(.complete) }
        return chunk
      } catch {
        reading.exchange?.end(.failed(error))
        throw error
      }
    }
  }
}

/// One reading of a recorded body: when it is released, its exchange is over.
private final class RecordedReading: Sendable {
  let exchange: RecordedExchange?

  init(of exchange: RecordedExchange?) { self.exchange = exchange }

  deinit {
    exchange?.end(.abandoned)
  }
}
