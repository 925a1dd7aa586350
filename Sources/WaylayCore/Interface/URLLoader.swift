import Foundation

/// Makes an app's requests: a `URLSession`, or a registry without one.
///
/// ```swift
/// struct UserClient {
///   var loader: any URLLoader
///   func user() async throws -> Data { try await loader.data(from: url).0 }
/// }
/// let live = UserClient(loader: registry), plain = UserClient(loader: URLSession.shared)
/// ```
///
/// A registry as a loader runs its chains without the URL loading system: no protocol class is involved, and a call
/// costs a tenth.
public protocol URLLoader: Sendable {
  /// Loads a request and returns its body.
  func data(for request: URLRequest) async throws -> (Data, URLResponse)
  /// Loads a URL and returns its body.
  func data(from url: URL) async throws -> (Data, URLResponse)
  /// Sends data with a request and returns the response's body.
  func upload(for request: URLRequest, from bodyData: Data) async throws -> (Data, URLResponse)
  /// Sends a file with a request and returns the response's body.
  func upload(for request: URLRequest, fromFile fileURL: URL) async throws -> (Data, URLResponse)
  /// Loads a request into a temporary file, which belongs to the caller.
  func download(for request: URLRequest) async throws -> (URL, URLResponse)
  /// Loads a URL into a temporary file, which belongs to the caller.
  func download(from url: URL) async throws -> (URL, URLResponse)
}

extension URLLoader {
  /// Loads a URL and returns its body.
  @_disfavoredOverload public func data(from url: URL) async throws -> (Data, URLResponse) {
    try await data(for: URLRequest(url: url))
  }

  /// Loads a URL into a temporary file, which belongs to the caller.
  @_disfavoredOverload public func download(from url: URL) async throws -> (URL, URLResponse) {
    try await download(for: URLRequest(url: url))
  }
}

// Disfavored: a call on a session is Foundation's, and one on a registry returns an HTTPURLResponse.

extension URLSession: URLLoader {
  /// `data(for:delegate:)` without a delegate.
  @_disfavoredOverload public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
    try await data(for: request, delegate: nil)
  }

  /// `upload(for:from:delegate:)` without a delegate.
  @_disfavoredOverload
  public func upload(for request: URLRequest, from bodyData: Data) async throws -> (Data, URLResponse) {
    try await upload(for: request, from: bodyData, delegate: nil)
  }

  /// `upload(for:fromFile:delegate:)` without a delegate.
  @_disfavoredOverload
  public func upload(for request: URLRequest, fromFile fileURL: URL) async throws -> (Data, URLResponse) {
    try await upload(for: request, fromFile: fileURL, delegate: nil)
  }

  /// `download(for:delegate:)` without a delegate.
  @_disfavoredOverload public func download(for request: URLRequest) async throws -> (URL, URLResponse) {
    try await download(for: request, delegate: nil)
  }
}

extension InterceptorRegistry: URLLoader {
  /// `data(for:upTo:)` as a session returns it.
  @_disfavoredOverload public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
    try await data(for: request) as (Data, HTTPURLResponse)
  }

  /// `upload(for:from:)` as a session returns it.
  @_disfavoredOverload
  public func upload(for request: URLRequest, from bodyData: Data) async throws -> (Data, URLResponse) {
    try await upload(for: request, from: .data(bodyData)) as (Data, HTTPURLResponse)
  }

  /// `upload(for:fromFile:)` as a session returns it.
  @_disfavoredOverload
  public func upload(for request: URLRequest, fromFile fileURL: URL) async throws -> (Data, URLResponse) {
    try await upload(for: request, from: .file(fileURL)) as (Data, HTTPURLResponse)
  }

  /// `download(for:to:progress:)` into a temporary file.
  public func download(for request: URLRequest) async throws -> (URL, URLResponse) {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString).download")
    return (file, try await download(for: request, to: file))
  }
}
