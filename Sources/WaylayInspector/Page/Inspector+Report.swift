public import Foundation
import WaylayHAR

extension Inspector {
  /// All that is kept, as one page for a browser: a file that needs nothing beside it. See ``InspectorPage``.
  ///
  /// ```swift
  /// try inspector.report(title: "Sign in").write(to: URL(fileURLWithPath: "sign-in.html"))
  /// ```
  ///
  /// It holds the bodies that are kept, and no secrets that ``redaction`` knows.
  ///
  /// - Parameter title: What the page is called.
  public func report(title: String = "Waylay") -> Data {
    InspectorPage(title: title).html(showing: HAR(entries: exchanges.map(\.entry)))
  }
}
