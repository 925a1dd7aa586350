#if canImport(Darwin) || WAYLAY_APPLE_MODEL
  import Foundation

  // Written from the documentation, type-checked, and not run by this package's own checks, which run on Linux.

  /// What an exchange on the inner session does differently on Apple platforms.
  enum PlatformExchange {
    static let capabilities: TransportCapabilities = [.backPressure, .streamedUploads]

    /// Bytes that may wait for a slow reader before its task is suspended.
    static let highWater = 1 << 20

    /// Asks the app through the client of the load. Without one, server trust is the system's to judge, and any other
    /// challenge ends in the response that carried it.
    /// https://developer.apple.com/documentation/foundation/urlsession/authchallengedisposition/rejectprotectionspace
    static func answer(
      _ challenge: URLAuthenticationChallenge, of exchange: Exchange?,
      _ completion: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      if let client = exchange?.observer?.load.delegate as? PlatformClient {
        return client.forward(challenge, completion)
      }
      completion(challenge.isServerTrust ? .performDefaultHandling : .rejectProtectionSpace, nil)
    }

    /// A request body in the form the inner session can send: a stream is read as the connection takes it.
    struct Upload: Sendable {
      private let body: MessageBody
      private let pump = Locked<Task<Void, Never>?>(nil)

      init(_ body: MessageBody) async throws {
        self.body = body
      }

      /// A protocol class sees any body as a stream here, whatever task it came from.
      func makeTask(
        _ request: URLRequest, in session: URLSession, showsBody: Bool, toForeignClasses: Bool
      ) -> URLSessionTask {
        if body.isEmpty { return session.dataTask(with: request) }
        if let data = body.inMemory { return session.uploadTask(with: request, from: data) }
        if let file = body.fileURL { return session.uploadTask(with: request, fromFile: file) }
        var request = request
        request.httpBodyStream = openStream()
        return session.dataTask(with: request)
      }

      private func openStream() -> InputStream? {
        let (input, output) = Stream.boundPair(bufferSize: MessageBody.chunkSize)
        guard let output else { return input }
        let writer = StreamWriter(output)
        let task = Task { [body] in
          do {
            for try await chunk in body { try await writer.write(chunk) }
            writer.close()
          } catch {
            writer.close()
          }
        }
        pump.withLock { $0 = task }
        return input
      }

      /// Ends the reading of the body.
      func discard() {
        pump.withLock { $0 }?.cancel()
      }
    }
  }

  /// Writes to the sending half of a bound pair, on a queue of its own, because a full buffer blocks.
  private final class StreamWriter: @unchecked Sendable {
    // Unchecked: `output` is only touched on `queue`.
    private let output: OutputStream
    private let queue = DispatchQueue(label: "waylay.output-stream")

    init(_ output: OutputStream) {
      self.output = output
      queue.async { self.output.open() }
    }

    func write(_ data: Data) async throws {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        queue.async { continuation.resume(with: Result { try self.writeAll(data) }) }
      }
    }

    private func writeAll(_ data: Data) throws {
      try data.withUnsafeBytes { buffer in
        guard let base = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        var written = 0
        while written < buffer.count {
          let count = output.write(base + written, maxLength: buffer.count - written)
          guard count > 0 else { throw output.streamError ?? URLError(.networkConnectionLost) }
          written += count
        }
      }
    }

    func close() {
      queue.async { self.output.close() }
    }
  }
#endif
