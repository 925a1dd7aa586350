import FlyingSocks
import Foundation
import WaylayCore

/// One connection: read by one task and written by one, with bounds of time, on threads of its own.
///
/// Reads and writes wait in `poll`, and no thread of tasks with them. Whoever wants it to end at once calls
/// ``abort()``: what waits then returns.
final class Wire: Sendable {
  /// Why reading or writing has ended.
  enum Failure: Error {
    /// Nothing came or went for too long.
    case idle
    /// The other side has gone, or the proxy has stopped.
    case gone
  }

  /// How long a read or a write waits while nothing happens.
  static let patience = Duration.seconds(120)

  let descriptor: Int32
  private let socket: Socket
  private let isClosed = Locked(false)
  /// What was read and not asked for yet.
  private let held = Locked(Data())
  private let reading = DispatchQueue(label: "waylay.watch.read")
  private let writing = DispatchQueue(label: "waylay.watch.write")

  init(_ socket: Socket) throws {
    self.socket = socket
    descriptor = socket.file.rawValue
    try socket.setFlags(.nonBlocking)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  deinit { isClosed.withLock { if !$0 { try? socket.close() } } }

  /// Ends it for both sides.
  func abort() { isClosed.withLock { if !$0 { _ = shutdown(descriptor, Int32(SHUT_RDWR)) } } }

  /// Says that nothing more will be sent.
  func finish() { isClosed.withLock { if !$0 { _ = shutdown(descriptor, Int32(SHUT_WR)) } } }

  /// Closes it when nobody reads or writes any more: its number may be somebody else's then.
  func close() {
    let isFirst = isClosed.withLock { isClosed in
      defer { isClosed = true }
      if !isClosed { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
      return !isClosed
    }
    guard isFirst else { return }
    reading.async { [writing, socket] in writing.async { try? socket.close() } }
  }

  /// Puts bytes back that were read and are not of this message.
  func hold(_ data: Data) { held.withLock { $0 = data + $0 } }

  /// What was read and not asked for.
  func takeHeld() -> Data {
    held.withLock { held in
      defer { held = Data() }
      return held
    }
  }

  /// The next bytes; none at the end.
  func read(_ patience: Duration = Wire.patience) async throws -> Data {
    let waiting = takeHeld()
    guard waiting.isEmpty else { return waiting }
    return try await withCheckedThrowingContinuation { continuation in
      reading.async { continuation.resume(with: Result { try self.readNow(patience) }) }
    }
  }

  func write(_ data: Data) async throws {
    try await withCheckedThrowingContinuation { continuation in
      writing.async { continuation.resume(with: Result { try self.writeNow(data) }) }
    }
  }

  private func readNow(_ patience: Duration) throws -> Data {
    var buffer = Data(count: 64 << 10)
    while true {
      try waitFor(Int16(POLLIN), patience)
      let count = buffer.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 { return Data(buffer.prefix(count)) }
      guard errno == EINTR || errno == EAGAIN else { throw Failure.gone }
    }
  }

  private func writeNow(_ data: Data) throws {
    try data.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        try waitFor(Int16(POLLOUT), Self.patience)
        let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count >= 0 {
          rest = rest.dropFirst(count)
        } else if errno != EINTR && errno != EAGAIN {
          throw Failure.gone
        }
      }
    }
  }

  /// Waits until it can be read or written.
  private func waitFor(_ events: Int16, _ patience: Duration) throws {
    guard !isClosed.withLock({ $0 }) else { throw Failure.gone }
    var entry = pollfd(fd: descriptor, events: events, revents: 0)
    let milliseconds = Int32(clamping: Int(patience / .milliseconds(1)))
    while true {
      let count = poll(&entry, 1, milliseconds)
      if count > 0 { return }
      if count == 0 { throw Failure.idle }
      guard errno == EINTR else { throw Failure.gone }
    }
  }

  /// Reads and throws away what the other side still sends, for a moment: a connection that is closed with bytes
  /// unread takes the answer away with it (RFC 9112, section 9.6).
  func linger() async {
    finish()
    var left = 1 << 20
    while left > 0, let data = try? await read(.seconds(2)), !data.isEmpty { left -= data.count }
  }
}
