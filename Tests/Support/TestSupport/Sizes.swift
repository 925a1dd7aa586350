import Foundation

/// How much a test does whose size bounds the run: some of it in `swift test`, and all of it in `Scripts/nightly.sh`,
/// which sets `WAYLAY_WHOLE`.
package enum Sizes {
  /// Whether there is time for everything.
  package static let isWhole = ProcessInfo.processInfo.environment["WAYLAY_WHOLE"] != nil

  /// The one size or the other.
  package static func of(_ whole: Int, small: Int) -> Int { isWhole ? whole : small }
}
