import Foundation

/// The way of one body into the store, with a checkpoint now and then: what a process that is killed had of a large
/// body is completed by the next one.
final class StoreSink: BodySink {
  /// Bytes between two checkpoints.
  static let stride: Int64 = 4 << 20

  let writer: any EntryWriter
  /// What to store when the body ends after so many bytes; `nil` where it could not be resumed.
  private let draft: @Sendable (Int64) -> EntryDraft?
  private let next: Locked<Int64>

  init(_ writer: any EntryWriter, checkpoint draft: @escaping @Sendable (Int64) -> EntryDraft?) {
    self.writer = writer
    self.draft = draft
    next = Locked(writer.length.addingSaturating(Self.stride))
  }

  func append(_ chunk: Data) async throws {
    try await writer.append(chunk)
    let length = writer.length
    let isDue = next.withLock { next in
      guard length >= next else { return false }
      next = length.addingSaturating(Self.stride)
      return true
    }
    // A checkpoint that fails costs a restarted process some bytes; the entry itself may still come out whole.
    if isDue, let draft = draft(length) { _ = try? await writer.checkpoint(draft) }
  }

  func read(at offset: Int64, upTo count: Int) async throws -> Data {
    try await writer.read(at: offset, upTo: count)
  }
}
