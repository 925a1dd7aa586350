// What the program, the examples and the tests use of Foundation beside the libraries: of processes, which macOS alone has, and files.

#if os(macOS)
  /// https://developer.apple.com/documentation/foundation/process
  open class Process: NSObject, @unchecked Sendable {
    public override init() { fatalError() }
    open var executableURL: URL? {
      get { fatalError() }
      set { fatalError() }
    }
    open var arguments: [String]? {
      get { fatalError() }
      set { fatalError() }
    }
    open var environment: [String: String]? {
      get { fatalError() }
      set { fatalError() }
    }
    open var currentDirectoryURL: URL? {
      get { fatalError() }
      set { fatalError() }
    }
    open var standardInput: Any? {
      get { fatalError() }
      set { fatalError() }
    }
    open var standardOutput: Any? {
      get { fatalError() }
      set { fatalError() }
    }
    open var standardError: Any? {
      get { fatalError() }
      set { fatalError() }
    }
    open var terminationHandler: (@Sendable (Process) -> Void)? {
      get { fatalError() }
      set { fatalError() }
    }
    public enum TerminationReason: Int, Sendable { case exit, uncaughtSignal }
    open var terminationReason: TerminationReason { fatalError() }
    open var terminationStatus: Int32 { fatalError() }
    open var processIdentifier: Int32 { fatalError() }
    open var isRunning: Bool { fatalError() }
    public func run() throws { fatalError() }
    open func interrupt() { fatalError() }
    open func terminate() { fatalError() }
    open func waitUntilExit() { fatalError() }
  }
#endif

/// https://developer.apple.com/documentation/foundation/pipe
open class Pipe: NSObject, @unchecked Sendable {
  public override init() { fatalError() }
  open var fileHandleForReading: FileHandle { fatalError() }
  open var fileHandleForWriting: FileHandle { fatalError() }
}

extension FileHandle {
  public class var standardInput: FileHandle { fatalError() }
  public class var standardOutput: FileHandle { fatalError() }
  public class var nullDevice: FileHandle { fatalError() }
  /// https://developer.apple.com/documentation/foundation/filehandle/write(_:)
  public func write(_ data: Data) { fatalError() }
  public func readDataToEndOfFile() -> Data { fatalError() }
  public var availableData: Data { fatalError() }
  public func closeFile() { fatalError() }
  public var readabilityHandler: (@Sendable (FileHandle) -> Void)? {
    get { fatalError() }
    set { fatalError() }
  }
}

/// https://developer.apple.com/documentation/foundation/iso8601dateformatter
open class ISO8601DateFormatter: NSObject, @unchecked Sendable {
  public struct Options: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { fatalError() }
    public static let withInternetDateTime = Options(rawValue: 0)
    public static let withFractionalSeconds = Options(rawValue: 0)
  }
  public override init() { fatalError() }
  open var formatOptions: Options {
    get { fatalError() }
    set { fatalError() }
  }
  open func date(from string: String) -> Date? { fatalError() }
  open func string(from date: Date) -> String { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/nsfilepatherrorkey
public let NSFilePathErrorKey = ""

extension FileManager {
  /// https://developer.apple.com/documentation/foundation/filemanager/enumerator(at:includingpropertiesforkeys:options:errorhandler:)
  public func enumerator(
    at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?, options mask: FileManager.DirectoryEnumerationOptions = [],
    errorHandler handler: ((URL, any Error) -> Bool)? = nil
  ) -> DirectoryEnumerator? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/filemanager/contentsofdirectory(at:includingpropertiesforkeys:options:)
  public func contentsOfDirectory(
    at url: URL, includingPropertiesForKeys keys: [URLResourceKey]?, options mask: DirectoryEnumerationOptions = []
  ) throws -> [URL] { fatalError() }
}

extension FileManager.DirectoryEnumerator {
  public var allObjects: [Any] { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/dateformatter
open class DateFormatter: NSObject, @unchecked Sendable {
  public override init() { fatalError() }
  open var locale: Locale! {
    get { fatalError() }
    set { fatalError() }
  }
  open var timeZone: TimeZone! {
    get { fatalError() }
    set { fatalError() }
  }
  open var dateFormat: String! {
    get { fatalError() }
    set { fatalError() }
  }
  open func string(from date: Date) -> String { fatalError() }
  open func date(from string: String) -> Date? { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/progress
open class Progress: NSObject, @unchecked Sendable {
  public init(totalUnitCount unitCount: Int64) { fatalError() }
  open func addChild(_ child: Progress, withPendingUnitCount inUnitCount: Int64) { fatalError() }
  open var totalUnitCount: Int64 { fatalError() }
  open var completedUnitCount: Int64 { fatalError() }
  open var fractionCompleted: Double { fatalError() }
  open var isFinished: Bool { fatalError() }
}

extension URLSessionTask {
  public var progress: Progress { fatalError() }
}

extension OperationQueue {
  public class var current: OperationQueue? { fatalError() }
  public func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) { fatalError() }
}

/// It is bridged to NSString there, which is one.
extension String: @retroactive CVarArg {
  public var _cVarArgEncoding: [Int] { fatalError() }
}

extension ProcessInfo {
  /// https://developer.apple.com/documentation/foundation/processinfo/performexpiringactivity(withreason:using:)
  @available(macOS, unavailable)
  public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {
    fatalError()
  }
}
