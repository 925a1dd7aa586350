#if CORELIBS_FOUNDATION
  import Foundation

  extension PlatformClient: LoadDelegate {
    /// Returns the body unchanged: the app's data, file or stream. Not called if a chain may respond inline.
    func prepare(for load: Load) -> MessageBody { body }

    /// The receiver of questions: the delegate named in an `async` call, else the task's, else the session's.
    private var delegate: (any URLSessionTaskDelegate)? {
      if case .caller(let delegate?) = listener { return delegate }
      return task.delegate ?? session.delegate as? any URLSessionTaskDelegate
    }

    func redirect(to request: URLRequest, after response: InterceptedResponse) async throws -> URLRequest? {
      var answer: URLRequest? = request
      if let delegate {
        answer = try await ask { [task] session, answer in
          delegate.urlSession(
            session, task: task, willPerformHTTPRedirection: response.head, newRequest: request,
            completionHandler: answer)
        }
      }
      if let answer { TaskRecord.known?.follow(task, answer) }
      return answer
    }

    func newBody() async throws -> MessageBody? {
      guard let delegate else { return nil }
      let box: StreamBox = try await ask { [task] session, answer in
        delegate.urlSession(session, task: task) { answer(StreamBox(stream: $0)) }
      }
      return box.stream.map { .stream(reading: $0) }
    }

    var delegateID: ObjectIdentifier? {
      delegate == nil ? nil : ObjectIdentifier(session)
    }

    /// Asks the task's delegate, then the session's. Linux does not show which of the two methods an app implements,
    /// because both have a default implementation, which asks for default handling.
    func answer(_ challenge: URLAuthenticationChallenge) async throws -> ChallengeReply {
      guard let delegate else { return ChallengeReply(.performDefaultHandling) }
      let answer: ChallengeReply = try await ask { [task] session, answer in
        delegate.urlSession(session, task: task, didReceive: challenge) { answer(ChallengeReply($0, $1)) }
      }
      guard answer.disposition == .performDefaultHandling, let delegate = session.delegate else { return answer }
      return try await ask { session, answer in
        delegate.urlSession(session, didReceive: challenge) { answer(ChallengeReply($0, $1)) }
      }
    }

    /// Puts a question to the app on its session's queue, and waits for the first reply or for the load's end.
    private func ask<Reply: Sendable>(
      _ question: @escaping @Sendable (URLSession, @escaping @Sendable (Reply) -> Void) -> Void
    ) async throws -> Reply {
      let (promise, lineage) = (Promise<Reply>(), Lineage.current)
      return try await promise.valueUnlessCancelled {
        session.delegateQueue.addOperation { [session] in
          Lineage.$current.withValue(lineage) { question(session) { promise.settle(.success($0)) } }
        }
      }
    }
  }

  /// Moves a stream from the delegate to the body that reads it, its only user.
  private struct StreamBox: @unchecked Sendable {
    let stream: InputStream?
  }

  extension MessageBody {
    /// The body of an upload task made with `withStreamedRequest:`. The delegate is asked for the stream when the body
    /// is read.
    static func asking(_ client: PlatformClient) -> MessageBody {
      .stream(replaying: { StreamedBody(client: client) })
    }
  }

  private struct StreamedBody: AsyncSequence, Sendable {
    let client: PlatformClient

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client) }

    struct AsyncIterator: AsyncIteratorProtocol {
      let client: PlatformClient
      var chunks: MessageBody.AsyncIterator?

      mutating func next() async throws -> Data? {
        if chunks == nil { chunks = try await client.newBody()?.makeAsyncIterator() }
        return try await chunks?.next()
      }
    }
  }

  extension InterceptedResponse {
    /// The head in a form that the loading system does not take for a challenge.
    var platformHead: HTTPURLResponse {
      guard status.code == 401, fields[.wwwAuthenticate] != nil else { return head }
      let plain = head
      let fields = plain.allHeaderFields.reduce(into: [String: String]()) { fields, field in
        if let name = field.key as? String { fields[name] = field.value as? String }
      }
      return ChallengeProofResponse(
        url: url, statusCode: plain.statusCode, httpVersion: "HTTP/1.1", headerFields: fields) ?? plain
    }
  }

  /// A 401 whose `WWW-Authenticate` is visible to the app and hidden from the loading system.
  ///
  /// On Linux, a finished 401 with this header makes the loading system retry without Waylay, hang, or trap (P14). It
  /// looks for a challenge inside `urlProtocolDidFinishLoading`, and gives up if the response has no URL. So during
  /// that call, on its thread, this response has none.
  final class ChallengeProofResponse: HTTPURLResponse, @unchecked Sendable {
    // Unchecked like its superclass: the added state is behind a lock.
    private let blindThread = Locked<ObjectIdentifier?>(nil)

    func hideFromLoader(_ isHidden: Bool) {
      blindThread.withLock { $0 = isHidden ? ObjectIdentifier(Thread.current) : nil }
    }

    override var url: URL? {
      blindThread.withLock { $0 } == ObjectIdentifier(Thread.current) ? nil : super.url
    }
  }
#endif
