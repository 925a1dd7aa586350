// Stand-ins for Dispatch, for `Scripts/apple.sh`: type-checked against, never linked. Own work.

/// https://developer.apple.com/documentation/dispatch/dispatchqos
public struct DispatchQoS: Sendable {
  public enum QoSClass: Sendable { case background, utility, `default`, userInitiated, userInteractive, unspecified }
  public static let background = DispatchQoS()
  public static let utility = DispatchQoS()
  public static let `default` = DispatchQoS()
  public static let userInitiated = DispatchQoS()
  public static let unspecified = DispatchQoS()
}

/// https://developer.apple.com/documentation/dispatch/dispatchtime
public struct DispatchTime: Comparable, Sendable {
  public let rawValue: UInt64
  public init(uptimeNanoseconds: UInt64) { fatalError() }
  public var uptimeNanoseconds: UInt64 { fatalError() }
  public static func now() -> DispatchTime { fatalError() }
  public static let distantFuture = DispatchTime(uptimeNanoseconds: 0)
  public static func < (a: DispatchTime, b: DispatchTime) -> Bool { fatalError() }
}

/// https://developer.apple.com/documentation/dispatch/dispatchtimeinterval
public enum DispatchTimeInterval: Sendable {
  case seconds(Int), milliseconds(Int), microseconds(Int), nanoseconds(Int), never
}

public func + (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime { fatalError() }
public func + (time: DispatchTime, seconds: Double) -> DispatchTime { fatalError() }

/// https://developer.apple.com/documentation/dispatch/dispatchworkitemflags
public struct DispatchWorkItemFlags: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { fatalError() }
  public static let barrier = DispatchWorkItemFlags(rawValue: 2)
}

/// https://developer.apple.com/documentation/dispatch/dispatchobject
open class DispatchObject {}

extension DispatchObject {
  /// https://developer.apple.com/documentation/dispatch/dispatchobject/1452801-suspend
  public func suspend() { fatalError() }
  /// https://developer.apple.com/documentation/dispatch/dispatchobject/1452929-resume
  public func resume() { fatalError() }
}

/// https://developer.apple.com/documentation/dispatch/dispatchgroup
open class DispatchGroup: DispatchObject, @unchecked Sendable {
  public override init() { fatalError() }
  public func enter() { fatalError() }
  public func leave() { fatalError() }
  @available(*, noasync) public func wait() { fatalError() }
  public func notify(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], queue: DispatchQueue,
    execute work: @escaping @Sendable @convention(block) () -> Void
  ) { fatalError() }
}

/// https://developer.apple.com/documentation/dispatch/dispatchqueue
open class DispatchQueue: DispatchObject, @unchecked Sendable {
  public struct Attributes: OptionSet, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { fatalError() }
    public static let concurrent = Attributes(rawValue: 2)
    public static let initiallyInactive = Attributes(rawValue: 4)
  }

  public enum AutoreleaseFrequency: Sendable { case inherit, workItem, never }

  public convenience init(
    label: String, qos: DispatchQoS = .unspecified, attributes: Attributes = [], autoreleaseFrequency: AutoreleaseFrequency = .inherit,
    target: DispatchQueue? = nil
  ) { fatalError() }

  override init() { fatalError() }

  public class var main: DispatchQueue { fatalError() }
  public class func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { fatalError() }
  public class func concurrentPerform(iterations: Int, execute work: (Int) -> Void) {}

  public func async(
    group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    execute work: @escaping @Sendable @convention(block) () -> Void
  ) { fatalError() }
  public func asyncAfter(
    deadline: DispatchTime, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    execute work: @escaping @Sendable @convention(block) () -> Void
  ) { fatalError() }
  public func sync<T>(execute work: () throws -> T) rethrows -> T { fatalError() }
  public func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? { fatalError() }
  public func setSpecific<T>(key: DispatchSpecificKey<T>, value: T?) {}
}

public final class DispatchSpecificKey<T>: @unchecked Sendable {
  public init() {}
}

/// https://developer.apple.com/documentation/dispatch/dispatchdata
public struct DispatchData: RandomAccessCollection, Sendable {
  public static let empty = DispatchData()
  public var startIndex: Int { fatalError() }
  public var endIndex: Int { fatalError() }
  public subscript(position: Int) -> UInt8 { fatalError() }
}

/// https://developer.apple.com/documentation/dispatch/dispatchsemaphore
open class DispatchSemaphore: DispatchObject, @unchecked Sendable {
  public init(value: Int) { fatalError() }
  @discardableResult open func signal() -> Int { fatalError() }
  open func wait() { fatalError() }
}

/// https://developer.apple.com/documentation/dispatch/dispatchworkitem
public class DispatchWorkItem {
  public init(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], block: @escaping @convention(block) () -> Void) { fatalError() }
  public func cancel() { fatalError() }
}

extension DispatchQueue {
  public func asyncAfter(deadline: DispatchTime, execute: DispatchWorkItem) { fatalError() }
  public func async(execute workItem: DispatchWorkItem) { fatalError() }
}

/// https://developer.apple.com/documentation/dispatch/dispatchtimeoutresult
@frozen public enum DispatchTimeoutResult: Sendable { case success, timedOut }

extension DispatchSemaphore {
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { fatalError() }
}
