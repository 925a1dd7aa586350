#if !canImport(Darwin)
  import AppleCore
  import Foundation

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
    }

    let number: Int
    let kind: Kind
    private let count: Int

    init(_ number: Int, _ random: inout SplitMix) {
      self.number = number
      kind = Kind.allCases.randomElement(using: &random) ?? .whole
      count = Int.random(in: 1...4, using: &random)
    }

    /// Many requests have one URL, and differ by a header field.
    var request: URLRequest {
      var request = URLRequest(url: URL(string: "https://model.test/\(kind)/\(count)") ?? URL(fileURLWithPath: "/"))
      request.setValue("\(number)", forHTTPHeaderField: "X-Load")
      request.setValue("\(count)", forHTTPHeaderField: "X-Challenges")
      return request
    }

    /// What is wrong with what the app saw of a load that was not cancelled.
    func difference(from outcome: Outcome, _ plan: AppPlan) -> String? {
      let code = (outcome.error as? URLError)?.code
      switch kind {
      case .silent: return "a load that hangs has ended"
      case .failing: return code == .cannotConnectToHost ? nil : "ended with \(String(describing: outcome.error))"
      case .whole, .chunks:
        return difference(outcome, body: String(repeating: "load \(number);", count: count), hops: 1)
      case .redirects:
        guard plan.followsRedirects else {
          return outcome.response?.statusCode == 302 && outcome.hops == 1 ? nil : "did not end at the redirect"
        }
        return difference(outcome, body: "load \(number) hop \(count)", hops: count + 1)
      case .connection:
        guard plan.answer != .cancel else {
          return code == .userCancelledAuthentication ? nil : "ended with \(String(describing: outcome.error))"
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
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
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
        guard count > 0 else { return InterceptedResponse(to: request, body: .text("load \(load) hop \(request.hop)")) }
        return InterceptedResponse(to: request, status: .found, fields: [.location: "/redirects/\(count - 1)"])
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
      default:
        return try await next(request)
      }
    }
  }
#endif
