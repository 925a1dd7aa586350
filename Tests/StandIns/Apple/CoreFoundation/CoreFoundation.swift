// Stand-ins for CoreFoundation, for `Scripts/apple.sh`: type-checked against, never linked. Own work.

/// A class to Swift, and not `Sendable`. https://developer.apple.com/documentation/corefoundation/cfrunloop
public final class CFRunLoop {
  init() { fatalError() }
}

/// https://developer.apple.com/documentation/corefoundation/cfrunloopwakeup(_:)
public func CFRunLoopWakeUp(_ rl: CFRunLoop!) { fatalError() }
