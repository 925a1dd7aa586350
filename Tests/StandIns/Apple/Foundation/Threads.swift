// MARK: Threads, run loops, locks

/// https://developer.apple.com/documentation/foundation/thread
open class Thread: NSObject {
  open class var current: Thread { fatalError() }
  open class var isMainThread: Bool { fatalError() }
  /// https://developer.apple.com/documentation/foundation/thread/detachnewthread(_:)
  open class func detachNewThread(_ block: @escaping @Sendable () -> Void) { fatalError() }
  public override init() { fatalError() }
  public convenience init(block: @escaping @Sendable () -> Void) { fatalError() }
  open var name: String? {
    get { fatalError() }
    set { fatalError() }
  }
  open var stackSize: Int {
    get { fatalError() }
    set { fatalError() }
  }
  open func start() { fatalError() }
}

/// "The RunLoop class is generally not thread-safe": not `Sendable`, but for what the pages of its members allow.
/// https://developer.apple.com/documentation/foundation/runloop
open class RunLoop: NSObject {
  /// https://developer.apple.com/documentation/foundation/runloop/mode
  public struct Mode: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { fatalError() }
    public init(_ rawValue: String) { fatalError() }
    public static let `default` = Mode(rawValue: "")
    public static let common = Mode(rawValue: "")
  }

  open class var current: RunLoop { fatalError() }
  open class var main: RunLoop { fatalError() }
  open var currentMode: RunLoop.Mode? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/runloop/getcfrunloop()
  open func getCFRunLoop() -> CFRunLoop { fatalError() }
  /// `- (void)performInModes:(NSArray<NSRunLoopMode> *)modes block:(void (^)(void))block NS_SWIFT_SENDABLE`, macOS 10.12, iOS 10.
  /// https://developer.apple.com/documentation/foundation/runloop/perform(inmodes:block:)
  open func perform(inModes modes: [RunLoop.Mode], block: @escaping @Sendable () -> Void) { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/nslock
open class NSLock: NSObject, @unchecked Sendable {
  public override init() { fatalError() }
  open func lock() { fatalError() }
  open func unlock() { fatalError() }
}

extension NSLock {
  /// https://developer.apple.com/documentation/foundation/nslocking/withlock(_:)
  public func withLock<R>(_ body: () throws -> R) rethrows -> R { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/operationqueue
open class OperationQueue: NSObject, @unchecked Sendable {
  public override init() { fatalError() }
  open var maxConcurrentOperationCount: Int {
    get { fatalError() }
    set { fatalError() }
  }
  open func addOperation(_ block: @escaping @Sendable () -> Void) { fatalError() }
}
