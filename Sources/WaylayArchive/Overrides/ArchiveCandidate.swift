import Foundation
public import HTTPTypes

/// A response about to be stored, which ``ArchiveCache/Configuration/willStore`` can edit, tag, pin or reject.
///
/// ```swift
/// configuration.willStore = { candidate in
///   if candidate.fields[.contentType] == "text/event-stream" { candidate.refuse("a stream of events") }
///   candidate.fields[.setCookie] = nil
///   candidate.tags.insert("articles")
/// }
/// ```
///
/// Edits change what is stored, and thus the responses to later requests; the response to this request passes
/// unchanged. To change a body, put an interceptor after the archive.
///
/// When the server validates a stored response (`304`), its new head passes through here as well, with the fields that
/// the server changed: removed fields do not come back. Tags and pins keep their earlier values, and rejecting such a
/// head removes the response.
public struct ArchiveCandidate: Sendable {
  /// The request.
  public let request: URLRequest
  /// The response's status.
  public let status: HTTPResponse.Status
  /// The number of body bytes, if known in advance.
  public let length: Int64?
  /// The header fields to store.
  public var fields: HTTPFields
  /// How long the response stays fresh, overriding its header fields; `nil` leaves that to them.
  public var lifetime: Duration?
  /// Tags for finding or removing entries.
  public var tags: Set<String> = []
  /// Whether to keep the entry when others are evicted.
  public var isPinned = false
  /// The reason why the response is rejected; `nil` if it is not.
  public private(set) var refusal: String?

  /// Keeps the response out of the archive.
  ///
  /// - Parameter reason: The reason, for events and logs.
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
  /// Status and URL on one line, suitable for a log: without fields, and without query values.
  public var description: String { "\(status.code) \(request.url?.redacted ?? "<no URL>")" }
}
