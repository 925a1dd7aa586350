public import Foundation
import WaylayHAR

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
