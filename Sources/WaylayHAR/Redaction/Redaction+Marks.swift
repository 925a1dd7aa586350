import Foundation

extension Redaction {
  /// Whether something was taken out of a request's URL, and out of its body: where the replacement stands, also within
  /// a coding, or in a part that is compressed.
  package func hasTakenOut(of request: HAR.Request) -> (url: Bool, body: Bool) {
    guard isOn, !replacement.isEmpty else { return (false, false) }
    let mark = Array(replacement.utf8)
    // What is left is changed where it is read for the mark, and has it replaced.
    var other = self
    other.replacement = ""
    var redactor = Redactor(other, finders: [SecretFinder([mark])].compactMap(\.self))
    let plain = request.url.removingPercentEncoding ?? request.url
    let isInURL =
      request.url.contains(replacement) || plain.contains(replacement) || redactor.redacted(request.url) != request.url
    guard let body = request.body else { return (isInURL, false) }
    let isInBody =
      body.data.firstRange(of: mark) != nil || redactor.redacted(body, of: request.headers).data != body.data
    return (isInURL, isInBody)
  }
}
