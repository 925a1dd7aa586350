import Foundation
import TestSupport
import Testing
import WaylayCore
import WaylayMocks

@Suite("Faults", .timeLimit(.minutes(5))) struct FaultTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let fault: NetworkFault
    let code: URLError.Code
    let phase: TransportError.Phase
    /// What of the body comes before it fails; `nil` for no head.
    let body: String?
    var testDescription: String { fault.description }

    init(_ fault: NetworkFault, _ code: URLError.Code, _ phase: TransportError.Phase, _ body: String? = nil) {
      self.fault = fault
      self.code = code
      self.phase = phase
      self.body = body
    }
  }

  static let cases = [
    Case(.offline, .notConnectedToInternet, .connecting), Case(.hostNotFound, .cannotFindHost, .resolving),
    Case(.nameLookupFailed, .dnsLookupFailed, .resolving), Case(.connectionRefused, .cannotConnectToHost, .connecting),
    Case(.connectTimedOut, .timedOut, .connecting), Case(.tls(.handshake), .secureConnectionFailed, .securing),
    Case(.tls(.untrusted), .serverCertificateUntrusted, .securing),
    Case(.tls(.unknownRoot), .serverCertificateHasUnknownRoot, .securing),
    Case(.tls(.expired), .serverCertificateHasBadDate, .securing),
    Case(.tls(.notYetValid), .serverCertificateNotYetValid, .securing),
    Case(.tls(.clientCertificateRequired), .clientCertificateRequired, .securing),
    Case(.tls(.clientCertificateRejected), .clientCertificateRejected, .securing),
    Case(.tls(.plainTextForbidden), .appTransportSecurityRequiresSecureConnection, .securing),
    Case(.timedOut, .timedOut, .receiving), Case(.connectionReset, .networkConnectionLost, .receiving),
    Case(.emptyResponse, .networkConnectionLost, .receiving), Case(.malformedResponse, .badServerResponse, .receiving),
    Case(.connectionReset(afterBytes: 0), .networkConnectionLost, .receiving, ""),
    Case(.connectionReset(afterBytes: 4), .networkConnectionLost, .receiving, "0123"),
    Case(.connectionReset(afterBytes: 99), .networkConnectionLost, .receiving, "0123456789"),
    Case(.truncated(afterBytes: 4), .networkConnectionLost, .receiving, "0123"),
    Case(.malformedChunk(afterBytes: 4), .networkConnectionLost, .receiving, "0123"),
  ]

  private func check(_ error: (any Error)?, _ fault: Case, location: SourceLocation = #_sourceLocation) throws {
    let error = try #require(error as? URLError, sourceLocation: location)
    #expect(error.code == fault.code, sourceLocation: location)
    #expect(error.userInfo[NSURLErrorFailingURLErrorKey] as? URL == .mocked, sourceLocation: location)
    let beneath = try #require(error.userInfo[NSUnderlyingErrorKey] as? TransportError, sourceLocation: location)
    #expect(beneath.phase == fault.phase, sourceLocation: location)
    #expect(((beneath.requestBytesSent ?? -1) > 0) == (fault.phase == .receiving), sourceLocation: location)
  }

  private func session(_ fault: Case, delegate: Recorder? = nil) -> URLSession {
    Answering(.text("0123456789").fault(fault.fault)).session(delegate: delegate)
  }

  @Test("data(for:) throws it", arguments: cases)
  func async(fault: Case) async throws {
    let session = session(fault)
    defer { session.invalidateAndCancel() }
    let error = await #expect(throws: (any Error).self) { try await session.data(from: .mocked) }
    try check(error, fault)
  }

  @Test("a completion handler gets it, once", arguments: cases)
  func handler(fault: Case) async throws {
    let session = session(fault)
    let calls = Locked(0)
    let error = await withCheckedContinuation { (continuation: CheckedContinuation<(any Error)?, Never>) in
      session.dataTask(with: .mocked) { _, _, error in
        if calls.withLock({
          $0 += 1; return $0
        }) == 1 {
          continuation.resume(returning: error)
        }
      }.resume()
    }
    try check(error, fault)
    // A second call would come before the end of another load of the session: they share a queue.
    _ = try? await session.data(from: .mocked)
    session.finishTasksAndInvalidate()
    #expect(calls.withLock { $0 } == 1)
  }

  @Test(
    "a delegate gets it, once, after what came before it",
    .enabled(if: Platform.deliversEachChunk, "Apple's loading system may put chunks together"),
    arguments: cases)
  func delegate(fault: Case) async throws {
    let log = Recorder()
    let session = session(fault, delegate: log)
    defer { session.invalidateAndCancel() }
    session.dataTask(with: .mocked).resume()
    let entries = await log.completed()
    try check(log.failure, fault)
    let expected: [Recorder.Entry] =
      (fault.body.map { $0.isEmpty ? [.response(200)] : [.response(200), .data($0)] } ?? [])
    #expect(entries == expected + [.completed(fault.code)])
  }

  @Test("a direct load throws it, from the head or from the body", arguments: cases)
  func direct(fault: Case) async throws {
    let registry = InterceptorRegistry { Answering(.text("0123456789").fault(fault.fault)) }
    var received: String?
    let error = await #expect(throws: (any Error).self) {
      let response = try await registry.load(URLRequest(url: .mocked))
      received = ""
      for try await chunk in response.body { received?.append(String(decoding: chunk, as: UTF8.self)) }
    }
    try check(error, fault)
    #expect(received == fault.body)
  }

  @Test("an interceptor before the mock sees what a transport throws, and may retry what was never sent")
  func interceptors() async throws {
    struct Retry: RequestInterceptor {
      func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse
      {
        do {
          return try await next(request)
        } catch let error as TransportError where error.requestBytesSent == 0 {
          return try await next(request)
        }
      }
    }
    let answer = Answering { $0.index == 0 ? .fault(.connectionRefused) : .text("second") }
    let session = URLSession(
      configuration: .ephemeral.intercepted(
        by: InterceptorRegistry {
          Retry(); answer
        }), delegate: nil, delegateQueue: nil)
    defer { session.invalidateAndCancel() }
    let (data, _) = try await session.data(from: .mocked)
    #expect(String(decoding: data, as: UTF8.self) == "second")
  }

  @Test("a truncated body comes under the length that was announced")
  func truncated() async throws {
    let response = try await MockResponse.text("0123456789").fault(.truncated(afterBytes: 4)).direct()
    #expect(response.fields[values: .contentLength] == ["10"])
    let longer = try await MockResponse.text("01").fault(.truncated(afterBytes: 4)).direct()
    #expect(longer.fields[values: .contentLength] == ["5"])
  }

  @Test("a fault waits as long as it is told to")
  func delayed() async throws {
    let clock = MockClock(isAutomatic: true)
    await #expect(throws: TransportError.self) {
      try await MockResponse.fault(.connectTimedOut).delay(.seconds(60)).direct(clock: clock)
    }
    #expect(clock.now.offset == .seconds(60))
  }

  @Test(
    "a stalled body delivers its beginning and then waits for the cancellation",
    .enabled(if: Platform.deliversEachChunk, "Apple's loading system may put chunks together"))
  func stalled() async throws {
    let log = Recorder()
    let session = Answering(.text("0123456789").fault(.stalled(afterBytes: 3))).session(delegate: log)
    defer { session.invalidateAndCancel() }
    let task = session.dataTask(with: .mocked)
    task.resume()
    #expect(await log.entries(2) == [.response(200), .data("012")])
    task.cancel()
    #expect(await log.completed().last == .completed(.cancelled))
  }

  @Test(
    "an error by code has the phase that belongs to it, one of one's own is thrown as it is",
    arguments: [
      (URLError.Code.timedOut, TransportError.Phase.receiving), (.cannotFindHost, .resolving),
      (.notConnectedToInternet, .connecting),
      (.serverCertificateUntrusted, .securing), (.cannotParseResponse, .receiving),
      (.userAuthenticationRequired, .unknown),
    ])
  func errors(code: URLError.Code, phase: TransportError.Phase) async throws {
    let error = await #expect(throws: TransportError.self) { try await MockResponse.error(code).direct() }
    #expect(error?.urlErrorCode == code)
    #expect(error?.phase == phase)
    struct Own: Error {}
    await #expect(throws: Own.self) { try await MockResponse.error(Own()).direct() }
    let session = Answering(.error(URLError(.badURL))).session()
    defer { session.invalidateAndCancel() }
    let seen = await #expect(throws: URLError.self) { try await session.data(from: .mocked) }
    #expect(seen?.code == .badURL)
  }
}
