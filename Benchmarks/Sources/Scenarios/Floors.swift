import Foundation
import Waylay

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What every answer consists of, so that all scenarios do the same work.
enum Answer {
  static let body = Data(#"{"id":1,"name":"first"}"#.utf8)
  static let url = URL(string: "http://api.example.com/v1/users")!
  static let fields = ["Content-Type": "application/json", "Content-Length": "\(body.count)"]
  static let httpFields: HTTPFields = [.contentType: "application/json", .contentLength: "\(body.count)"]
}

/// The least that a `URLProtocol` subclass can do: nothing in a package can be faster than its floor.
class FloorProtocol: URLProtocol {
  override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "http" }
  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
  override func stopLoading() {}

  func answer() {
    guard let url = request.url,
      let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: Answer.fields)
    else { return }
    client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
    client?.urlProtocol(self, didLoad: Answer.body)
    client?.urlProtocolDidFinishLoading(self)
  }
}

/// Answers inside `startLoading`.
final class SynchronousFloor: FloorProtocol {
  override func startLoading() {
    answer()
  }
}

/// Leaves the queue for a task, and comes back by resuming a running task (platform fact P21), the one public way.
final class HoppingFloor: FloorProtocol, @unchecked Sendable {
  // Unchecked: used on the task's queue only, but for the one call of `resume()`.
  private var hasLeft = false

  override func startLoading() {
    guard !hasLeft else { return answer() }
    hasLeft = true
    let resumed = Resumed(task: task)
    Task { resumed.task?.resume() }
  }
}

/// Carries a task to another thread; `resume()` may be called on any.
private struct Resumed: @unchecked Sendable {
  let task: URLSessionTask?
}

extension URLSession {
  /// - Parameter hasCache: Whether the session keeps its `urlCache`, as sessions do when nobody has thought of it; on
  ///   Linux a look-up costs more than the rest of the floor (platform fact P22).
  static func floor(_ protocolClass: URLProtocol.Type, hasCache: Bool = false) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [protocolClass]
    if !hasCache { configuration.urlCache = nil }
    return URLSession(configuration: configuration)
  }
}
