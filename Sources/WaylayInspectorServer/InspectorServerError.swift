public import Foundation
public import WaylayCore

/// Why an ``InspectorServer`` could not be started.
public struct InspectorServerError: LoadError {
  /// The kind of failure. New codes may be added in any release.
  public let code: Code
  /// A human-readable text: what happened and what to do about it.
  public let message: String
  /// Always `nil`.
  public let url: URL?
  /// Always `nil`.
  public let requestID: InterceptedRequest.ID?
  /// The system's error, if there is one.
  public let underlying: (any Error)?

  init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
    url = nil
    requestID = nil
  }

  /// The kinds of failure. A struct rather than an enum, so that new ones do not break a `switch`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    /// Makes a code with the given name.
    public init(_ description: String) {
      self.description = description
    }

    /// The port is in use, or this process may not listen on it.
    ///
    /// Choose another port, or `0` for any free one.
    public static let cannotListen = Code("cannotListen")
    /// The server is already being started or stopped.
    ///
    /// Start and stop the server in one place, and wait for each call to return.
    public static let busy = Code("busy")
  }
}
