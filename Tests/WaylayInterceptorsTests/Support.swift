import TestSupport
import Testing
import WaylayCore
import WaylayInterceptors
import WaylayMocks

/// Made-up responses of a network, in their order, and what was asked for.
final class Script: Sendable {
  let requests = Log<InterceptedRequest>()
  private let responses: @Sendable (InterceptedRequest, Int) async throws -> InterceptedResponse

  init(_ responses: @escaping @Sendable (InterceptedRequest, Int) async throws -> InterceptedResponse) {
    self.responses = responses
  }

  /// Statuses, the last of which repeats.
  convenience init(_ statuses: HTTPResponse.Status..., fields: HTTPFields = [:]) {
    self.init { request, number in
      InterceptedResponse(
        to: request, status: statuses[min(number, statuses.count) - 1], fields: fields, source: .network)
    }
  }

  var next: InterceptorChain.Next {
    InterceptorChain.Next { request in
      self.requests.add(request)
      return try await self.responses(request, self.requests.all.count)
    }
  }
}

extension RequestInterceptor {
  func load(_ request: InterceptedRequest, _ script: Script) async throws -> InterceptedResponse {
    try await startLoading(request, next: script.next)
  }
}

extension InterceptedRequest {
  static var example: InterceptedRequest { InterceptedRequest(.get, "https://api.example.com/v1") }
}

struct Refused: Error, Equatable {}

/// Work that has begun when this returns: it runs up to its first wait.
func begin<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error> {
  if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
    return Task.immediate { try await work() }
  }
  return Task { try await work() }
}
