#if InspectorServer && DEBUG
  import Dispatch
  import NIOCore
  import NIOHTTP1
  import WaylayCore
  import WaylayHAR
  import WaylayInspectorServer
  import WaylayMocks
  import WaylayRemoteControl

  /// Admits callers that know the invitation's secret (`Internals/RemoteDoor.md`).
  final class DoorHandler: Sendable {
    private let invitation: RemoteInvitation
    private let calls: DoorCalls
    /// The nonces that callers got and have not used, the oldest first.
    private let nonces = Locked<[String]>([])
    private static let mostNonces = 4_096
    /// Work on a large response delays only the door, not the app.
    private let queue = DispatchQueue(label: "waylay.door")

    init(_ invitation: RemoteInvitation, _ calls: DoorCalls) {
      (self.invitation, self.calls) = (invitation, calls)
    }

    func respond(to request: ServerRequest, by responder: Responder) async {
      let port = responder.channel.localAddress?.port ?? 0
      let response = await withCheckedContinuation { continuation in
        queue.async { continuation.resume(returning: self.response(to: request, port: port)) }
      }
      // A send error is ignored: the caller has disconnected.
      try? await responder.send(response.bytes)
    }

    private func response(to request: ServerRequest, port: Int) -> Response {
      let body = String(buffer: request.body)
      switch (request.head.method, request.path) {
      case (.POST, "/hello") where body.utf8.count == 32:
        let nonce = RemoteInvitation.random(16)
        nonces.withLock { $0 = $0.suffix(Self.mostNonces - 1) + [nonce] }
        let proof = invitation.proof("door", "\(port)", body, nonce)
        return response(.ok, "{\"version\":1,\"nonce\":\"\(nonce)\",\"proof\":\"\(proof)\"}")
      case (.POST, "/call"):
        let nonce = request.head.headers.first(name: "X-Waylay-Nonce") ?? ""
        let proof = request.head.headers.first(name: "X-Waylay-Proof") ?? ""
        let isOpen = nonces.withLock { nonces in
          let place = nonces.firstIndex(of: nonce)
          if let place { nonces.remove(at: place) }
          return place != nil
        }
        guard isOpen, RemoteInvitation.isSame(proof, invitation.proof("call", nonce, body)) else { return refusal }
        do throws(JSONRefusal) { return reply(.ok, try calls.perform(body), nonce) } catch {
          let members: JSONValue = ["error": ["code": .init(error.code), "message": .init(error.message)]]
          return reply(.badRequest, members.description, nonce)
        }
      default: return refusal
      }
    }

    /// The refusal, which does not reveal the reason.
    private var refusal: Response { Response(status: .forbidden, body: ByteBuffer(string: "Access is denied.")) }

    private func reply(_ status: HTTPResponseStatus, _ json: String, _ nonce: String) -> Response {
      response(status, json, [("X-Waylay-Proof", invitation.proof("reply", nonce, "\(status.code)", json))])
    }

    private func response(
      _ status: HTTPResponseStatus, _ json: String, _ fields: [(String, String)] = []
    ) -> Response {
      Response(status: status, type: "application/json", fields: fields, body: ByteBuffer(string: json))
    }
  }
#endif
