import WaylayCore

/// A list that any thread may add to.
package final class Log<Element: Sendable>: Sendable {
  private let list = Locked<[Element]>([])

  package init() {}

  package func add(_ element: Element) {
    list.withLock { $0.append(element) }
  }

  package var all: [Element] { list.withLock { $0 } }
}
