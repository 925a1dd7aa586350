// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestSupport
  import Testing

  @testable import WaylayCore

  @Suite("The body of a request on its way into libcurl", .timeLimit(.minutes(1)))
  struct CurlUploadTests {
    /// A body without an end; it says when as many chunks as are read ahead have been taken, and when it is released.
    private final class Endless: Sendable {
      let isAhead: Event
      let isReleased: Event
      private let count = Locked(0)

      init(isAhead: Event, isReleased: Event) {
        (self.isAhead, self.isReleased) = (isAhead, isReleased)
      }

      deinit {
        isReleased.happen()
      }

      func next() -> Data {
        let number = count.withLock { count in
          count += 1
          return count
        }
        if number == 2 { isAhead.happen() }
        if number > 2 { Issue.record("chunk \(number) was read ahead, while libcurl took nothing") }
        return Data(count: 64 * 1024)
      }
    }

    @Test("is read ahead only so far, and is given up when its exchange ends while it waits for room")
    func endedWhileWaiting() async throws {
      let (isAhead, isReleased) = (Event(), Event())
      let body = Endless(isAhead: isAhead, isReleased: isReleased)
      let upload = try CurlUpload(.stream(AsyncStream { [body] in body.next() }))
      _ = consume body
      upload.prepare {}
      // libcurl asks once, before there is anything.
      withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { #expect(upload.read(into: $0) == CurlReturn.pause) }
      await isAhead.wait()
      upload.end()
      await isReleased.wait()
      #expect(isReleased.hasHappened)
    }
  }
#endif
