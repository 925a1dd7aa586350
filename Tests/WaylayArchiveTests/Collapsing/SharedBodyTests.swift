import Foundation
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("A body that several loads read", .timeLimit(.minutes(5)))
struct SharedBodyTests {
  /// A sink in memory that may fail after so many bytes.
  private final class Sink: BodySink {
    let bytes = Locked(Data())
    let limit: Int

    init(limit: Int = .max) {
      self.limit = limit
    }

    func append(_ chunk: Data) async throws {
      try bytes.withLock { bytes in
        guard bytes.count + chunk.count <= limit else { throw ArchiveError(.unreadable, "full") }
        bytes.append(chunk)
      }
    }

    func read(at offset: Int64, upTo count: Int) async throws -> Data {
      bytes.withLock { Data($0[Int(offset)..<min(Int(offset) + count, $0.count)]) }
    }
  }

  /// A source of so many chunks, which counts how many were taken.
  private struct Source: AsyncSequence, Sendable {
    let count: Int
    let taken: Locked<Int>
    var fails = false

    struct AsyncIterator: AsyncIteratorProtocol {
      let source: Source
      var next = 0

      mutating func next() async throws -> Data? {
        guard next < source.count else {
          if source.fails { throw URLError(.networkConnectionLost) }
          return nil
        }
        next += 1
        source.taken.withLock { $0 += 1 }
        return Data(repeating: UInt8(truncatingIfNeeded: next), count: SharedBodyTests.chunk)
      }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: self) }
  }

  static let chunk = 64 * 1024

  private func expected(_ count: Int) -> Data {
    (1...count).reduce(into: Data()) { $0.append(Data(repeating: UInt8(truncatingIfNeeded: $1), count: Self.chunk)) }
  }

  @Test("the transfer keeps no more than a window ahead of the fastest reader")
  func pace() async throws {
    let taken = Locked(0)
    let shared = SharedBody(.stream(Source(count: 100, taken: taken)), into: Sink())
    let reader = try #require(shared.reader())
    shared.start { _ in }
    for _ in 0..<3 { #expect(try await reader.next() != nil) }
    for _ in 0..<100 { await Task.yield() }
    #expect(taken.withLock { $0 } <= 3 + SharedBody.window / Self.chunk)
  }

  @Test("a reader that is far behind reads what it missed from the sink")
  func behind() async throws {
    let end = Locked<SharedBody.End?>(nil)
    let shared = SharedBody(.stream(Source(count: 40, taken: Locked(0))), into: Sink())
    let slow = try #require(shared.body())
    let fast = try #require(shared.body())
    shared.start { value in end.withLock { $0 = value } }
    #expect(try await fast.collect(upTo: 1 << 30) == expected(40))
    #expect(try await slow.collect(upTo: 1 << 30) == expected(40))
    guard case .complete(let bytes) = end.withLock({ $0 }) else { return #expect(Bool(false), "not complete") }
    #expect(bytes == Int64(40 * Self.chunk))
  }

  @Test("the end is stored before the readers hear of it")
  func order() async throws {
    let isStored = Locked(false)
    let shared = SharedBody(.stream(Source(count: 3, taken: Locked(0))), into: Sink())
    let body = try #require(shared.body())
    shared.start { _ in
      await Task.yield()
      isStored.withLock { $0 = true }
    }
    _ = try await body.collect(upTo: 1 << 30)
    #expect(isStored.withLock { $0 })
  }

  @Test("a sink that fails loses the entry, and no reader a byte")
  func sinkFails() async throws {
    let end = Locked<SharedBody.End?>(nil)
    let shared = SharedBody(.stream(Source(count: 40, taken: Locked(0))), into: Sink(limit: 10 * Self.chunk))
    let first = try #require(shared.body())
    let second = try #require(shared.body())
    shared.start { value in end.withLock { $0 = value } }
    async let one = first.collect(upTo: 1 << 30)
    async let two = second.collect(upTo: 1 << 30)
    let (left, right) = try await (one, two)
    #expect(left == expected(40) && right == expected(40))
    guard case .lost = end.withLock({ $0 }) else { return #expect(Bool(false), "not lost") }
  }

  @Test("a transfer that breaks off fails every reader, and says how much there is")
  func broken() async throws {
    let end = Locked<SharedBody.End?>(nil)
    let shared = SharedBody(.stream(Source(count: 5, taken: Locked(0), fails: true)), into: Sink())
    let body = try #require(shared.body())
    shared.start { value in end.withLock { $0 = value } }
    let error = await failure { try await body.collect(upTo: 1 << 30) }
    #expect((error as? URLError)?.code == .networkConnectionLost)
    guard case .partial(let bytes) = end.withLock({ $0 }) else { return #expect(Bool(false), "not partial") }
    #expect(bytes == Int64(5 * Self.chunk))
    #expect(shared.reader() == nil)
  }

  @Test("the last reader to go ends the transfer")
  func abandoned() async throws {
    let (ended, continuation) = AsyncStream.makeStream(of: SharedBody.End.self)
    let shared = SharedBody(.stream(Source(count: 1000, taken: Locked(0))), into: Sink())
    do {
      let reader = try #require(shared.reader())
      shared.start { continuation.yield($0) }
      #expect(try await reader.next() != nil)
    }
    var iterator = ended.makeAsyncIterator()
    guard case .partial = await iterator.next() else { return #expect(Bool(false), "not partial") }
    #expect(shared.reader() == nil)
  }

  @Test("a small rest that does not come within a second of the last reader's end ends the transfer")
  func stalled() async throws {
    let (clock, stalled) = (ManualClock(), Event())
    let (ended, continuation) = AsyncStream.makeStream(of: SharedBody.End.self)
    let (chunks, source) = AsyncStream.makeStream(of: Data.self)
    source.onTermination = { _ in stalled.happen() }
    source.yield(Data(repeating: 1, count: 100))
    let shared = SharedBody(.stream(chunks, length: 200), into: Sink(), on: clock.clock)
    do {
      let reader = try #require(shared.reader())
      shared.start { continuation.yield($0) }
      #expect(try await reader.next() != nil)
    }
    await clock.awaited(within: 1)
    clock.advance(by: 1)
    await stalled.wait()
    var iterator = ended.makeAsyncIterator()
    guard case .partial = await iterator.next() else { return #expect(Bool(false), "not partial") }
    #expect(shared.reader() == nil)
  }

  @Test("a reader of a range gets that, and goes no further")
  func range() async throws {
    let sink = Sink()
    try await sink.append(Data(repeating: 9, count: 100))
    let shared = SharedBody(.stream(Source(count: 2, taken: Locked(0))), into: sink, after: 100)
    let body = try #require(shared.body(of: 50..<150))
    let whole = try #require(shared.body())
    shared.start { _ in }
    #expect(try await body.collect(upTo: 1000) == Data(repeating: 9, count: 50) + Data(repeating: 1, count: 50))
    #expect(try await whole.collect(upTo: 1 << 30) == Data(repeating: 9, count: 100) + expected(2))
  }
}
