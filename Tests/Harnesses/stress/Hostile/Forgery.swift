import Foundation
import TestOrigin

/// What goes on the wire for one request, and what a client may make of it.
struct Forgery: Sendable {
  /// How right it is.
  enum Verdict: Int, Comparable {
    /// It is an answer, and has to be given as one.
    case right
    /// A client may take it or refuse it; what it takes has to be this.
    case either
    /// It is none, and has to be refused.
    case wrong

    static func < (one: Verdict, other: Verdict) -> Bool { one.rawValue < other.rawValue }
  }

  /// What was done to it, for reports.
  var traits: [String] = []
  var verdict = Verdict.right
  /// The errors that a client may refuse it with.
  var codes: Set<URLError.Code> = []
  var status = 200
  /// The body as a client has to see it.
  var body = Data()
  /// Whether a client may see the beginning of it and not know.
  var isBeginning = false
  /// Of which version it is all, a part or a beginning, under a strong validator.
  var version: Int?
  /// The place of the body in the whole, where the answer says that it is a part and is the part it says.
  var part: Range<Int>?
  /// How long it says the whole is.
  var total: Int?
  /// The bytes of a part that is well-formed and claims to be the beginning of the longest body there is: a client cannot
  /// know better than to believe it.
  var longest: Data?
  /// Whether what was sent of it is a representation that a later request may be answered with.
  var isWhole = true
  var script = ScriptedOrigin.Script([])

  /// Whether a body is what a client may see.
  func allows(_ seen: Data) -> Bool { isBeginning ? body.starts(with: seen) : body == seen }

  /// Notes what was done, and what that makes of the whole.
  mutating func note(_ trait: String, _ verdict: Verdict = .right, _ codes: Set<URLError.Code> = []) {
    traits.append(trait)
    self.verdict = max(self.verdict, verdict)
    self.codes.formUnion(codes)
  }
}

extension Set<URLError.Code> {
  /// The connection ended too early.
  static let lost: Self = [.networkConnectionLost]
  /// What came is not HTTP; where that shows in the middle of a body, the connection counts as lost.
  static let malformed: Self = [.badServerResponse, .networkConnectionLost]
  /// There is more of a head than a client takes.
  static let tooMuch: Self = [.badServerResponse, .networkConnectionLost, .dataLengthExceedsMaximum]
  /// The coding of the body does not hold.
  static let coding: Self = [.cannotDecodeContentData]
  /// The coding of the transfer does not hold, which is either.
  static let transferCoding: Self = [.badServerResponse, .networkConnectionLost, .cannotDecodeContentData]
  /// A place that is none, or that nobody follows to.
  static let place: Self = [
    .badURL, .unsupportedURL, .cannotFindHost, .cannotConnectToHost, .secureConnectionFailed,
    .redirectToNonExistentLocation,
    .httpTooManyRedirects, .badServerResponse, .networkConnectionLost,
  ]
}
