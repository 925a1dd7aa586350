import Foundation

/// What a server has seen. Safe from any thread.
final class Journal: @unchecked Sendable {
  // Unchecked: everything below is only touched under `lock`.
  private let lock = NSLock()
  private var requestLog: [TestOrigin.Request] = []
  private var raw: [Data] = []
  private var open = 0
  private var isKept = true
  private var sent = 0
  private var routes: [String: @Sendable (TestOrigin.Request) -> Reply] = [:]
  private var gates: [String: Gate] = [:]
  private var waiters: [(condition: @Sendable () -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

  private struct Gate {
    var waiting: [String?] = []
    var send: (@Sendable (String?) -> Void)?
  }

  private func locked<Result>(_ body: () -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body()
  }

  private func changed() {
    let candidates = locked { waiters }
    let indices = candidates.indices.filter { candidates[$0].condition() }
    guard !indices.isEmpty else { return }
    let ready = locked { () -> [CheckedContinuation<Void, Never>] in
      // Conditions only ever turn true, so who was ready stays ready; the list may have grown at its end meanwhile.
      var ready: [CheckedContinuation<Void, Never>] = []
      for index in indices.reversed() where index < waiters.count { ready.append(waiters.remove(at: index).continuation) }
      return ready
    }
    for waiter in ready { waiter.resume() }
  }

  func until(_ condition: @escaping @Sendable () -> Bool) async {
    await withCheckedContinuation { continuation in
      locked { waiters.append((condition, continuation)) }
      changed()
    }
  }

  func opened() -> Int {
    defer { changed() }
    return locked {
      raw.append(Data())
      open += 1
      return raw.count
    }
  }

  func closed() {
    locked { open -= 1 }
    changed()
  }

  func received(_ bytes: some Sequence<UInt8>, on connection: Int) {
    locked { if isKept { raw[connection - 1].append(contentsOf: bytes) } }
  }

  func add(_ request: TestOrigin.Request) {
    locked { if isKept { requestLog.append(request) } }
    changed()
  }

  func didSend(_ bytes: Int) {
    locked { sent += bytes }
    changed()
  }

  func setRoute(_ path: String, _ reply: @escaping @Sendable (TestOrigin.Request) -> Reply) {
    locked { routes[path] = reply }
  }

  func reply(to request: TestOrigin.Request) -> Reply {
    locked { routes[request.path] }?(request) ?? Reply.route(request)
  }

  func release(_ chunk: String?, gate name: String) {
    let send = locked { () -> (@Sendable (String?) -> Void)? in
      if let send = gates[name]?.send { return send }
      gates[name, default: Gate()].waiting.append(chunk)
      return nil
    }
    send?(chunk)
  }

  func openGate(_ name: String, _ send: @escaping @Sendable (String?) -> Void) {
    let waiting = locked { () -> [String?] in
      let waiting = gates[name]?.waiting ?? []
      gates[name] = Gate(send: send)
      return waiting
    }
    for chunk in waiting { send(chunk) }
  }

  var keepsLog: Bool {
    get { locked { isKept } }
    set { locked { isKept = newValue } }
  }

  var requests: [TestOrigin.Request] { locked { requestLog } }
  var rawBytes: [String] { locked { raw }.map { String(decoding: $0, as: UTF8.self) } }
  var connectionCount: Int { locked { raw.count } }
  var openConnectionCount: Int { locked { open } }
  var bytesSent: Int { locked { sent } }
}
