import Foundation
import Waylay
import WaylayInspector

/// What it costs to be written down, and to be found again.
extension Scenario {
  static func inspected() -> [Scenario] {
    let plain = "direct load, one interceptor"
    let inspector = Inspector()
    let recorded = InterceptorRegistry {
      inspector
      Written(body: .data(Answer.body))
    }
    let streamReference = "inspector: none, a body of 64 KiB as a stream"
    let bare = InterceptorRegistry { Written(body: Self.stream) }
    let watched = InterceptorRegistry {
      inspector
      Written(body: Self.stream)
    }
    let search = "inspector: search among 100000 exchanges"
    return [
      Scenario("inspector: direct load, recorded", against: plain) {
        let response = try await recorded.load(URLRequest(url: Answer.url))
        guard response.body.length == Int64(Answer.body.count) else { throw URLError(.cannotDecodeContentData) }
      },
      Scenario(streamReference, against: streamReference) { try await read(bare) },
      Scenario("inspector: a body of 64 KiB as a stream, recorded", against: streamReference) {
        try await read(watched)
      },
      Scenario(search, against: search) {
        let many = try await Many.shared.inspector()
        guard many.exchanges(where: { $0.request.url.contains("needle") }).isEmpty else { throw URLError(.unknown) }
      }.large(),
    ]
  }

  private static func read(_ registry: InterceptorRegistry) async throws {
    var size = 0
    for try await chunk in try await registry.load(URLRequest(url: Answer.url)).body { size += chunk.count }
    guard size == 64 * 1024 else { throw URLError(.cannotDecodeContentData) }
  }

  private static var stream: MessageBody {
    .stream {
      AsyncStream<Data> { continuation in
        for _ in 0..<4 { continuation.yield(Data(count: 16 * 1024)) }
        continuation.finish()
      }
    }
  }
}

/// Gives one answer to everybody.
private struct Written: RequestInterceptor {
  let body: MessageBody

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    InterceptedResponse(to: request, fields: [.contentType: "application/octet-stream"], body: body)
  }
}

/// Exchanges to search in, made when they are first wanted.
private actor Many {
  static let shared = Many()
  private var made: Inspector?

  func inspector() async throws -> Inspector {
    if let made { return made }
    let inspector = Inspector(limits: Inspector.Limits(exchanges: 100_000, bytes: 1 << 30))
    made = inspector
    let registry = InterceptorRegistry {
      inspector
      Written(body: .data(Answer.body))
    }
    for number in 0..<100_000 {
      _ = try await registry.load(URLRequest(url: Answer.url.appendingPathComponent("\(number)")))
    }
    await inspector.flush()
    return inspector
  }
}
