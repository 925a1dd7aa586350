public import Foundation

/// Why an HTTP archive could not be read or written.
public struct HARError: Error, Sendable {
  /// The kind of failure. New codes may be added in any release.
  public let code: Code
  /// A human-readable text: what happened and what to do about it.
  public let message: String
  /// The file, if the error is about one.
  public let file: URL?
  /// The original error, if there is one.
  public let underlying: (any Error)?

  /// Makes an error of the given kind.
  public init(_ code: Code, _ message: String, file: URL? = nil, underlying: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.file = file
    self.underlying = underlying
  }

  /// The kinds of failure. A struct rather than an enum, so that new ones do not break a `switch`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    /// Makes a code with the given name.
    public init(_ description: String) {
      self.description = description
    }

    /// The file cannot be opened or read.
    ///
    /// Check the path and the permissions; see ``HARError/underlying``.
    public static let unreadable = Code("unreadable")
    /// The file cannot be written.
    ///
    /// Check that the folder exists, and check its permissions and the free space; see ``HARError/underlying``.
    public static let unwritable = Code("unwritable")
    /// The bytes are not JSON.
    ///
    /// The message names the location. Often the file was truncated while it was written or downloaded: export it
    /// again.
    public static let notJSON = Code("notJSON")
    /// The JSON is not an HTTP archive.
    ///
    /// The file needs `{"log": {"entries": [...]}}`: export the traffic as HAR, not as another format.
    public static let notAnArchive = Code("notAnArchive")
    /// An entry is too large to hold in memory.
    ///
    /// Raise `entryLimit`, or export without the bodies.
    public static let tooLarge = Code("tooLarge")
  }
}

extension HARError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
  /// Code and message on one line.
  public var description: String { "HARError.\(code): \(message)" + (file.map { " [\($0.lastPathComponent)]" } ?? "") }

  /// The same as the description, which leaves out the underlying error because that may contain anything.
  public var debugDescription: String { description }

  /// The message.
  public var errorDescription: String? { message }
}

extension HARError {
  /// The same error, about a file.
  func `in`(_ file: URL) -> HARError { HARError(code, message, file: self.file ?? file, underlying: underlying) }

  /// Where Foundation's decoder found a text to be wrong, without the text itself.
  static func place(of error: any Error) -> String {
    guard case DecodingError.dataCorrupted(let context) = error else { return "it cannot be decoded" }
    let detail = (context.underlyingError as? NSError)?.userInfo[NSDebugDescriptionErrorKey] as? String
    return detail ?? context.debugDescription
  }

  /// The names of an object's members, a few of them.
  static func names(of json: JSONValue) -> String {
    guard let names = json.object?.keys.sorted(), !names.isEmpty else { return "nothing" }
    return names.prefix(8).joined(separator: ", ") + (names.count > 8 ? ", …" : "")
  }
}
