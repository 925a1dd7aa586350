import Foundation
import TestOrigin
import WaylayCore

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// An interceptor as apps have them: it changes the request and sends it on.
private struct AddToken: RequestInterceptor {
  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    var request = request
    request.fields[.authorization] = "Bearer token"
    return try await next(request)
  }
}

/// The debugger of `Scripts/walk.sh` begins to look here.
@_optimize(none) @inline(never)
private func roadBegins() { _ = getpid() }

/// Three requests, one after the other: by the third all is warm, and its connection is there.
@main
enum Walk {
  static func main() async throws {
    let origin = try await TestOrigin.start()
    origin.reply(to: "/") { _ in .text("{}") }
    let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { AddToken() }))
    for number in 0..<3 {
      if number == 2 { roadBegins() }
      _ = try await session.data(from: origin.url("/"))
      // What the one before leaves to do is done.
      try await Task.sleep(nanoseconds: 300_000_000)
    }
    await origin.stop()
  }
}
