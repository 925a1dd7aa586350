import Foundation
import Waylay

// Every listing of the README and the articles stands here word for word, so that it compiles; `ListingTests` compares them. What the
// listings take for granted is in the parameters of the functions round them.

func readmeOpening(url: URL) async throws {
  struct RetryOnUnavailable: RequestInterceptor {
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      let response = try await next(request)
      guard response.status == .serviceUnavailable, request.body.isReplayable else { return response }
      return try await next(request)
    }
  }

  let registry = InterceptorRegistry { RetryOnUnavailable() }
  let session = URLSession(configuration: .default.intercepted(by: registry))
  let (data, response) = try await session.data(from: url)
  _ = (data, response)
}

private struct RetryOnUnavailable: RequestInterceptor {
  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    try await next(request)
  }
}

func readmeScope(registry: InterceptorRegistry) {
  registry.register(
    InterceptorChain("api", for: .host("api.example.com").path("/v1/**")) {
      RetryOnUnavailable()
    })
}

func readmeDirectWay(registry: InterceptorRegistry, request: URLRequest, file: URL, destination: URL) async throws {
  let response = try await registry.load(request)  // returns with the head; the body comes as it is read
  for try await chunk in response.body { print(chunk.count) }

  let (data, head) = try await registry.data(for: request)
  let (bytes, _) = try await registry.bytes(for: request)
  for try await line in bytes.lines { print(line) }
  let (answer, _) = try await registry.upload(for: request, from: .file(file))
  try await registry.download(for: request, to: destination) { print($0.fraction ?? 0) }
  _ = (data, head, answer)
}

func writingAnInterceptor(registry: InterceptorRegistry, sign: @escaping @Sendable (Data) -> String) {
  struct RetryUnsent: RequestInterceptor {
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      do {
        return try await next(request)
      } catch let error as TransportError where error.requestBytesSent == 0 && request.body.isReplayable {
        return try await next(request)
      }
    }
  }

  struct SignRequest: RequestInterceptor {
    let signature: @Sendable (Data) -> String

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      let body = try await request.body.collect(upTo: 1 << 20)
      var signed = request
      signed.body = .data(body)
      signed.urlRequest.setValue(signature(body), forHTTPHeaderField: "X-Signature")
      return try await next(signed)
    }
  }

  registry.register(
    InterceptorChain("api", for: .host("api.example.com")) {
      RetryUnsent()
      SignRequest(signature: sign)
    })

  struct Maintenance: RequestInterceptor {
    var answersInline: Bool { true }

    func canInit(with request: URLRequest) -> Bool { request.url?.path != "/status" }

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      InterceptedResponse(
        to: request, status: .serviceUnavailable, fields: [.contentType: "text/plain", .retryAfter: "60"],
        body: .text("back in a minute"))
    }
  }

  struct UnixLineEnds: RequestInterceptor {
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      var response = try await next(request)
      response.body = .stream(response.body.map { chunk in Data(chunk.filter { $0 != UInt8(ascii: "\r") }) })
      response.fields[.contentLength] = nil
      return response
    }
  }
  _ = (Maintenance(), UnixLineEnds())
}

func usingASession(tokenURL: URL) {
  struct Authorize: RequestInterceptor {
    let session: URLSession
    let tokenURL: URL

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      let (token, _) = try await session.data(from: tokenURL)
      var request = request
      request.urlRequest.setValue("Bearer \(String(decoding: token, as: UTF8.self))", forHTTPHeaderField: "Authorization")
      return try await next(request)
    }
  }

  let registry = InterceptorRegistry()
  let session = URLSession(configuration: .default.intercepted(by: registry))
  registry.register(
    InterceptorChain("api", for: .host("api.example.com")) {
      Authorize(session: session, tokenURL: tokenURL)
    })
}

func testingIt(url: URL) async throws {
  let next = InterceptorChain.Next { InterceptedResponse(to: $0, status: .serviceUnavailable) }
  let response = try await RetryOnUnavailable().startLoading(InterceptedRequest(URLRequest(url: url)), next: next)
  _ = response
}
