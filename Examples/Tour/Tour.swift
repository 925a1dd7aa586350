import TestOrigin
import Waylay
@main struct Tour { static func main() async throws {
  struct AddHeader: RequestInterceptor {
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      var request = request
      request.urlRequest.setValue("yes", forHTTPHeaderField: "X-Tour")
      return try await next(request)
    }
  }
  let origin = try await TestOrigin.start()
  let registry = InterceptorRegistry { AddHeader() }
  let session = URLSession(configuration: .default.intercepted(by: registry))
  let (data, response) = try await session.data(from: origin.url("/echo"))
  print(String(decoding: data, as: UTF8.self), response)
  print(try await registry.data(for: URLRequest(url: origin.url("/chunks/3"))))
  await origin.stop()
} }
