#if InspectorServer
  import Foundation
  import NIOCore
  import WaylayHAR
  import WaylayInspector

  /// What a page is sent while it listens: Server-Sent Events (HTML, section 9.2), first of all that is there, then of
  /// all that changes.
  ///
  /// It is made as it is sent: a page that reads slowly is sent fewer steps, and nothing piles up for it but the numbers
  /// of what has changed.
  struct EventStream: Sendable {
    /// A connection whose other end has gone without a word is found by writing to it.
    static let beat = Duration.seconds(15)
    /// How much is sent at once of what is there.
    static let batch = 1 << 16

    let inspector: Inspector
    let features: [String]

    /// Sends events until the inspector is gone, or the task is cancelled.
    func run(_ send: @escaping @Sendable (ByteBuffer) async throws -> Void) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          while true {
            try await Task.sleep(for: Self.beat)
            try await send(ByteBuffer(string: ":\n\n"))
          }
        }
        group.addTask { try await sendEvents(send) }
        defer { group.cancelAll() }
        try await group.next()
      }
    }

    private func sendEvents(_ send: (ByteBuffer) async throws -> Void) async throws {
      // Before the first look at what is there: nothing can happen in between.
      let events = inspector.events(bufferingNewest: max(1_000, inspector.limits.exchanges))
      try await sendAll(send)
      for await event in events {
        switch event {
        case .exchange(let exchange): try await send(ByteBuffer(bytes: EventText.entry(exchange)))
        case .cleared: try await send(EventText.event("cleared", "1"))
        case .lost: try await sendAll(send)
        }
      }
    }

    /// All from the beginning: how many there are, each of them, and that these were all.
    private func sendAll(_ send: (ByteBuffer) async throws -> Void) async throws {
      let numbers = inspector.numbers
      let features = features.map { "\"\($0)\"" }.joined(separator: ",")
      var batch = EventText.event(
        "hello", "{\"features\":[\(features)],\"limit\":\(inspector.limits.exchanges),\"count\":\(numbers.count)}")
      for number in numbers {
        if batch.readableBytes >= Self.batch {
          try await send(batch)
          batch.clear()
        }
        if let exchange = inspector.exchange(number) { batch.writeBytes(EventText.entry(exchange)) }
      }
      batch.writeImmutableBuffer(EventText.event("complete", "\(numbers.count)"))
      try await send(batch)
    }
  }

  /// The text of events.
  enum EventText {
    /// How much of a body comes with its entry. The whole of it is asked for when somebody wants to see it.
    static let preview = 64 << 10

    static func event(_ name: String, _ data: String) -> ByteBuffer {
      ByteBuffer(string: "event: \(name)\ndata: \(data)\n\n")
    }

    static func entry(_ exchange: Inspector.Exchange) -> Data {
      var entry = exchange.entry
      var isCut = cut(&entry.response.body)
      if var body = entry.request.body, cut(&body) {
        entry.request.body = body
        isCut = true
      }
      if isCut { entry.extensions["_isPreview"] = true }
      // JSON on one line: line breaks in texts are written otherwise.
      return Data("event: entry\ndata: ".utf8) + entry.data() + Data("\n\n".utf8)
    }

    /// Keeps the beginning of a body, up to the end of a character.
    private static func cut(_ body: inout HAR.Body) -> Bool {
      guard body.data.count > preview else { return false }
      let isText = body.text != nil
      var data = body.data.prefix(preview)
      if isText {
        while let last = data.last, last & 0b1100_0000 == 0b1000_0000 { data.removeLast() }
        if let last = data.last, last & 0b1100_0000 == 0b1100_0000 { data.removeLast() }
      }
      let size = body.size
      body.data = Data(data)
      body.size = size
      return true
    }
  }
#endif
