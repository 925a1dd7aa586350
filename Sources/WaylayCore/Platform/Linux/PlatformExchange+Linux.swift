#if CORELIBS_FOUNDATION
  import Foundation

  /// The Linux part of an exchange on the inner session.
  enum PlatformExchange {
    static let capabilities: TransportCapabilities = []

    /// Linux never sends a challenge about the server's trust (U4).
    static func supports(_ demands: TransportSecurity.Demands) -> Bool {
      demands.pins == nil && demands.certificate == nil
    }

    /// Unused: suspending a task stops it late, and restarts its transfer from the first byte (U2).
    static let highWater = Int.max

    /// Ends the exchange: the challenge comes after the body, and default handling without a credential never ends
    /// (P14).
    static func answer(
      _ challenge: URLAuthenticationChallenge, of exchange: SessionExchange?,
      _ completion: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      exchange?.ended(nil)
      completion(.cancelAuthenticationChallenge, nil)
    }

    /// A request body in the form the inner session can send.
    ///
    /// A stream goes to a temporary file first: the loading system would read it on the queue that all sessions of the
    /// process share (P18), and a body that is itself loaded by a session would wait for itself.
    struct Upload: Sendable {
      private enum Form: Sendable {
        case none
        case data(Data)
        case file(URL, spooled: TemporaryFile?)
      }

      private let form: Form

      /// Unknown here: the session derives it from the data or the file.
      var contentLength: String? { nil }

      init(_ request: InterceptedRequest) async throws {
        let body = request.body
        if let data = body.inMemory {
          form = data.isEmpty ? .none : .data(data)
        } else if let url = body.fileURL {
          // Fails here, with the file's name, rather than inside the session.
          try MessageBody.open(url).close()
          form = .file(url, spooled: nil)
        } else {
          let file = try await Self.spool(body)
          form = .file(file.url, spooled: file)
        }
      }

      private static func spool(_ body: MessageBody) async throws -> TemporaryFile {
        let file = try TemporaryFile("upload")
        var length: Int64 = 0
        for try await chunk in body {
          try file.write(chunk)
          length += Int64(chunk.count)
        }
        try file.close()
        guard length == body.length ?? length else {
          throw WaylayError(
            .bodyUnreadable,
            "the request's body has \(length) bytes, and its declared length is \(body.length ?? 0). Declare the "
              + "actual length, or none.")
        }
        return file
      }

      /// Makes the task. A foreign protocol class sees the request as it would without Waylay: with its body where the
      /// app has put one into it, and without the body of an upload task (P9).
      func makeTask(
        _ request: URLRequest, in session: URLSession, for exchange: SessionExchange, toForeignClasses: Bool
      ) -> URLSessionTask {
        var request = request
        let showsBody = exchange.showsBody
        switch form {
        case .none: return session.dataTask(with: request)
        case .data(let data) where showsBody:
          request.httpBody = data
          return session.dataTask(with: request)
        case .file(let url, _) where showsBody && toForeignClasses:
          request.httpBodyStream = InputStream(url: url)
          return session.dataTask(with: request)
        case .data(let data): return session.uploadTask(with: request, from: data)
        case .file(let url, _): return session.uploadTask(with: request, fromFile: url)
        }
      }

      /// A session on Linux sends no body again.
      func newStream(for exchange: SessionExchange) -> InputStream? { nil }

      /// Removes the temporary file.
      func discard() {
        if case .file(_, let file?) = form { file.remove() }
      }
    }
  }

  extension URLSessionConfiguration {
    /// A session here fails at once without a network.
    var waitsForNetwork: Bool { false }
  }
#endif
