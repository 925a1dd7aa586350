#if canImport(FoundationNetworking)
  import Foundation

  extension InterceptedResponse {
    /// The head, in a form that the loading system does not take for a challenge.
    var challengeProofHead: HTTPURLResponse {
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
