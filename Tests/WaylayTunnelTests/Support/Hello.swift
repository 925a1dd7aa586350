#if Tunnel
  /// A ClientHello as a client of TLS 1.2 sends it, written by hand (RFC 8446, section 4.1.2).
  enum Hello {
    /// - Parameter cipher: No server knows the number 0x0A0A (RFC 8701).
    static func record(host: String, cipher: Int = 0xC02B, extensions more: [(UInt16, [UInt8])] = []) -> [UInt8] {
      let name = Array(host.utf8)
      let all: [(UInt16, [UInt8])] =
        [
          (0, number(name.count + 3) + [0] + number(name.count) + name), (10, [0, 4, 0, 29, 0, 23]), (11, [1, 0]),
          (13, [0, 4, 4, 3, 8, 4]),
        ] + more
      let extensions = all.flatMap { number(Int($0.0)) + number($0.1.count) + $0.1 }
      let body =
        [3, 3] + [UInt8](repeating: 7, count: 32) + [0, 0, 2] + number(cipher) + [1, 0] + number(extensions.count)
        + extensions
      let message = [1, 0] + number(body.count) + body
      return [22, 3, 1] + number(message.count) + message
    }

    private static func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
  }
#endif
