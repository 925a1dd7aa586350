#if !canImport(Darwin)
  import AppleCore
  import Foundation
  import HTTPTypes

  /// A request of the run, and the answer that its app must see.
  struct ModelExchange: Sendable {
    enum Kind: Sendable, CaseIterable {
      /// Answered with a body in one piece, or in chunks.
      case whole, chunks
      /// Led on to another URL, some times.
      case redirects
      /// A 401 of an interceptor, and the challenges of a connection.
      case unauthorized, connection
      /// Fails; hangs until it is cancelled.
      case failing, silent
      /// Sends a body, through redirects that keep it, over connections that are lost.
      case upload
      /// Gets more than a slow reader takes.
      case flood

      static let common: [Kind] = [
        .whole, .chunks, .redirects, .unauthorized, .connection, .failing, .silent, .upload, .upload, .upload,
      ]
    }

    /// What the app gives its request for a body.
    enum Body: Sendable {
      /// Data, or a stream whose length it says: something the session could send twice.
      case data, measured
      /// A stream without a length, one that fails, one that says the wrong length, and one that says a length too large
      /// for memory.
      case stream, failing, wrong, large

      static let small: [Body] = [.data, .measured, .stream, .failing, .wrong]
    }

    /// Whether the body can be sent twice: its length is known, or its end was found near.
    private func isKept(_ plan: AppPlan) -> Bool {
      length <= 64 << 10 || plan.length != .neither && (body == .data || body == .measured)
    }

    let number: Int
    let kind: Kind
    private let count: Int
    /// Which of the sessions it is for.
    let session: Int
    private let body: Body
    private let length: Int
    /// Redirects that keep the body, and connections that are lost while it is sent.
    private let (hops, lost): (Int, Int)

    init(_ number: Int, _ random: inout SplitMix) {
      self.number = number
      kind = number % 100 == 50 ? .flood : Kind.common.randomElement(using: &random) ?? .whole
      count = Int.random(in: 1...4, using: &random)
      session = Int.random(in: 0..<ModelRun.sessions, using: &random)
      let body = number % 20 == 7 ? .large : Body.small.randomElement(using: &random) ?? .data
      self.body = body
      length = Int.random(in: 1...200_000, using: &random) + (body == .large ? 4 << 20 : 0)
      hops = kind == .upload ? Int.random(in: 0...2, using: &random) : 0
      lost = kind == .upload && Int.random(in: 0..<3, using: &random) == 0 ? 1 : 0
    }

    private var bytes: Data {
      let pattern = Data((0..<251).map { UInt8(truncatingIfNeeded: $0 &+ number) })
      var bytes = Data(capacity: length + pattern.count)
      while bytes.count < length { bytes.append(pattern) }
      return bytes.prefix(length)
    }

    /// Many requests have one URL, and differ by a header field.
    var request: URLRequest {
      let path = "\(kind)/\(kind == .upload ? hops : count)"
      var request = URLRequest(url: URL(string: "https://model.test/\(path)") ?? URL(fileURLWithPath: "/"))
      request.setValue("\(number)", forHTTPHeaderField: "X-Load")
      if kind == .connection { request.setValue("\(count)", forHTTPHeaderField: "X-Challenges") }
      guard kind == .upload else { return request }
      request.httpMethod = "POST"
      if lost > 0 { request.setValue("\(lost)", forHTTPHeaderField: "X-Lost") }
      if body == .failing || body == .wrong { request.setValue("1", forHTTPHeaderField: "X-Broken") }
      switch body {
      case .data: request.httpBody = bytes
      case .measured, .stream, .large: request.httpBodyStream = InputStream(data: bytes)
      case .failing: request.httpBodyStream = FailingInput(after: length)
      case .wrong: request.httpBodyStream = InputStream(data: bytes)
      }
      if body == .measured || body == .large { request.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
      if body == .wrong {
        request.setValue("\(length + (length % 2 == 0 ? 1 : -1))", forHTTPHeaderField: "Content-Length")
      }
      return request
    }

    /// What is wrong with what the app saw of a load that was not cancelled.
    func difference(from outcome: Outcome, _ plan: AppPlan) -> String? {
      let code = (outcome.error as? URLError)?.code
      if let response = outcome.response, response.value(forHTTPHeaderField: "X-Session") != "\(session)" {
        return "another session answered"
      }
      switch kind {
      case .upload: return uploaded(outcome, plan)
      case .flood:
        let expected = (0..<48).reduce(into: Data()) { $0.append(Data(repeating: $1, count: 64 * 1024)) }
        return outcome.error == nil && outcome.body == expected
          ? nil : "\(outcome.body.count) bytes came, with \(String(describing: outcome.error))"
      case .silent: return "a load that hangs has ended"
      case .failing: return code == .cannotConnectToHost ? nil : "ended with \(String(describing: outcome.error))"
      case .whole, .chunks:
        return difference(outcome, body: String(repeating: "load \(number);", count: count), hops: 1)
      case .redirects:
        guard plan.followsRedirects else {
          return outcome.response?.statusCode == 302 && outcome.hops == 1 && outcome.error == nil
            ? nil : "did not end at the redirect, but with \(String(describing: outcome.error))"
        }
        return difference(outcome, body: "load \(number) hop \(count)", hops: count + 1)
      case .connection:
        guard plan.answer != .cancel else {
          return code == .cancelled ? nil : "ended with \(String(describing: outcome.error))"
        }
        return difference(outcome, body: String(repeating: disposition(plan.answer), count: count), hops: 1)
      case .unauthorized:
        switch plan.answer {
        case .credential, .twice: return difference(outcome, body: "load \(number) welcome", hops: 1)
        case .cancel: return code == .cancelled ? nil : "ended with \(String(describing: outcome.error))"
        case .without, .byDefault, .reject:
          return outcome.response?.statusCode == 401 && outcome.error == nil ? nil : "did not end with the 401"
        case .never: return "a challenge that nobody answers has ended"
        }
      }
    }

    /// What the server of an upload must have got, or why it got nothing.
    private func uploaded(_ outcome: Outcome, _ plan: AppPlan) -> String? {
      let cause = (outcome.error as? URLError)?.cause(as: WaylayError.self)?.code
      if body == .failing || body == .wrong {
        return cause == .bodyUnreadable ? nil : "a body that fails ended with \(outcome)"
      }
      // What was read once cannot be sent twice.
      if !isKept(plan), lost > 0 || hops > 0 {
        return cause == .bodyConsumed ? nil : "a body that can be read once ended with \(outcome)"
      }
      if hops > 0, !plan.followsRedirects {
        return outcome.response?.statusCode == 307 && outcome.error == nil ? nil : "did not end at the redirect"
      }
      return difference(outcome, body: "POST \(length) \(bytes.checksum)", hops: hops + 1)
    }

    private func disposition(_ answer: AppPlan.Answer) -> String {
      let disposition: URLSession.AuthChallengeDisposition =
        switch answer {
        case .credential, .twice, .without, .never: .useCredential
        case .cancel: .cancelAuthenticationChallenge
        case .byDefault: .performDefaultHandling
        case .reject: .rejectProtectionSpace
        }
      return "\(disposition.rawValue)"
    }

    private func difference(_ outcome: Outcome, body: String, hops: Int) -> String? {
      if let error = outcome.error { return "failed: \(error)" }
      guard outcome.response?.statusCode == 200 else { return "status \(outcome.response?.statusCode ?? 0)" }
      guard String(decoding: outcome.body, as: UTF8.self) == body else {
        return "body \(String(decoding: outcome.body, as: UTF8.self)) instead of \(body)"
      }
      return outcome.hops == hops ? nil : "\(outcome.hops) hops instead of \(hops)"
    }
  }

  /// The server of the run.
  struct ModelAnswers: RequestInterceptor {
    let session: Int

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      var response = try await answer(request, next)
      if let name = HTTPField.Name("X-Session") { response.fields[name] = "\(session)" }
      return response
    }

    private func answer(
      _ request: InterceptedRequest, _ next: InterceptorChain.Next
    ) async throws -> InterceptedResponse {
      let load = request.urlRequest.value(forHTTPHeaderField: "X-Load") ?? "?"
      let path = request.url.path.split(separator: "/")
      let count = path.dropFirst().first.flatMap { Int($0) } ?? 0
      switch path.first {
      case "whole":
        return InterceptedResponse(to: request, body: .text(String(repeating: "load \(load);", count: count)))
      case "chunks":
        await Task.yield()
        let chunks = AsyncStream<Data> { continuation in
          for _ in 0..<count { continuation.yield(Data("load \(load);".utf8)) }
          continuation.finish()
        }
        return InterceptedResponse(to: request, body: .stream(chunks))
      case "redirects":
        // All hops are one load.
        let id = "id=\(request.id)"
        guard (request.url.query ?? id) == id else {
          return InterceptedResponse(to: request, body: .text("another id"))
        }
        guard count > 0 else { return InterceptedResponse(to: request, body: .text("load \(load) hop \(request.hop)")) }
        return InterceptedResponse(to: request, status: .found, fields: [.location: "/redirects/\(count - 1)?\(id)"])
      case "unauthorized":
        guard request.fields[.authorization] != nil else {
          return InterceptedResponse(
            to: request, status: .unauthorized, fields: [.wwwAuthenticate: "Basic realm=\"\(load)\""])
        }
        return InterceptedResponse(to: request, body: .text("load \(load) welcome"))
      case "failing":
        await Task.yield()
        throw URLError(.cannotConnectToHost)
      case "silent":
        try await Task.sleep(for: .seconds(3600))
        return InterceptedResponse(to: request)
      case "flood":
        var response = try await next(request)
        response.body = .slowly(response.body)
        return response
      case "upload":
        // An interceptor may send bytes of its own, which can be read again.
        guard request.urlRequest.value(forHTTPHeaderField: "X-Lost") != nil, let bytes = request.body.inMemory else {
          return try await next(request)
        }
        var replayed = request
        replayed.body = .stream {
          AsyncStream { continuation in
            continuation.yield(bytes)
            continuation.finish()
          }
        }
        return try await next(replayed)
      default:
        return try await next(request)
      }
    }
  }

  extension MessageBody {
    /// The same bytes, to a reader that lets others go first.
    static func slowly(_ body: MessageBody) -> MessageBody {
      .stream(
        AsyncThrowingStream<Data, any Error>(bufferingPolicy: .bufferingOldest(1)) { continuation in
          let task = Task {
            do {
              for try await chunk in body {
                for _ in 0..<3000 { await Task.yield() }
                while case .dropped = continuation.yield(chunk) { await Task.yield() }
              }
              continuation.finish()
            } catch {
              continuation.finish(throwing: error)
            }
          }
          continuation.onTermination = { _ in task.cancel() }
        })
    }
  }
#endif
