import Foundation

/// The request of one hop as the app asks for it, or a redirect: before any link has seen it, without a body and
/// without a tag.
///
/// A hop is what redirects, cookies and credentials are about. What a chain sees of it is an ``InterceptedRequest``,
/// made anew for each time that it runs.
struct Hop: Sendable {
  var urlRequest: URLRequest
  var body: MessageBody
  /// How many redirects came before.
  var number = 0
  /// Whether an upload task has the body, rather than its request.
  var isUpload = false

  var url: URL? { urlRequest.url }
}
