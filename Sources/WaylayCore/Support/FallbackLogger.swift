package import Logging

/// What registries, archives and rewriters log to where the app gives them no logger: nothing. Tests put one here, and
/// search all that is said.
package enum FallbackLogger {
  private static let logger = Locked<Logger?>(nil)

  /// The logger, for those that are made from now on.
  package static var current: Logger? {
    get { logger.withLock { $0 } }
    set { logger.withLock { $0 = newValue } }
  }
}
