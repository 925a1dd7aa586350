#if InspectorServer
  import FlyingSocks
  import Foundation
  import WaylayHAR
  import WaylayInspector

  /// What a page is sent while it listens: Server-Sent Events (HTML, section 9.2), first of all that is there, then of
  /// all that changes.
  ///
  /// It is made as it is read: a page that reads slowly is sent fewer steps, and nothing piles up for it but the numbers
  /// of what has changed.
  struct EventStream: AsyncBufferedSequence {
    typealias Element = UInt8

    let inspector: Inspector
    let features: [String]
    let permit: ListenerPermits.Permit?

    func makeAsyncIterator() -> Iterator { Iterator(inspector: inspector, features: features, permit: permit) }

    struct Iterator: AsyncBufferedIteratorProtocol {
      /// A connection whose other end has gone is found by writing to it.
      static let beat = Duration.seconds(15)

      private let inspector: Inspector
      private let features: [String]
      private let permit: ListenerPermits.Permit?
      private let events: Inspector.Events
      private var pending: [UInt8] = []
      private var backlog: ArraySlice<Int> = []
      private var isOver = false

      init(inspector: Inspector, features: [String], permit: ListenerPermits.Permit?) {
        self.inspector = inspector
        self.features = features
        self.permit = permit
        // Before the first look at what is there: nothing can happen in between.
        events = inspector.events()
        if permit == nil {
          pending = EventText.event("full", "\"Too many pages are open\"")
          isOver = true
        } else {
          begin()
        }
      }

      mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

      mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
        while pending.isEmpty {
          guard !isOver else { return nil }
          await read()
        }
        let part = Array(pending.prefix(count))
        pending.removeFirst(part.count)
        return part
      }

      /// All from the beginning.
      private mutating func begin() {
        backlog = inspector.exchanges.map(\.id)[...]
        let features = features.map { "\"\($0)\"" }.joined(separator: ",")
        pending += EventText.event("hello", "{\"features\":[\(features)],\"limit\":\(inspector.limits.exchanges)}")
      }

      private mutating func read() async {
        if let id = backlog.popFirst() {
          if let exchange = inspector.exchange(id) { pending = EventText.entry(exchange) }
          return
        }
        switch await nextEvent() {
        case .event(.exchange(let exchange)): pending = EventText.entry(exchange)
        case .event(.cleared): pending = EventText.event("cleared", "1")
        case .event(.lost): begin()
        case .silence: pending = Array(":\n\n".utf8)
        case .end:
          pending = EventText.event("end", "1")
          isOver = true
        }
      }

      private enum Step {
        case event(Inspector.Event)
        case silence
        case end
      }

      private func nextEvent() async -> Step {
        let events = events
        return await withTaskGroup(of: Step.self) { group in
          group.addTask {
            await events.next().map { .event($0) } ?? .end
          }
          group.addTask {
            do { try await Task.sleep(for: Self.beat) } catch { return .end }
            return .silence
          }
          let first = await group.next() ?? .end
          group.cancelAll()
          // An event that came at the same time is not lost.
          if case .silence = first, case .event(let event)? = await group.next() { return .event(event) }
          return first
        }
      }
    }
  }

  /// The text of events.
  enum EventText {
    /// How much of a body comes with its entry. The whole of it is asked for when somebody wants to see it.
    static let preview = 64 << 10

    static func event(_ name: String, _ data: String) -> [UInt8] { Array("event: \(name)\ndata: \(data)\n\n".utf8) }

    static func entry(_ exchange: Inspector.Exchange) -> [UInt8] {
      var entry = exchange.entry
      var isCut = cut(&entry.response.body)
      if var body = entry.request.body, cut(&body) {
        entry.request.body = body
        isCut = true
      }
      if isCut { entry.extensions["_isPreview"] = true }
      // JSON on one line: line breaks in texts are written otherwise.
      return Array("event: entry\ndata: ".utf8) + entry.data() + Array("\n\n".utf8)
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
