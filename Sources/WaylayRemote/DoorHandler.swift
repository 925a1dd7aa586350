#if InspectorServer && DEBUG
  import Dispatch
  import NIOCore
  import NIOHTTP1
  import WaylayCore
  import WaylayHAR
  import WaylayRemoteControl

  /// Admits callers that know the invitation's secret (`Internals/RemoteDoor.md`).
  final class DoorHandler: Sendable {
    private let invitation: RemoteInvitation
    private let calls: DoorCalls
    /// Tells the nonces of this door from those of another with the same invitation.
    private let key = String.random(bytes: 16)
    /// The nonces that had a call, with their times, until they expire.
    private let used = Locked<[String: UInt64]>([:])
    private static let lifetime = 60 as UInt64
    /// Work on a large response delays further calls, not the app.
    private let queue = DispatchQueue(label: "waylay.door")

    init(_ invitation: RemoteInvitation, _ calls: DoorCalls) {
      (self.invitation, self.calls) = (invitation, calls)
    }

    func response(to request: ServerRequest, at port: Int) async -> Response {
      let (body, fields) = (String(buffer: request.body), request.head.headers)
      switch (request.head.method, request.path) {
      case (.POST, "/hello") where body.utf8.count == 32:
        let nonce = nonce(Self.now, .random(bytes: 16))
        let proof = invitation.proof("door", "\(port)", body, nonce)
        return .json(.ok, "{\"version\":1,\"nonce\":\"\(nonce)\",\"proof\":\"\(proof)\"}")
      case (.POST, "/call"):
        let (nonce, proof) = (fields["X-Waylay-Nonce"].first ?? "", fields["X-Waylay-Proof"].first ?? "")
        guard proof.utf8.isSame(as: invitation.proof("call", nonce, body).utf8), takes(nonce) else { break }
        return await withCheckedContinuation { continuation in
          queue.async { continuation.resume(returning: self.reply(to: body, nonce)) }
        }
      default: break
      }
      // The same for every reason.
      return .text(.forbidden, "Access is denied.")
    }

    private func reply(to message: String, _ nonce: String) -> Response {
      var (status, json) = (HTTPResponseStatus.ok, "")
      do throws(JSONRefusal) { json = try calls.perform(message) } catch {
        let members: JSONValue = ["error": ["code": .init(error.code), "message": .init(error.message)]]
        (status, json) = (.badRequest, members.description)
      }
      var response = Response.json(status, json)
      response.fields = [("X-Waylay-Proof", invitation.proof("reply", nonce, "\(status.code)", json))]
      return response
    }

    // MARK: Nonces

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds / 1_000_000_000 }

    /// A nonce has its time and a proof, so that none is kept before its caller has proved itself.
    private func nonce(_ time: UInt64, _ digits: String) -> String {
      "\(time)-\(digits)-\(invitation.proof("nonce", key, "\(time)", digits))"
    }

    /// Whether a nonce is of this door, is not too old, and has had no call.
    private func takes(_ nonce: String) -> Bool {
      let (parts, now) = (nonce.split(separator: "-"), Self.now)
      guard parts.count == 3, let time = UInt64(parts[0]), time <= now, now - time < Self.lifetime,
        nonce.utf8.isSame(as: self.nonce(time, String(parts[1])).utf8)
      else { return false }
      return used.withLock { used in
        used = used.filter { now - $0.value < Self.lifetime }
        return used.updateValue(time, forKey: nonce) == nil
      }
    }
  }
#endif
