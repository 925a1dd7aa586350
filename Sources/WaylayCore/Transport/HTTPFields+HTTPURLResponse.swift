import Foundation
package import HTTPTypes

extension HTTPFields {
  /// The header fields of a response of the loading system, which has joined those that occur more than once.
  ///
  /// Sorted by name, because their order is lost. `Set-Cookie`, the one field that cannot be joined (RFC 9110, section 5.3), is
  /// taken apart again.
  package init(_ response: HTTPURLResponse) {
    self.init()
    let fields = response.allHeaderFields.compactMap { name, value -> (String, String)? in
      (name as? String).map { ($0, value as? String ?? "\(value)") }
    }
    for (rawName, value) in fields.sorted(by: { $0.0 < $1.0 }) {
      guard let name = HTTPField.Name(rawName) else { continue }
      for part in name == .setCookie ? Self.cookies(in: value) : [value] {
        append(HTTPField(name: name, value: part))
      }
    }
  }

  /// Takes joined `Set-Cookie` values apart: a comma begins a new cookie when a name and `=` follow it, which no date has.
  package static func cookies(in joined: String) -> [String] {
    var parts: [Substring] = []
    var start = joined.startIndex
    var position = joined.startIndex
    while let comma = joined[position...].firstIndex(of: ",") {
      let after = joined.index(after: comma)
      position = after
      let rest = joined[after...].drop { $0 == " " }
      let name = rest.prefix { !"=;, \t\"".contains($0) }
      guard !name.isEmpty, rest[name.endIndex...].first == "=" else { continue }
      parts.append(joined[start..<comma])
      start = rest.startIndex
    }
    parts.append(joined[start...])
    return parts.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }
}
