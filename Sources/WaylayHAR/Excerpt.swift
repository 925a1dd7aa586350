/// Excerpts of values, cut to the size of a report.
package enum Excerpt {
  package static func of(_ text: String, limit: Int = 200) -> String {
    text.count > limit ? text.prefix(limit) + "… (\(text.count) characters)" : text
  }
}
