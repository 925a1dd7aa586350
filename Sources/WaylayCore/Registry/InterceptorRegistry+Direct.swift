import Foundation

/// A direct load: the same chains without a `URLSession` on top.
///
/// It streams in both directions with the transport's back pressure, supports downloads on Linux, and costs a fraction
/// of a session's task.
extension InterceptorRegistry {
  /// Loads `request` through the chain that accepts it, or through the bare transport, and returns as soon as the head
  /// arrives.
  ///
  /// ```swift
  /// let response = try await registry.load(URLRequest(url: url))
  /// for try await chunk in response.body { print(chunk.count) }
  /// ```
  ///
  /// Redirects are followed; cookies, additional header fields and timeouts are those of the registry's configuration.
  /// Dropping a response with an unread body cancels its transfer.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - body: A separate body, which may be a file or a stream; `nil` for the one in the request.
  /// - Throws: A `URLError`, with the cause under `NSUnderlyingErrorKey`. Reading the body throws the same.
  public func load(_ request: URLRequest, body: MessageBody? = nil) async throws -> InterceptedResponse {
    try await load(request, body, in: directInstallation(for: request))
  }

  func load(
    _ request: URLRequest, _ body: MessageBody?, in installation: Installation, of session: URLSession? = nil
  ) async throws -> InterceptedResponse {
    let settings = session.map(installation.settings)
    let ownership = Installation.Ownership(request, in: installation, context: settings?.context, bySession: false)
    return try await run(Load(ownership, body: body, isUpload: body != nil, transports: settings?.transports))
  }

  private func directInstallation(for request: URLRequest) throws -> Installation {
    let installation = state.withLock { state -> Installation? in
      guard !state.isInvalidated else { return nil }
      if let direct = state.direct { return Installation(self, direct) }
      let direct = configuration.withLock { Installation(self, configuration: $0) }
      state.direct = direct.core
      return direct
    }
    guard let installation else {
      throw URLError(.resourceUnavailable, underlying: Self.invalidatedError(url: request.url))
    }
    return installation
  }

  private func run(_ load: Load) async throws -> InterceptedResponse {
    let interruption = Interruptible()
    let fail: @Sendable (WaylayError) -> Void = { error in
      interruption.interrupt(error)
      load.end(error: load.urlError(for: error))
    }
    guard load.watch(fail: fail) else { throw load.urlError(for: Self.invalidatedError(url: load.url)) }
    load.report(.started)
    do {
      var response = try await interruption.run { try await load.respond() }
      load.report(.responded, response: response)
      guard response.body.inMemory == nil else {
        load.end(response)
        return response
      }
      response.body = WatchedBody(response, load, interruption).body
      // The load may have failed since its head arrived: deliver that failure now, because no other call will.
      if let failure = interruption.verdict { throw failure }
      return response
    } catch {
      throw load.ended(by: error)
    }
  }

  /// Loads `request` and returns the whole body.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - limit: The maximum number of bytes to collect; 1 GiB by default.
  public func data(for request: URLRequest, upTo limit: Int = 1 << 30) async throws -> (Data, HTTPURLResponse) {
    let response = try await load(request)
    return (try await Self.collect(response, upTo: limit), response.head)
  }

  /// Loads `request` and returns its bytes as they arrive.
  public func bytes(for request: URLRequest) async throws -> (MessageBody.Bytes, HTTPURLResponse) {
    let response = try await load(request)
    return (response.body.bytes, response.head)
  }

  /// Sends `body` with `request` and returns the whole response.
  public func upload(for request: URLRequest, from body: Data) async throws -> (Data, HTTPURLResponse) {
    try await upload(for: request, from: .data(body))
  }

  /// Sends the contents of a file with `request` and returns the whole response.
  public func upload(for request: URLRequest, fromFile file: URL) async throws -> (Data, HTTPURLResponse) {
    try await upload(for: request, from: .file(file))
  }

  /// Sends `body`, which may be a stream, with `request` and returns the whole response.
  public func upload(
    for request: URLRequest, from body: MessageBody, upTo limit: Int = 1 << 30
  ) async throws -> (Data, HTTPURLResponse) {
    let response = try await load(request, body: body)
    return (try await Self.collect(response, upTo: limit), response.head)
  }

  private static func collect(_ response: InterceptedResponse, upTo limit: Int) async throws -> Data {
    do {
      return try await response.body.collect(upTo: limit)
    } catch let error as WaylayError {
      throw URLError(error.urlErrorCode, underlying: error, url: response.url)
    }
  }
}

/// Direct loads over a given transport instead of the registry's, for another HTTP client.
package final class DirectLoads: Sendable {
  private let installation: Installation

  /// Makes loads over a transport.
  package init(of registry: InterceptorRegistry, over transport: any Transport) {
    installation = registry.configuration.withLock {
      Installation(registry, configuration: $0, transport: transport)
    }
  }

  /// Loads like ``InterceptorRegistry/load(_:body:)``.
  package func load(_ request: URLRequest, body: MessageBody?) async throws -> InterceptedResponse {
    try await installation.registry.load(request, body, in: installation)
  }
}

extension URLError {
  /// Converts an error outside of a load's chain to the app's error.
  init(presenting error: any Error, url: URL?) {
    switch error {
    case let error as URLError: self = error
    case let error as WaylayError: self.init(error.urlErrorCode, underlying: error, url: url)
    default: self.init(.unknown, userInfo: Self.failingURL(url).merging([NSUnderlyingErrorKey: error]) { $1 })
    }
  }

  /// Makes the app's error of one with a message.
  package init(_ code: Code, underlying error: some LoadError, url: URL? = nil) {
    var userInfo = Self.failingURL(url ?? error.url)
    userInfo[NSLocalizedDescriptionKey] = error.errorDescription
    userInfo[NSUnderlyingErrorKey] = error
    self.init(code, userInfo: userInfo)
  }

  /// `NSURLErrorFailingURLStringErrorKey`, which is deprecated but still expected.
  private static let failingURLString = "NSErrorFailingURLStringKey"

  /// The URL under both of its keys, as in every error of `URLSession`.
  static func failingURL(_ url: URL?) -> [String: Any] {
    guard let url = url?.withoutUserInfo else { return [:] }
    return [NSURLErrorFailingURLErrorKey: url, failingURLString: url.absoluteString]
  }
}

extension InterceptorRegistry {
  /// The progress of a download.
  public struct DownloadProgress: Sendable, Hashable {
    /// The number of bytes written.
    public let receivedBytes: Int64
    /// The expected number of bytes, if the server sent it.
    public let expectedBytes: Int64?

    /// The completed fraction, from 0 to 1, if known.
    public var fraction: Double? {
      expectedBytes.map { $0 > 0 ? min(1, Double(receivedBytes) / Double($0)) : 1 }
    }
  }

  /// Loads `request` into a file, chunk by chunk.
  ///
  /// ```swift
  /// let head = try await registry.download(for: request, to: file) { print($0.fraction ?? 0) }
  /// ```
  ///
  /// The file appears completely or not at all: the body is written next to `destination` and then moved there,
  /// replacing any existing file. The body of an error status is written too, so check the head.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - destination: The file. Its folder must exist.
  ///   - progress: Called after each chunk, in order.
  /// - Throws: A `URLError`: the load's, or `cannotWriteToFile` with `WaylayError.fileNotWritten` beneath.
  @discardableResult
  public func download(
    for request: URLRequest, to destination: URL, progress: (@Sendable (DownloadProgress) -> Void)? = nil
  ) async throws -> HTTPURLResponse {
    let response = try await load(request)
    let expected = response.body.length
    do {
      var file = try AtomicFile.Writer(destination.path, mode: 0o666)
      var received: Int64 = 0
      for try await chunk in response.body {
        try file.write(chunk)
        received += Int64(chunk.count)
        progress?(DownloadProgress(receivedBytes: received, expectedBytes: expected))
      }
      try file.commit()
    } catch let error as SystemError {
      throw URLError(
        .cannotWriteToFile,
        underlying: WaylayError(
          .fileNotWritten,
          "\(destination.path) cannot be written: check that the folder exists, its permissions and the free space.",
          url: request.url, underlying: error.posixError))
    }
    return response.head
  }
}
