import Foundation
public import HTTPTypes

/// An answer that is about to be stored, for ``ArchiveCache/Configuration/willStore`` to edit, tag, pin or refuse.
///
/// ```swift
/// configuration.willStore = { candidate in
///   if candidate.fields[.contentType] == "text/event-stream" { candidate.refuse("a stream of events") }
///   candidate.fields[.setCookie] = nil
///   candidate.tags.insert("articles")
/// }
/// ```
///
/// Edits change what is stored, and so what later requests are answered with; the answer to this request passes as it
/// is. To change a body, put an interceptor behind the archive.
///
/// When the server confirms a stored answer (`304`), its new head comes here as well, with the fields that the server
/// has changed: what was edited out does not come back. Tags and pins stay as they were then, and to refuse such a head
/// removes the answer.
public struct ArchiveCandidate: Sendable {
  /// The request.
  public let request: URLRequest
  /// The answer's status.
  public let status: HTTPResponse.Status
  /// The bytes of the body, where they are known beforehand.
  public let length: Int64?
  /// The header fields to store.
  public var fields: HTTPFields
  /// How long the answer is to stay fresh, in place of what its headers say; `nil` to leave that to them.
  public var lifetime: Duration?
  /// Words to find or remove entries by.
  public var tags: Set<String> = []
  /// Whether the entry is to be kept when others are evicted.
  public var isPinned = false
  /// Why the answer is not to be stored, if it is not.
  public private(set) var refusal: String?

  /// Keeps the answer out of the archive.
  ///
  /// - Parameter reason: Why, for events and logs.
  public mutating func refuse(_ reason: String) {
    refusal = reason
  }

  /// The lifetime, as the rules take it.
  var override: LifetimeOverride? { lifetime.map { .forced($0.wholeSeconds) } }

  init(request: URLRequest, status: HTTPResponse.Status, length: Int64?, fields: HTTPFields) {
    self.request = request
    self.status = status
    self.length = length
    self.fields = fields
  }
}

extension ArchiveCandidate: CustomStringConvertible {
  /// Status and URL on one line, as a log may show it: without fields, and without query values.
  public var description: String { "\(status.code) \(request.url?.redacted ?? "<no URL>")" }
}
