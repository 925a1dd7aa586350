import Foundation
import TestSupport
import WaylayCore
import WaylayInspector

/// Answers each request as a closure says.
struct Answering: RequestInterceptor {
  let answer: @Sendable (InterceptedRequest) async throws -> InterceptedResponse

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    try await answer(request)
  }
}

/// An inspector before an interceptor that answers by itself.
func inspected(
  _ inspector: Inspector, _ answer: @escaping @Sendable (InterceptedRequest) async throws -> InterceptedResponse
) -> InterceptorRegistry {
  InterceptorRegistry(logger: .recording()) {
    inspector
    Answering(answer: answer)
  }
}

func url(_ text: String) -> URL { URL(string: text)! }

/// A directory that is gone at the end.
func withDirectory(_ body: (URL) async throws -> Void) async throws {
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-inspector-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: directory) }
  try await body(directory)
}
