extension HAR {
  /// The duration of each part of an exchange, in milliseconds.
  ///
  /// Parts that did not happen are `nil`. Invalid values, such as negative numbers, become `nil` or 0.
  public struct Timings: Hashable, Sendable {
    /// Waiting for a connection.
    public var blocked: Double? { didSet { blocked = Self.duration(blocked) } }
    /// Resolving the host name.
    public var dns: Double? { didSet { dns = Self.duration(dns) } }
    /// Connecting, including the TLS handshake.
    public var connect: Double? { didSet { connect = Self.duration(connect) } }
    /// The TLS handshake: a part of ``connect``.
    public var ssl: Double? { didSet { ssl = Self.duration(ssl) } }
    /// Sending the request.
    public var send: Double { didSet { send = Self.duration(send) ?? 0 } }
    /// Waiting for the response to begin.
    public var wait: Double { didSet { wait = Self.duration(wait) ?? 0 } }
    /// Receiving the response.
    public var receive: Double { didSet { receive = Self.duration(receive) ?? 0 } }
    /// A comment.
    public var comment: String?
    /// Custom fields, by name.
    public var extensions: [String: JSONValue] = [:]

    /// Makes timings in milliseconds.
    public init(
      blocked: Double? = nil, dns: Double? = nil, connect: Double? = nil, ssl: Double? = nil, send: Double = 0,
      wait: Double = 0,
      receive: Double = 0
    ) {
      self.blocked = Self.duration(blocked)
      self.dns = Self.duration(dns)
      self.connect = Self.duration(connect)
      self.ssl = Self.duration(ssl)
      self.send = Self.duration(send) ?? 0
      self.wait = Self.duration(wait) ?? 0
      self.receive = Self.duration(receive) ?? 0
    }

    /// The total duration in milliseconds. The TLS handshake counts once, as a part of connecting.
    public var total: Double { Double(sum) / 1000 }

    /// The sum of the parts as a file has them, in thousandths of a millisecond: whole numbers add up, fractions
    /// nearly.
    private var sum: Int {
      [blocked, dns, connecting, send, wait, receive].compactMap { $0.map(Self.microseconds) }.reduce(0, +)
    }

    /// Connecting takes no less than the handshake that is a part of it.
    private var connecting: Double? {
      guard let ssl else { return connect }
      return max(connect ?? 0, ssl)
    }

    private static func duration(_ value: Double?) -> Double? {
      guard let value, value >= 0, value.isFinite else { return nil }
      return value
    }

    private static func microseconds(_ milliseconds: Double) -> Int { Int(min(milliseconds * 1000, 1e15).rounded()) }
  }
}

extension HAR.Timings {
  init(_ json: JSONValue?) {
    func time(_ name: String) -> Double? { json?[name]?.double }
    self.init(
      blocked: time("blocked"), dns: time("dns"), connect: time("connect"), ssl: time("ssl"), send: time("send") ?? 0,
      wait: time("wait") ?? 0, receive: time("receive") ?? 0)
    comment = json?["comment"]?.string
    extensions = json?.others(than: ["blocked", "dns", "connect", "ssl", "send", "wait", "receive", "comment"]) ?? [:]
  }

  func write(to json: inout JSONText) {
    json.object { json in
      let parts = [
        ("blocked", blocked), ("dns", dns), ("connect", connecting), ("ssl", ssl), ("send", send), ("wait", wait),
        ("receive", receive),
      ]
      for (name, value) in parts {
        json.member(name) { $0.raw(value.map { Self.text(Self.microseconds($0)) } ?? "-1") }
      }
      json.member(ifAny: "comment", comment)
      json.members(extensions)
    }
  }

  /// All of it, as a file has it.
  var totalText: String { Self.text(sum) }

  /// Thousandths of a millisecond as a decimal fraction.
  private static func text(_ microseconds: Int) -> String {
    let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1000)
    if rest == 0 { return String(whole) }
    var digits = String(1000 + rest).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits)"
  }
}
