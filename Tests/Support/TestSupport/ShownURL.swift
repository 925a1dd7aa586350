import Testing

/// A URL with planted secrets, and its redacted form, which alone names the test case.
package struct ShownURL: Sendable, CustomTestStringConvertible {
  package let url: String
  package let shown: String
  package var testDescription: String { shown }

  package init(_ url: String, _ shown: String) { (self.url, self.shown) = (url, shown) }
}
