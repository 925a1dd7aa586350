import Foundation

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
  /// - Throws: A `URLError`: the load's, or `cannotWriteToFile` with ``WaylayError/Code/fileNotWritten`` beneath.
  @discardableResult
  public func download(
    for request: URLRequest, to destination: URL, progress: (@Sendable (DownloadProgress) -> Void)? = nil
  ) async throws -> HTTPURLResponse {
    let response = try await load(request)
    let expected = response.body.length
    let partial = destination.deletingLastPathComponent()
      .appendingPathComponent(".\(destination.lastPathComponent).\(UUID().uuidString).partial")
    let file = try Self.creatingFile(partial, for: request)
    do {
      var received: Int64 = 0
      for try await chunk in response.body {
        try Self.writing(to: destination, for: request) { try file.write(contentsOf: chunk) }
        received += Int64(chunk.count)
        progress?(DownloadProgress(receivedBytes: received, expectedBytes: expected))
      }
      try Self.writing(to: destination, for: request) {
        try file.close()
        try Self.move(partial, to: destination)
      }
    } catch {
      try? file.close()
      try? FileManager.default.removeItem(at: partial)
      throw error
    }
    return response.head
  }

  private static func creatingFile(_ url: URL, for request: URLRequest) throws -> FileHandle {
    try writing(to: url, for: request) {
      try Data().write(to: url, options: .withoutOverwriting)
      return try FileHandle(forWritingTo: url)
    }
  }

  /// Moves in one step: `rename(2)` puts the new file in place of the old one without a moment between.
  private static func move(_ source: URL, to destination: URL) throws {
    guard rename(source.path, destination.path) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
  }

  private static func writing<Value>(to url: URL, for request: URLRequest, _ work: () throws -> Value) throws -> Value {
    do {
      return try work()
    } catch {
      throw URLError(
        .cannotWriteToFile,
        underlying: WaylayError(
          .fileNotWritten,
          "\(url.path) cannot be written: check that the folder exists, its permissions and the free space.",
          url: request.url, underlying: error))
    }
  }
}
