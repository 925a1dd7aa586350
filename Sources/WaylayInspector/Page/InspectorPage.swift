public import Foundation
public import WaylayHAR

/// An HTML page that shows traffic, in one self-contained file that loads nothing.
///
/// ```swift
/// let archive = try HAR(contentsOf: URL(fileURLWithPath: "login.har"))
/// try InspectorPage(title: "Login").html(showing: archive).write(to: URL(fileURLWithPath: "login.html"))
/// ```
///
/// The page has a list with a waterfall, a filter, and all details of each request, in light and dark mode, with mouse
/// and keyboard support. Its URL can set the initial view: `login.html#q=status:4xx&open=12&tab=response&theme=dark`.
///
/// Recorded content is shown only as text: the page never creates elements from text, and its policy (Content Security
/// Policy, level 3) allows only its own script and style, by their hashes.
///
/// The page contains everything in the archive. Redact the archive before you share the page.
public struct InspectorPage: Sendable {
  /// The title.
  public var title: String
  /// Whether the page receives updates from a server.
  package var isLive = false

  /// Makes a page.
  public init(title: String = "Waylay") {
    self.title = title
  }

  /// Returns the page as the bytes of an HTML file.
  ///
  /// - Parameter archive: The traffic. Of the entries' custom fields, the page uses `_id`, `_state` (`open`, `finished`
  ///   or `failed`), `_source`, `_error`, `_phase`, `_attempts`, `_bodySize` and `_truncated`.
  public func html(showing archive: HAR) -> Data {
    html(around: archive.data(isPretty: false))
  }

  /// The page around an encoded archive.
  package func html(around archive: Data) -> Data {
    var page = Data()
    page.reserveCapacity(archive.count + 80_000)
    // One pass from the beginning: inserted text is not searched for placeholders.
    var rest = PageSource.markup[...]
    while let place = rest.range(of: "{{"), let end = rest[place.upperBound...].range(of: "}}") {
      page.append(contentsOf: rest[..<place.lowerBound].utf8)
      switch rest[place.upperBound..<end.lowerBound] {
      case "LIVE": page.append(contentsOf: (isLive ? "true" : "").utf8)
      case "POLICY": page.append(contentsOf: Self.policy(isLive: isLive).utf8)
      case "TITLE": page.append(contentsOf: Self.escaped(title).utf8)
      case "STYLE": page.append(contentsOf: PageSource.style.utf8)
      case "SCRIPT": page.append(contentsOf: PageSource.script.utf8)
      default: Self.append(json: archive, to: &page)
      }
      rest = rest[end.upperBound...]
    }
    page.append(contentsOf: rest.utf8)
    return page
  }

  /// The Content Security Policy: the page's own script and style and, if it is live, connections to its own server.
  package static func policy(isLive: Bool) -> String {
    """
    default-src 'none'; script-src '\(PageSource.scriptHash)'; style-src '\(PageSource.styleHash)'; base-uri 'none'; \
    form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'\(isLive ? "; connect-src 'self'" : "")
    """
  }

  /// Inserts JSON into a script element without `<`: `</script>` would end the element, and `<!--` would change how its
  /// end is found (HTML, "restrictions for contents of script elements"). JSON has `<` in strings only, where an escape
  /// can replace it.
  private static func append(json: Data, to page: inout Data) {
    var rest = json[...]
    while let place = rest.firstIndex(of: UInt8(ascii: "<")) {
      page.append(rest[..<place])
      page.append(contentsOf: #"\u003c"#.utf8)
      rest = rest[(place + 1)...]
    }
    page.append(rest)
  }

  private static func escaped(_ text: String) -> String {
    // By Unicode scalar: with a combining mark, `<` is part of another Character, and still ends the element.
    text.unicodeScalars.reduce(into: "") { escaped, scalar in
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
  }
}

extension Inspector {
  /// Returns all kept exchanges as one self-contained HTML page. See ``InspectorPage``.
  ///
  /// ```swift
  /// try inspector.report(title: "Sign in").write(to: URL(fileURLWithPath: "sign-in.html"))
  /// ```
  ///
  /// The page contains the kept bodies, and no secrets that ``redaction`` knows.
  ///
  /// - Parameter title: The title of the page.
  public func report(title: String = "Waylay") -> Data {
    InspectorPage(title: title).html(showing: HAR(entries: exchanges.map(\.entry)))
  }
}
