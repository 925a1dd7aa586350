import Foundation

extension Inspector {
  /// A request and its outcome, as kept by an ``Inspector``: without secrets.
  ///
  /// ```swift
  /// for exchange in inspector.exchanges where exchange.state == .failed {
  ///   print(exchange.request.url, exchange.failure?.phase ?? "", exchange.failure?.message ?? "")
  /// }
  /// ```
  ///
  /// The exchange is a view of ``entry``, which has the same content for programs that read HTTP archives: ``init(_:)``
  /// makes an exchange from such an entry.
  public struct Exchange: Sendable, Hashable, Identifiable {
    /// The identifier, in the order in which exchanges began.
    public let id: ID
    /// The state of the exchange.
    public let state: State
    /// Where the response came from; `nil` if there is none.
    public let source: Source?
    /// Why the exchange failed, if it did.
    public let failure: Failure?
    /// The requests sent to the network. With ``Inspector/attempts`` in the chain, every attempt; otherwise only the
    /// last one.
    public let attempts: [Attempt]
    /// Whether the exchange reused an open connection; `nil` if unknown.
    public let isConnectionReused: Bool?
    /// The whole exchange as an entry of an HTTP archive, with the custom fields of ``Field``.
    public let entry: HAR.Entry

    /// The request. Its body is the part that was kept: see `HAR.Body.isTruncated`.
    public var request: HAR.Request { entry.request }
    /// The response; `nil` if there is none, or none yet. Its body is the part received and kept.
    public var response: HAR.Response? { entry.response.status == 0 ? nil : entry.response }
    /// When the exchange began.
    public var started: Date { entry.started }
    /// How long the exchange took, or has taken so far.
    public var duration: Duration { .microseconds(Int64(entry.time * 1000)) }
    /// The duration of each part.
    public var timings: HAR.Timings { entry.timings }

    /// The identifier of an exchange.
    public struct ID: Sendable, Hashable, Comparable, CustomStringConvertible {
      /// The number, starting at 1.
      public let number: Int

      /// Makes an identifier from a number.
      public init(_ number: Int) {
        self.number = number
      }

      /// The number as text.
      public var description: String { String(number) }

      /// Whether the first exchange began before the other.
      public static func < (one: ID, other: ID) -> Bool { one.number < other.number }
    }

    /// The state of an exchange. A struct, so that new states can be added.
    public struct State: Sendable, Hashable, CustomStringConvertible {
      /// The state's name.
      public let description: String

      /// Makes a state with the given name.
      public init(_ description: String) {
        self.description = description
      }

      /// The response, or the rest of its body, has not arrived yet.
      public static let open = State("open")
      /// The exchange ended with a response. If its body was dropped before its end, `HAR.Entry.comment` says so.
      public static let finished = State("finished")
      /// The exchange failed or was cancelled.
      public static let failed = State("failed")
      /// A WebSocket task began; its messages are not visible.
      public static let unseen = State("unseen")
    }

    /// Where a response came from. A struct, so that new sources can be added.
    public struct Source: Sendable, Hashable, CustomStringConvertible {
      /// The source's name.
      public let description: String

      /// Makes a source with the given name.
      public init(_ description: String) {
        self.description = description
      }

      /// The network.
      public static let network = Source("network")
      /// An archive, according to the response's source or its `Cache-Status` field (RFC 9211).
      public static let archive = Source("archive")
      /// An interceptor that made the response itself, such as a mock.
      public static let mocked = Source("mocked")
    }

    /// Why an exchange failed.
    public struct Failure: Sendable, Hashable, CustomStringConvertible {
      /// The error's text, without secrets.
      public let message: String
      /// How far the exchange had progressed, if a transport says so.
      public let phase: TransportError.Phase?

      /// Makes a failure.
      public init(message: String, phase: TransportError.Phase? = nil) {
        self.message = message
        self.phase = phase
      }

      /// Phase and message.
      public var description: String { phase.map { "while \($0): \(message)" } ?? message }
    }

    /// A request sent to the network for an exchange.
    public struct Attempt: Sendable, Hashable {
      /// The address that was dialed, or was to be dialed.
      public let address: String?
      /// The start, in milliseconds after the exchange began.
      public let at: Double
      /// The time in milliseconds until there was a head or an error; `nil` until then.
      public let time: Double?
      /// The status of the response.
      public let status: Int?
      /// Why there was no response.
      public let failure: Failure?
      /// Whether the attempt reused an open connection; `nil` if unknown.
      public let isConnectionReused: Bool?
    }
  }
}

extension Inspector.Exchange: CustomStringConvertible {
  /// The exchange on one line.
  public var description: String {
    var text = "#\(id) \(request.method) \(request.url) "
    if let response { text += "\(response.status) " }
    text += source.map { "\(state), \($0)" } ?? state.description
    if let failure { text += ", \(failure)" }
    return text + ", \((entry.time * 10).rounded() / 10) ms, \(entry.response.body.size) B"
  }
}
