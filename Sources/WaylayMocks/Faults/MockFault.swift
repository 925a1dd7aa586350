import Foundation

/// A way in which a network fails an exchange.
public struct MockFault: Sendable {
  enum Effect: Sendable {
    /// No head comes.
    case beforeHead(TransportError)
    /// The body fails after so many bytes.
    case body(afterBytes: Int, TransportError)
    /// The body goes no further after so many bytes.
    case stall(afterBytes: Int)
  }

  let effect: Effect
  var defect: MockError?
}
