import Foundation

extension Inspector {
  /// One request and what came of it, as an ``Inspector`` keeps it: without secrets.
  ///
  /// ```swift
  /// for exchange in inspector.exchanges where exchange.state == .failed {
  ///   print(exchange.request.url, exchange.failure?.phase ?? "", exchange.failure?.message ?? "")
  /// }
  /// ```
  ///
  /// It is a view of ``entry``, which says the same to whatever reads HTTP archives: an exchange is made of such an
  /// entry again by ``init(_:)``.
  public struct Exchange: Sendable, Hashable, Identifiable {
    /// Its number, in the order in which exchanges began.
    public let id: ID
    /// How far it is.
    public let state: State
    /// Where the answer came from; `nil` where there is none.
    public let source: Source?
    /// Why it failed, where it did.
    public let failure: Failure?
    /// What went to the network for it. With ``Inspector/attempts`` in the chain, each attempt; the last one alone
    /// otherwise.
    public let attempts: [Attempt]
    /// Whether a connection that was open already was used; `nil` where that is not known.
    public let isConnectionReused: Bool?
    /// All of it as an entry of an HTTP archive, with the fields of ``Field`` beside those of the format.
    public let entry: HAR.Entry

    /// What was asked. The body is what has been kept of it: see `HAR.Body.isTruncated`.
    public var request: HAR.Request { entry.request }
    /// What was answered; `nil` where nothing was, or has been yet. The body is what has come and been kept of it.
    public var response: HAR.Response? { entry.response.status == 0 ? nil : entry.response }
    /// When it began.
    public var started: Date { entry.started }
    /// How long it took, or has taken.
    public var duration: Duration { .microseconds(Int64(entry.time * 1000)) }
    /// What took how long.
    public var timings: HAR.Timings { entry.timings }

    /// The number of an exchange.
    public struct ID: Sendable, Hashable, Comparable, CustomStringConvertible {
      /// From 1.
      public let number: Int

      /// Makes an identifier of a number.
      public init(_ number: Int) {
        self.number = number
      }

      /// The number as text.
      public var description: String { String(number) }

      /// Whether one began before the other.
      public static func < (one: ID, other: ID) -> Bool { one.number < other.number }
    }

    /// How far an exchange is. A struct, so that states may be added.
    public struct State: Sendable, Hashable, CustomStringConvertible {
      /// The state's name.
      public let description: String

      /// Makes a state of that name.
      public init(_ description: String) {
        self.description = description
      }

      /// The answer is awaited, or its body is coming.
      public static let open = State("open")
      /// It has ended with an answer. Its body may have been let go of before its end, which `HAR.Entry.comment` says.
      public static let finished = State("finished")
      /// It has failed, or was cancelled.
      public static let failed = State("failed")
      /// A WebSocket task was begun: what is sent and received on it is not seen.
      public static let unseen = State("unseen")
    }

    /// Where an answer came from. A struct, so that sources may be added.
    public struct Source: Sendable, Hashable, CustomStringConvertible {
      /// The source's name.
      public let description: String

      /// Makes a source of that name.
      public init(_ description: String) {
        self.description = description
      }

      /// The network.
      public static let network = Source("network")
      /// An archive, as the answer's source or its `Cache-Status` field says (RFC 9211).
      public static let archive = Source("archive")
      /// An interceptor that has made the answer up, such as a mock.
      public static let mocked = Source("mocked")
    }

    /// Why an exchange has failed.
    public struct Failure: Sendable, Hashable, CustomStringConvertible {
      /// What the error says, without secrets.
      public let message: String
      /// How far it had come, where a transport says so.
      public let phase: TransportError.Phase?

      /// Makes a failure.
      public init(message: String, phase: TransportError.Phase? = nil) {
        self.message = message
        self.phase = phase
      }

      /// Phase and message.
      public var description: String { phase.map { "while \($0): \(message)" } ?? message }
    }

    /// A request that went to the network on behalf of an exchange.
    public struct Attempt: Sendable, Hashable {
      /// The address that was dialled, or was to be.
      public let address: String?
      /// Milliseconds after the exchange began.
      public let at: Double
      /// How many milliseconds it took until there was a head or an error; `nil` while there is neither.
      public let time: Double?
      /// The status that was answered.
      public let status: Int?
      /// Why nothing was.
      public let failure: Failure?
      /// Whether a connection that was open already was used; `nil` where that is not known.
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
