import Foundation
import WaylayCore

/// Calls the door of an app that was invited (`Internals/RemoteDoor.md`).
///
/// The calls are direct loads of a separate registry, which bypass the cookies, cache and protocol classes of sessions,
/// air gaps and proxies.
package final class DoorClient: Sendable {
  /// Routes a request to its own address, which bypasses the environment's proxy if the transport supports routes.
  private struct Direct: RequestInterceptor {
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      var request = request
      if try next.transport(for: request.url)?.capabilities.contains(.routes) == true {
        request.route = try Route("127.0.0.1", port: request.url.port)
      }
      return try await next(request)
    }
  }

  package let invitation: RemoteInvitation
  private let registry: InterceptorRegistry
  private let launchTime: Duration
  private let state = Locked(State())

  private struct State {
    /// The port of the door, once it has proved itself.
    var known: Int?
    /// A port that has refused the greeting; it may be that of a door.
    var refusing: Int?
  }

  /// - Parameters:
  ///   - invitation: The invitation that the app has.
  ///   - launchTime: How long the first call waits for the door to open.
  package init(_ invitation: RemoteInvitation, launchTime: Duration = .seconds(30)) {
    (self.invitation, self.launchTime) = (invitation, launchTime)
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = []
    configuration.httpCookieStorage = nil
    configuration.urlCache = nil
    configuration.connectionProxyDictionary = [:]
    registry = InterceptorRegistry(configuration: configuration) { Direct() }
  }

  /// Whether the door has proved itself.
  package var hasMet: Bool { state.withLock { $0.known != nil } }

  /// Waits for the door of an app that is launched again as for the first.
  package func forget() { state.withLock { $0 = State() } }

  deinit { registry.invalidate() }

  /// Calls the door.
  ///
  /// - Parameters:
  ///   - name: The call.
  ///   - members: The other members of the message; those that are `nil` are left out.
  /// - Throws: `WaylayError.noRemoteDoor` if the app does not respond, `WaylayError.refusedByDoor`, and
  ///   `CancellationError`.
  package func call(_ name: String, _ members: [String: JSONValue?] = [:]) async throws -> JSONValue {
    let given = members.compactMapValues(\.self).merging(["call": JSONValue(name)]) { $1 }
    let message = JSONValue(given).description
    guard message.utf8.count <= 8 << 20 else {
      throw WaylayError(.refusedByDoor, "The call \(name) has \(message.utf8.count) bytes; a door takes 8 MiB at once.")
    }
    let (port, nonce) = try await greet()
    let fields = ["X-Waylay-Nonce": nonce, "X-Waylay-Proof": invitation.proof("call", nonce, message)]
    let reply = try await withThrowingTaskGroup(of: Reply?.self) { group in
      group.addTask { try await self.send("call", message, fields, to: port) }
      // A call may take its time, as long as the app lives.
      group.addTask {
        repeat { try await Task.sleep(for: .seconds(1)) } while try await self.hello(port) != nil
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
    guard let (status, proof, body) = reply else { throw silence(port) }
    let expected = invitation.proof("reply", nonce, "\(status)", String(decoding: body, as: UTF8.self))
    guard proof.utf8.isSame(as: expected.utf8), let json = try? JSONValue(reading: body) else {
      throw WaylayError(
        .noRemoteDoor,
        "Port \(port) gave a response without proof, \(status): another program has it, or the app has too many requests."
      )
    }
    guard status == 200 else {
      throw WaylayError(.refusedByDoor, json["error"]?["message"]?.string ?? "The app gave the status \(status).")
    }
    return json
  }

  /// Finds and verifies the door; returns its port and a nonce for one call.
  private func greet() async throws -> (port: Int, nonce: String) {
    let last = state.withLock { $0.known }
    let found = try await ContinuousClock().value(within: last == nil ? launchTime : .seconds(2)) {
      try await self.search(last)
    }
    guard let found else { throw silence(last) }
    state.withLock { $0.known = found.port }
    return found
  }

  /// Tries the last port, and then all of them, until one is the door's: an app that was launched again may have
  /// another.
  private func search(_ last: Int?) async throws -> (port: Int, nonce: String) {
    var ports = last.map { [$0] } ?? invitation.ports
    while true {
      let found = try await withThrowingTaskGroup(of: (Int, String)?.self) { group in
        for port in ports { group.addTask { try await self.hello(port).map { (port, $0) } } }
        defer { group.cancelAll() }
        return try await group.first { $0 != nil } ?? nil
      }
      if let found { return found }
      ports = invitation.ports
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// The nonce of the door at a port; `nil` if no server responds there, or one that is not the door.
  private func hello(_ port: Int) async throws -> String? {
    let own = String.random(bytes: 16)
    // Limit the total time: another server may send a byte now and then, so that it is never idle.
    let reply = try await ContinuousClock().value(within: .seconds(2)) {
      try await self.send("hello", own, to: port, limit: 4 << 10)
    }
    guard let (status, _, body) = reply ?? nil else { return nil }
    if status == 403 { state.withLock { $0.refusing = port } }
    guard let json = try? JSONValue(reading: body), json["version"]?.int == 1, let nonce = json["nonce"]?.string,
      let proof = json["proof"]?.string,
      proof.utf8.isSame(as: invitation.proof("door", "\(port)", own, nonce).utf8)
    else { return nil }
    return nonce
  }

  private typealias Reply = (status: Int, proof: String, body: Data)

  /// The response to a request; `nil` if none comes.
  private func send(
    _ path: String, _ body: String, _ fields: [String: String] = [:], to port: Int, limit: Int = 17 << 20
  ) async throws -> Reply? {
    guard let url = URL(string: "http://127.0.0.1:\(port)/door/\(path)") else { return nil }
    var request = URLRequest(url: url, timeoutInterval: 600)
    request.httpMethod = "POST"
    request.allHTTPHeaderFields = fields.merging(["X-Waylay": "1", "Content-Type": "text/plain"]) { $1 }
    do {
      let response = try await registry.load(request, body: .text(body))
      let data = try await response.body.collect(upTo: limit)
      return (response.status.code, response.head.value(forHTTPHeaderField: "X-Waylay-Proof") ?? "", data)
    } catch {
      try Task.checkCancellation()
      return nil
    }
  }

  private func silence(_ port: Int?) -> WaylayError {
    if let port {
      return WaylayError(
        .noRemoteDoor, "The app on port \(port) no longer responds: it ended, was killed, or was stopped.")
    }
    let refusing = state.withLock { $0.refusing }
    let refusal = refusing.map { " Port \($0) refuses access: a door does so to other users." } ?? ""
    return WaylayError(
      .noRemoteDoor,
      """
      No app has opened its door within \(launchTime). Check that it is a debug build that calls RemoteDoor.open, and \
      that the invitation is in its environment.\(refusal)
      """)
  }
}
