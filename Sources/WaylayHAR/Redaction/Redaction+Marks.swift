import Foundation

/// Where something was taken out before: where the replacement stands, also within a coding.
extension Redaction {
  /// Whether something was taken out of a text, such as a URL.
  package func hasTakenOut(of text: String) -> Bool {
    guard isOn, !replacement.isEmpty else { return false }
    var remover = markRemover
    return text.contains(replacement) || text.removingPercentEncoding?.contains(replacement) ?? false
      || remover.redacted(text) != text
  }

  /// Whether something was taken out of a body.
  package func hasTakenOut(of body: HAR.Body, _ fields: [HAR.Field]) -> Bool {
    guard isOn, !replacement.isEmpty else { return false }
    var remover = markRemover
    return body.data.firstRange(of: Data(replacement.utf8)) != nil
      || remover.redacted(body, of: fields).data != body.data
  }

  /// Changes what holds the replacement, wherever a redaction reads.
  private var markRemover: Redactor {
    var other = self
    other.replacement = ""
    return Redactor(other, finders: [SecretFinder([Array(replacement.utf8)])].compactMap(\.self))
  }
}
