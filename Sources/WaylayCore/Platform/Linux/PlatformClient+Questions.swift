#if CORELIBS_FOUNDATION
  import Foundation

  extension PlatformClient: LoadDelegate {
    /// Never called where a chain may answer inline: the body is the app's own data, file or stream.
    func prepare(for load: Load) -> MessageBody { body }

    /// Who is asked: the delegate named in an `async` call, else the task's, else the session's.
    private var delegate: (any URLSessionTaskDelegate)? {
      if case .caller(let delegate?) = listener { return delegate }
      return task.delegate
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

    /// Asks the task's delegate, then the session's. Which of the two methods an app implements cannot be seen on
    /// Linux, where both have a default; the default is to perform default handling, and so are we left to go on.
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
      let promise = Promise<Reply>()
      return try await promise.valueUnlessCancelled {
        session.delegateQueue.addOperation { [session] in
          question(session) { promise.settle(.success($0)) }
        }
      }
    }
  }

  /// A stream on its way from the delegate to the one body that reads it; nobody else uses it meanwhile.
  private struct StreamBox: @unchecked Sendable {
    let stream: InputStream?
  }

  extension MessageBody {
    /// The body of an upload task made with `withStreamedRequest:`, for which the delegate is asked when somebody reads
    /// it.
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
    /// The head as the loading system gets it: in a form that it does not take for a challenge.
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

  /// A 401 that keeps its `WWW-Authenticate` for the app and hides it from the loading system.
  ///
  /// On Linux a finished 401 with that header makes the loading system retry past us, hang, or trap (P14). It looks for
  /// a challenge inside `urlProtocolDidFinishLoading`, and gives up when the response has no URL; so for the time of
  /// that call, on the thread that makes it, this one has none.
  final class ChallengeProofResponse: HTTPURLResponse, @unchecked Sendable {
    // Unchecked like its superclass: what is added is behind a lock.
    private let blindThread = Locked<ObjectIdentifier?>(nil)

    func hideFromLoader(_ isHidden: Bool) {
      blindThread.withLock { $0 = isHidden ? ObjectIdentifier(Thread.current) : nil }
    }

    override var url: URL? {
      blindThread.withLock { $0 } == ObjectIdentifier(Thread.current) ? nil : super.url
    }
  }
#endif
