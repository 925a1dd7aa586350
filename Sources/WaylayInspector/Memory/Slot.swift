import Foundation
import WaylayRecording

/// An exchange in memory: its messages at first, then what is kept of them.
final class Slot: @unchecked Sendable {
  // Unchecked: `listing` is only touched behind the inspector's lock.
  let number: Int
  let started: Date
  /// The clock's time at its beginning.
  let beginning: UInt64
  let attempts: AttemptLog?
  var listing = Listing()
  private let content: Locked<Content>

  /// What ``Memory`` knows of it.
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

  /// An exchange that was recorded elsewhere.
  init(_ kept: KeptExchange, at now: UInt64) {
    (number, started, beginning, attempts) = (kept.number, kept.started, now, nil)
    content = Locked(.kept(kept))
  }

  /// Replaces what is kept of an open exchange; `false` for one that has ended or was removed.
  func replace(by other: KeptExchange) -> Bool {
    content.withLock { content in
      guard case .kept(let kept) = content, kept.state == .open else { return false }
      content = .kept(other)
      return true
    }
  }

  /// Changes the messages, until they are packed.
  func update(_ change: (RawExchange) -> Void) {
    content.withLock { content in
      if case .raw(let raw) = content { change(raw) }
    }
  }

  /// Packs what is kept of it; an open exchange stays as it is.
  func seal(by inspector: Inspector) -> KeptExchange {
    // A copy: it is packed outside of the lock.
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

  /// Releases what it holds: it is no longer listed.
  func discard() {
    let removed = content.withLock { content in
      defer { content = .nothing }
      return content
    }
    attempts?.close()
    _ = removed
  }
}

/// The messages of an exchange before they are packed; guarded by the lock of its slot.
final class RawExchange: @unchecked Sendable {
  // Unchecked: see above.
  let request: InterceptedRequest
  var requestBody: RawBody
  /// The response without its body: a body that is released unread has to end its transfer.
  var response: InterceptedResponse?
  var responseBody = RawBody()
  var trailers: HTTPFields = [:]
  /// When the head of the response was there, and when all was.
  var head: UInt64?
  var end: UInt64?
  var error: (any Error)?
  /// Whether the body was released before its end.
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

/// As much of a body as is kept, while it passes.
struct RawBody: Sendable {
  private(set) var data = Data()
  /// The number of bytes reserved.
  private(set) var capacity = 0
  /// How many bytes have passed, or how many there are where that is known.
  var size = 0
  /// The file that it is.
  var file: URL?
  /// Whether there was no room for a part of it: what follows is not kept either.
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

  /// The sizes by which to grow before bytes are added: to twice the capacity, up to a limit, so that they are seldom
  /// moved, or, where that is too much, to what is needed.
  func growths(for more: Int, limit: Int) -> [Int] {
    let needed = max(capacity, data.count + more)
    return [needed == capacity ? needed : max(needed, min(limit, 2 * capacity)), needed].map { $0 - capacity }
  }

  /// Makes room, and adds bytes.
  mutating func append(_ bytes: Data, growth: Int) {
    if growth > 0 {
      capacity += growth
      // `reserveCapacity` allocates a quarter more.
      var larger = Data(capacity: capacity)
      larger.append(data)
      data = larger
    }
    data.append(bytes)
  }

  /// Drops the bytes: there was no room for them.
  mutating func drop() {
    (data, capacity) = (Data(), 0)
  }

  /// The body as an archive has it.
  func seen(_ limit: Int) -> SeenBody {
    guard let file, data.isEmpty else { return SeenBody(data, size: size) }
    // A file is read in the background, not while it is sent.
    guard let handle = try? FileHandle(forReadingFrom: file) else { return SeenBody(size: size) }
    defer { try? handle.close() }
    let beginning = (try? handle.read(upToCount: limit)) ?? Data()
    return SeenBody(beginning, size: size)
  }
}
