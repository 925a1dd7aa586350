import Foundation
import TestOrigin
import Waylay

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What an answer out of an archive costs, beside the floor, a dictionary, and the system's own cache filled by hand.
extension Scenario {
  static func archive() -> [Scenario] {
    let floor = "floor: URLProtocol, synchronous"
    let hoppingFloor = "floor: URLProtocol, leaving the queue and coming back"
    let memory = ArchiveCache()
    let folder = Scratch.folder()
    let disk = ArchiveCache(.disk(at: folder, memory: 0))
    let inMemory = InterceptorRegistry {
      memory
      Storable(size: Answer.body.count)
    }
    let onDisk = InterceptorRegistry {
      disk
      Storable(size: 64 * 1024)
    }
    return [
      hit("archive: hit in memory", against: floor, inMemory, size: Answer.body.count),
      hit("archive: hit on disk, 64 KiB", against: hoppingFloor, onDisk, size: 64 * 1024),
      hit(
        "archive: none, a dictionary behind a lock", against: floor, InterceptorRegistry { Remembering() },
        size: Answer.body.count),
      Scenario("archive: hit in memory, direct", against: "direct load, one interceptor") {
        let response = try await inMemory.load(URLRequest(url: Answer.url))
        guard response.body.length == Int64(Answer.body.count) else { throw URLError(.cannotDecodeContentData) }
      },
      systemCache(against: floor),
    ]
  }

  private static func hit(
    _ name: String, against reference: String, _ registry: InterceptorRegistry, size: Int
  ) -> Scenario {
    let session = URLSession.intercepted(by: registry)
    return Scenario(name, against: reference) {
      let (data, _) = try await session.data(from: Answer.url)
      guard data.count == size else { throw URLError(.cannotDecodeContentData) }
    }
  }

  /// Foundation's own cache: on Linux nothing ever gets into it unless it is put there by hand (platform fact P24).
  private static func systemCache(against reference: String) -> Scenario {
    let configuration = URLSessionConfiguration.ephemeral
    let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
    configuration.urlCache = cache
    var request = URLRequest(url: Answer.url)
    request.cachePolicy = .returnCacheDataElseLoad
    if let head = HTTPURLResponse(
      url: Answer.url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: Answer.fields)
    {
      cache.storeCachedResponse(CachedURLResponse(response: head, data: Answer.body), for: request)
    }
    let session = URLSession(configuration: configuration)
    return Scenario("archive: none, a URLCache filled by hand", against: reference) { [request] in
      let (data, _) = try await session.data(for: request)
      guard data == Answer.body else { throw URLError(.cannotDecodeContentData) }
    }
  }
}

/// Answers with something that an archive keeps.
private struct Storable: RequestInterceptor {
  let size: Int

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    let fields: HTTPFields = [
      .contentType: "application/json", .cacheControl: "max-age=86400", .eTag: "\"1\"", .contentLength: "\(size)",
    ]
    return InterceptedResponse(
      to: request, fields: fields, body: .data(size == Answer.body.count ? Answer.body : Data(count: size)))
  }
}

/// The least that anything can do which remembers answers.
private final class Remembering: InlineResponding, @unchecked Sendable {
  // Unchecked: what is remembered is touched behind the lock only.
  private let lock = NSLock()
  private var answers: [String: Data] = [Answer.url.absoluteString: Answer.body]

  func respondInline(_ request: InterceptedRequest) -> InlineResponse {
    guard let body = lock.withLock({ answers[request.url.absoluteString] }) else { return .next(request) }
    return .response(InterceptedResponse(to: request, fields: Answer.httpFields, body: .data(body)))
  }
}
