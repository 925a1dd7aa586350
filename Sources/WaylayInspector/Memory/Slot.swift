import Foundation
import WaylayRecording

/// An exchange in memory: its messages at first, then its packed form.
final class Slot: @unchecked Sendable {
  // Unchecked: `listing` is guarded by the inspector's lock.
  let number: Int
  let started: Date
  /// The start, by the inspector's clock.
  let beginning: UInt64
  let attempts: AttemptLog?
  var listing = Listing()
  private let content: Locked<Content>

  /// The bookkeeping of ``Memory``.
  struct Listing {
    var cost = 0
    var isListed = false
    var isOpen = true
    var isAmongOpen = false
  }

  private enum Content {
    case raw(RawExchange)
    case kept(KeptExchange)
    case nothing
  }

  init(_ number: Int, _ raw: RawExchange, at now: UInt64, watchesAttempts: Bool) {
    self.number = number
    started = Date()
    beginning = now
    attempts = watchesAttempts ? AttemptLog() : nil
    content = Locked(.raw(raw))
  }

  /// Makes a slot for an exchange that was recorded elsewhere.
  init(_ kept: KeptExchange, at now: UInt64) {
    (number, started, beginning, attempts) = (kept.number, kept.started, now, nil)
    content = Locked(.kept(kept))
  }

  /// Replaces the content of an open exchange; `false` if it has ended or was removed.
  func replace(by other: KeptExchange) -> Bool {
    content.withLock { content in
      guard case .kept(let kept) = content, kept.state == .open else { return false }
      content = .kept(other)
      return true
    }
  }

  /// Changes the messages; no-op after packing.
  func update(_ change: (RawExchange) -> Void) {
    content.withLock { content in
      if case .raw(let raw) = content { change(raw) }
    }
  }

  /// Packs an ended exchange and keeps the result; an open exchange stays unpacked.
  func seal(by inspector: Inspector) -> KeptExchange {
    // Pack a copy outside of the lock.
    let copy = content.withLock { content -> Content in
      if case .raw(let raw) = content { .raw(raw.copy()) } else { content }
    }
    let raw: RawExchange
    switch copy {
    case .raw(let copy): raw = copy
    case .kept(let kept): return kept
    case .nothing:
      let nothing = HAR.Entry(started: started, request: HAR.Request(method: "", url: ""), response: .none)
      return KeptExchange(nothing, number)
    }
    let kept = KeptExchange(self, raw, inspector)
    guard raw.end != nil else { return kept }
    attempts?.close()
    return content.withLock { content in
      switch content {
      case .raw: content = .kept(kept)
      // Another thread has packed it first.
      case .kept(let kept): return kept
      case .nothing: break
      }
      return kept
    }
  }

  /// Releases the content of an exchange that was removed.
  func discard() {
    let removed = content.withLock { exchange(&$0, with: .nothing) }
    attempts?.close()
    _ = removed
  }
}

/// The messages of an exchange before packing; guarded by the lock of its slot.
final class RawExchange: @unchecked Sendable {
  // Unchecked: guarded by the lock of its slot.
  let request: InterceptedRequest
  var requestBody: RawBody
  /// The response without its body: a body that is released unread must end its transfer.
  var response: InterceptedResponse?
  var responseBody = RawBody()
  var trailers: HTTPFields = [:]
  /// When the head arrived, and when the exchange ended.
  var head: UInt64?
  var end: UInt64?
  var error: (any Error)?
  /// Whether the reader released the body before its end.
  var isAbandoned = false
  var isWebSocket = false

  init(_ request: InterceptedRequest, _ body: RawBody) {
    self.request = request
    requestBody = body
  }

  func copy() -> RawExchange {
    let copy = RawExchange(request, requestBody)
    copy.response = response
    copy.responseBody = responseBody
    copy.trailers = trailers
    (copy.head, copy.end, copy.error, copy.isAbandoned, copy.isWebSocket) = (head, end, error, isAbandoned, isWebSocket)
    return copy
  }
}

/// The kept prefix of a body, recorded while it streams.
struct RawBody: Sendable {
  private(set) var data = Data()
  /// The number of bytes reserved.
  private(set) var capacity = 0
  /// The bytes recorded so far, or the full size if known.
  var size = 0
  /// The file that contains the body.
  var file: URL?
  /// Whether a part did not fit: later parts are dropped too.
  var isCut = false

  init() {}

  init(_ body: MessageBody, limit: Int) {
    if let data = body.inMemory {
      size = data.count
      self.data = data.count <= limit ? data : Data(data.prefix(limit))
      capacity = self.data.count
    } else {
      size = body.length.map(Int.init(clamping:)) ?? 0
      file = body.fileURL
    }
  }

  /// Amounts to grow by: first to twice the capacity (at most the limit), which makes reallocation rare; if the memory
  /// does not allow that, to the needed size.
  func growths(for more: Int, limit: Int) -> [Int] {
    let needed = max(capacity, data.count + more)
    return [needed == capacity ? needed : max(needed, min(limit, 2 * capacity)), needed].map { $0 - capacity }
  }

  /// Grows the capacity, then appends bytes.
  mutating func append(_ bytes: Data, growth: Int) {
    if growth > 0 {
      capacity += growth
      // `reserveCapacity` would allocate a quarter more.
      var larger = Data(capacity: capacity)
      larger.append(data)
      data = larger
    }
    data.append(bytes)
  }

  /// Drops the bytes, which did not fit.
  mutating func drop() {
    (data, capacity) = (Data(), 0)
  }

  /// The body for a HAR entry.
  func seen(_ limit: Int) -> SeenBody {
    guard let file, data.isEmpty else { return SeenBody(data, size: size) }
    // A file is read in the background, not during the upload.
    guard let handle = try? FileHandle(forReadingFrom: file) else { return SeenBody(size: size) }
    defer { try? handle.close() }
    let beginning = (try? handle.read(upToCount: limit)) ?? Data()
    return SeenBody(beginning, size: size)
  }
}
