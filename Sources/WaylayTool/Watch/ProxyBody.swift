import Foundation
import WaylayCore

/// The body of a request, read as it is asked for: a server that takes it slowly holds the client back.
final class ProxyBody: Sendable {
  private struct State {
    var framing: ProxyHead.Framing
    /// Bytes left of the body, or of the chunk.
    var left: Int64
    var mustContinue: Bool
    var isBetweenChunks = true
    var isOver = false
  }

  private let wire: Wire
  private let state: Locked<State>

  init(_ head: ProxyHead, _ wire: Wire) {
    self.wire = wire
    var left: Int64 = 0
    if case .length(let length) = head.framing { left = length }
    let expects = head.isModern && head["expect"]?.lowercased() == "100-continue"
    state = Locked(State(framing: head.framing, left: left, mustContinue: expects))
  }

  /// The next bytes; `nil` at the end. Used by one reader at a time.
  func next() async throws -> Data? {
    let (asks, framing, isOver) = state.withLock { state in
      defer { state.mustContinue = false }
      return (state.mustContinue, state.framing, state.isOver)
    }
    guard !isOver else { return nil }
    if asks { try await wire.write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
    if framing == .chunked, state.withLock({ $0.isBetweenChunks }) {
      let size = try await chunk()
      state.withLock { ($0.left, $0.isBetweenChunks, $0.isOver) = (size, false, size == 0) }
      if size == 0 {
        // Trailers are not passed on.
        while try await !line().isEmpty {}
        return nil
      }
    }
    let left = state.withLock { $0.left }
    guard left > 0 else { return nil }
    var data = try await wire.read()
    guard !data.isEmpty else { throw Wire.Failure.gone }
    if Int64(data.count) > left {
      wire.hold(Data(data.dropFirst(Int(left))))
      data = Data(data.prefix(Int(left)))
    }
    let rest = left - Int64(data.count)
    state.withLock { $0.left = rest }
    guard rest == 0 else { return data }
    if framing == .chunked {
      guard try await line().isEmpty else { throw ProxyHead.Refusal(status: 400, reason: "A chunk has a wrong size.") }
      state.withLock { $0.isBetweenChunks = true }
    } else {
      state.withLock { $0.isOver = true }
    }
    return data
  }

  /// The size of the next chunk (RFC 9112, section 7.1); what is said of it beside its size does not count.
  private func chunk() async throws -> Int64 {
    let digits = try await line().prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
    guard (1...15).contains(digits.utf8.count), digits.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
      let size = Int64(digits, radix: 16)
    else { throw ProxyHead.Refusal(status: 400, reason: "The size of a chunk is not a number.") }
    return size
  }

  /// A line, without its end.
  private func line() async throws -> String {
    var bytes = Data()
    while true {
      if let end = bytes.range(of: Data("\r\n".utf8)) {
        wire.hold(Data(bytes[end.upperBound...]))
        return String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
      }
      guard bytes.count < 8 << 10 else { throw ProxyHead.Refusal(status: 400, reason: "A line is too long.") }
      let more = try await wire.read()
      guard !more.isEmpty else { throw Wire.Failure.gone }
      bytes += more
    }
  }
}
