#if canImport(FoundationNetworking)
  import Foundation

  extension PlatformClient: LoadDelegate {
    /// Who is asked: the delegate named in an `async` call, else the task's, else the session's.
    private var delegate: (any URLSessionTaskDelegate)? {
      if case .caller(let delegate?) = listener { return delegate }
      return task?.delegate
    }

    func redirect(to request: URLRequest, after response: InterceptedResponse) async throws -> URLRequest? {
      guard let task else { return request }
      var answer: URLRequest? = request
      if let delegate {
        answer = try await ask(task) { session, answer in
          delegate.urlSession(
            session, task: task, willPerformHTTPRedirection: response.head, newRequest: request,
            completionHandler: answer)
        }
      }
      if let answer { TaskRecord.known?.follow(task, answer) }
      return answer
    }

    func newBody() async throws -> MessageBody? {
      guard let task, task is URLSessionUploadTask, let delegate else { return nil }
      let box: StreamBox = try await ask(task) { session, answer in
        delegate.urlSession(session, task: task) { answer(StreamBox(stream: $0)) }
      }
      return box.stream.map { .stream(reading: $0) }
    }

    var delegateID: ObjectIdentifier? {
      get throws {
        guard let task, delegate != nil else { return nil }
        return ObjectIdentifier(try TaskInternals.session(of: task))
      }
    }

    /// Asks the task's delegate, then the session's. Which of the two methods an app implements cannot be seen on
    /// Linux, where both have a default; the default is to perform default handling, and so are we left to go on.
    func answer(_ challenge: URLAuthenticationChallenge) async throws -> ChallengeAnswer {
      guard let task, let delegate else { return ChallengeAnswer(.performDefaultHandling) }
      let answer: ChallengeAnswer = try await ask(task) { session, answer in
        delegate.urlSession(session, task: task, didReceive: challenge) { answer(ChallengeAnswer($0, $1)) }
      }
      guard answer.disposition == .performDefaultHandling, let delegate = try TaskInternals.session(of: task).delegate
      else { return answer }
      return try await ask(task) { session, answer in
        delegate.urlSession(session, didReceive: challenge) { answer(ChallengeAnswer($0, $1)) }
      }
    }

    /// Puts a question to the app on its session's queue, and waits for the first answer or for the load's end.
    private func ask<Answer: Sendable>(
      _ task: URLSessionTask, _ question: @escaping @Sendable (URLSession, @escaping @Sendable (Answer) -> Void) -> Void
    ) async throws -> Answer {
      let session = try TaskInternals.session(of: task)
      let promise = Promise<Answer>()
      return try await withTaskCancellationHandler {
        try await promise.value {
          session.delegateQueue.addOperation { question(session) { promise.settle(.success($0)) } }
        }
      } onCancel: {
        promise.settle(.failure(CancellationError()))
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
    typealias Element = Data
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
#endif
