/// How large the heads, trailers and cookies of a message may be: a server decides what it sends, and this decides what
/// is taken.
///
/// ```swift
/// var limits = MessageLimits()
/// limits.fieldCount = 200
/// let registry = InterceptorRegistry(limits: limits) { RetryOnUnavailable() }
/// ```
///
/// A response over a limit fails its load, and a response whose trailers are over it fails its body: with a
/// ``TransportError`` of the code `dataLengthExceedsMaximum` and a ``WaylayError`` of the code
/// ``WaylayError/Code/limitExceeded`` beneath, which names the limit. A request over a limit is not sent, and fails
/// with ``WaylayError/Code/limitExceeded``. Cookies over theirs are not stored, as RFC 6265, section 6.1, has it; a
/// line at `.warning` says so.
///
/// A registry hands its limits to the transports that it makes; a transport of your own has them in its options.
/// libcurl has limits beside these that cannot be raised: 100 KiB for one field and, since 8.3, 300 KiB for a head.
/// Exceeding them fails a load in the same way.
public struct MessageLimits: Sendable, Hashable {
  /// The most lines that the fields of one head may have, or those behind one body. A field that goes on in other lines
  /// counts once for each. Default: 2 000. Kept between 1 and 65 534, the most that `HTTPFields` holds.
  public var fieldCount = 2_000 {
    didSet { fieldCount = min(max(fieldCount, 1), Self.mostFields) }
  }

  /// The most bytes of one head, status line included, or of the fields behind one body. Default: 256 KiB. At least 1.
  public var fieldBytes = 256 * 1024 {
    didSet { fieldBytes = max(fieldBytes, 1) }
  }

  /// The most interim responses (1xx; RFC 9110, section 15.2) before the final one; together they may have as many
  /// bytes as one head. Default: 50. At least 0.
  public var interimResponseCount = 50 {
    didSet { interimResponseCount = max(interimResponseCount, 0) }
  }

  /// The most cookies that one response may set, and that are stored for one host; further ones are ignored. Default:
  /// 180, as in browsers. At least 0.
  public var cookieCount = 180 {
    didSet { cookieCount = max(cookieCount, 0) }
  }

  /// The most bytes that name and value of a cookie may have together; a larger one is ignored. Default: 4 096, what
  /// RFC 6265, section 6.1, asks for at least. At least 0.
  public var cookieBytes = 4096 {
    didSet { cookieBytes = max(cookieBytes, 0) }
  }

  /// Makes the default limits.
  public init() {}

  /// One more would end the process.
  package static let mostFields = Int(UInt16.max) - 1
}

extension MessageLimits {
  /// One of the limits, with how an error names it.
  enum Limit: String {
    case fieldCount
    case fieldBytes
    case interimResponseCount
  }

  /// An error about a limit that a response is over; `what` it is of, the error begins with.
  func excess(_ limit: Limit, of what: String) -> TransportError {
    let error = WaylayError(.limitExceeded, text(limit, of: what))
    return TransportError(.dataLengthExceedsMaximum, phase: .receiving, message: error.message, underlying: error)
  }

  /// The same in words.
  func text(_ limit: Limit, of what: String) -> String {
    let most =
      switch limit {
      case .fieldCount: "\(fieldCount) lines of fields"
      case .fieldBytes: "\(fieldBytes) bytes"
      case .interimResponseCount: "\(interimResponseCount) interim responses"
      }
    return
      "\(what) has more than the \(most) that MessageLimits.\(limit.rawValue) allows: have less sent, or raise the "
      + "limit."
  }

  /// Refuses fields that are too many or too large for a message.
  func check(count: Int, bytes: Int, of what: @autoclosure () -> String) throws(TransportError) {
    guard count <= fieldCount else { throw excess(.fieldCount, of: what()) }
    guard bytes <= fieldBytes else { throw excess(.fieldBytes, of: what()) }
  }
}
