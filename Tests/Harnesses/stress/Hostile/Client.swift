import Foundation
import TestOrigin
import Waylay
import WaylayCore

/// What an app sees in the end.
enum Outcome: Sendable {
  case answer(status: Int, body: Data, fields: [String: String], path: String)
  case failure(URLError.Code, String)
  /// What no app should ever see.
  case odd(String)
}

/// The client's side: sessions and direct loads, without an archive and with one on disk.
final class Client: Sendable {
  private struct Half: Sendable {
    let registry: InterceptorRegistry
    let plain: URLSession
    let delegating: URLSession
  }

  let deliveries = Deliveries()
  private let archive: ArchiveCache
  private let bare: Half
  private let archived: Half

  init(folder: URL) {
    archive = ArchiveCache(.disk(at: folder, limits: StoreLimits(bytes: 8 << 20), memory: 1 << 20))
    bare = Self.half(InterceptorRegistry(configuration: .ephemeral) { Passing() }, deliveries)
    archived = Self.half(InterceptorRegistry(configuration: .ephemeral) { [archive] in archive }, deliveries)
  }

  private static func half(_ registry: InterceptorRegistry, _ deliveries: Deliveries) -> Half {
    let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry)
    return Half(
      registry: registry, plain: URLSession(configuration: configuration),
      delegating: URLSession(configuration: configuration, delegate: deliveries, delegateQueue: nil))
  }

  func close() async {
    for half in [bare, archived] {
      half.plain.invalidateAndCancel()
      half.delegating.invalidateAndCancel()
      half.registry.invalidate()
    }
    await archive.close()
  }

  /// Sends a request in some way, and says what came of it.
  func outcome(of request: URLRequest, _ way: Way, isArchived: Bool) async -> Outcome {
    let half = isArchived ? archived : bare
    do {
      switch way {
      case .task:
        let (data, response) = try await half.plain.data(for: request)
        return Self.answer(data, response)
      case .handler:
        return await withCheckedContinuation { continuation in
          half.plain.dataTask(with: request) { data, response, error in
            if let error { return continuation.resume(returning: Self.failure(error)) }
            guard let data, let response else {
              return continuation.resume(returning: .odd("neither an answer nor an error"))
            }
            continuation.resume(returning: Self.answer(data, response))
          }.resume()
        }
      case .delegate:
        let (data, response) = try await deliveries.run(half.delegating.dataTask(with: request))
        return Self.answer(data, response)
      case .data:
        let (data, response) = try await half.registry.data(for: request)
        return Self.answer(data, response)
      case .load:
        let response = try await half.registry.load(request)
        var body = Data()
        for try await chunk in response.body { body.append(chunk) }
        return Self.answer(body, response.head)
      case .bytes:
        let (bytes, response) = try await half.registry.bytes(for: request)
        var body = Data()
        for try await byte in bytes { body.append(byte) }
        return Self.answer(body, response)
      case .dropped:
        let response = try await half.registry.load(request)
        var chunks = response.body.makeAsyncIterator()
        _ = try await chunks.next()
        return .failure(.cancelled, "dropped")
      }
    } catch {
      return Self.failure(error)
    }
  }

  private static func answer(_ data: Data, _ response: URLResponse) -> Outcome {
    guard let response = response as? HTTPURLResponse else { return .odd("a response that is not HTTP's") }
    var fields: [String: String] = [:]
    for (name, value) in response.allHeaderFields { fields["\(name)".lowercased()] = "\(value)" }
    return .answer(status: response.statusCode, body: data, fields: fields, path: response.url?.path ?? "")
  }

  private static func failure(_ error: any Error) -> Outcome {
    guard let error = error as? URLError else { return .odd("\(type(of: error)): \(error)") }
    return .failure(error.code, "\(error.userInfo[NSUnderlyingErrorKey] ?? error.localizedDescription)")
  }
}

/// Passes on, as most interceptors do.
private struct Passing: RequestInterceptor {
  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    try await next(request)
  }
}
