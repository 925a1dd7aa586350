// MARK: Streams, files, data formats

/// https://developer.apple.com/documentation/foundation/stream
open class Stream: NSObject {
  /// https://developer.apple.com/documentation/foundation/stream/status
  public enum Status: UInt, Sendable { case notOpen, opening, open, reading, writing, atEnd, closed, error }
  public override init() { fatalError() }
  open func open() { fatalError() }
  open func close() { fatalError() }
  open var streamStatus: Status { fatalError() }
  open var streamError: (any Error)? { fatalError() }
  /// macOS 10.10, iOS 8.
  /// https://developer.apple.com/documentation/foundation/stream/getboundstreams(withbuffersize:inputstream:outputstream:)
  open class func getBoundStreams(
    withBufferSize bufferSize: Int, inputStream: UnsafeMutablePointer<InputStream?>?,
    outputStream: UnsafeMutablePointer<OutputStream?>?
  ) { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/inputstream
open class InputStream: Stream {
  public init(data: Data) { fatalError() }
  public init?(url: URL) { fatalError() }
  public convenience init?(fileAtPath path: String) { fatalError() }
  open func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int { fatalError() }
  open var hasBytesAvailable: Bool { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/outputstream
open class OutputStream: Stream {
  public init(toMemory: ()) { fatalError() }
  open func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int { fatalError() }
  open var hasSpaceAvailable: Bool { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/filehandle
open class FileHandle: NSObject {
  /// https://developer.apple.com/documentation/foundation/filehandle/standarderror
  open class var standardError: FileHandle { fatalError() }
  public init(fileDescriptor fd: Int32, closeOnDealloc closeopt: Bool) { fatalError() }
  public convenience init(forReadingFrom url: URL) throws { fatalError() }
  public convenience init(forWritingTo url: URL) throws { fatalError() }
  public convenience init(forUpdating url: URL) throws { fatalError() }
  open var fileDescriptor: Int32 { fatalError() }
}

extension FileHandle {
  /// https://developer.apple.com/documentation/foundation/filehandle/readtoend()
  public func readToEnd() throws -> Data? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/filehandle/read(uptocount:)
  public func read(upToCount count: Int) throws -> Data? { fatalError() }
  public func write<T: DataProtocol>(contentsOf data: T) throws { fatalError() }
  public func offset() throws -> UInt64 { fatalError() }
  @discardableResult public func seekToEnd() throws -> UInt64 { fatalError() }
  public func seek(toOffset offset: UInt64) throws { fatalError() }
  public func truncate(atOffset offset: UInt64) throws { fatalError() }
  public func synchronize() throws { fatalError() }
  public func close() throws { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/urlresourcekey
public struct URLResourceKey: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { fatalError() }
  public static let isExcludedFromBackupKey = URLResourceKey(rawValue: "")
  public static let fileSizeKey = URLResourceKey(rawValue: "")
  public static let isDirectoryKey = URLResourceKey(rawValue: "")
  public static let isRegularFileKey = URLResourceKey(rawValue: "")
}

/// https://developer.apple.com/documentation/foundation/urlresourcevalues
public struct URLResourceValues {
  public init() { fatalError() }
  public var isExcludedFromBackup: Bool? {
    get { fatalError() }
    set { fatalError() }
  }
  public var fileSize: Int? { fatalError() }
  public var isDirectory: Bool? { fatalError() }
  public var isRegularFile: Bool? { fatalError() }
}

extension URL {
  /// https://developer.apple.com/documentation/foundation/url/setresourcevalues(_:)
  public mutating func setResourceValues(_ values: URLResourceValues) throws { fatalError() }
  /// https://developer.apple.com/documentation/foundation/url/resourcevalues(forkeys:)
  public func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/jsonserialization
open class JSONSerialization: NSObject {
  public struct ReadingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { fatalError() }
    public static let fragmentsAllowed = ReadingOptions(rawValue: 4)
  }
  public struct WritingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { fatalError() }
    public static let prettyPrinted = WritingOptions(rawValue: 1)
    public static let sortedKeys = WritingOptions(rawValue: 2)
    public static let fragmentsAllowed = WritingOptions(rawValue: 4)
    public static let withoutEscapingSlashes = WritingOptions(rawValue: 8)
  }
  open class func isValidJSONObject(_ obj: Any) -> Bool { fatalError() }
  open class func data(withJSONObject obj: Any, options opt: WritingOptions = []) throws -> Data { fatalError() }
  open class func jsonObject(with data: Data, options opt: ReadingOptions = []) throws -> Any { fatalError() }
}

/// `Sendable` by its page. https://developer.apple.com/documentation/foundation/nsregularexpression
open class NSRegularExpression: NSObject, @unchecked Sendable {
  public struct Options: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { fatalError() }
    public static let caseInsensitive = Options(rawValue: 1)
    public static let anchorsMatchLines = Options(rawValue: 16)
    public static let dotMatchesLineSeparators = Options(rawValue: 8)
  }
  public struct MatchingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { fatalError() }
    public static let reportProgress = MatchingOptions(rawValue: 1)
    public static let anchored = MatchingOptions(rawValue: 4)
  }
  public struct MatchingFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { fatalError() }
  }
  public init(pattern: String, options: Options = []) throws { fatalError() }
  open var pattern: String { fatalError() }
  open class func escapedPattern(for string: String) -> String { fatalError() }
  open func firstMatch(
    in string: String, options: MatchingOptions = [], range: NSRange
  ) -> NSTextCheckingResult? { fatalError() }
  open func enumerateMatches(
    in string: String, options: MatchingOptions = [], range: NSRange,
    using block: (NSTextCheckingResult?, MatchingFlags, UnsafeMutablePointer<ObjCBool>) -> Void
  ) { fatalError() }
  open func numberOfMatches(in string: String, options: MatchingOptions = [], range: NSRange) -> Int { fatalError() }
  open func matches(in string: String, options: MatchingOptions = [], range: NSRange) -> [NSTextCheckingResult] { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/nstextcheckingresult
open class NSTextCheckingResult: NSObject {
  open var range: NSRange { fatalError() }
  open var numberOfRanges: Int { fatalError() }
  open func range(at idx: Int) -> NSRange { fatalError() }
  open func range(withName: String) -> NSRange { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/bundle
open class Bundle: NSObject {
  open class var main: Bundle { fatalError() }
  open var bundleIdentifier: String? { fatalError() }
  open var bundleURL: URL { fatalError() }
  open var bundlePath: String { fatalError() }
  open var resourceURL: URL? { fatalError() }
  open var resourcePath: String? { fatalError() }
  open func url(forResource name: String?, withExtension ext: String?) -> URL? { fatalError() }
  open func url(forResource name: String?, withExtension ext: String?, subdirectory subpath: String?) -> URL? { fatalError() }
}

/// https://developer.apple.com/documentation/objectivec/objcbool
public struct ObjCBool: ExpressibleByBooleanLiteral, Sendable {
  public init(_ value: Bool) { fatalError() }
  public init(booleanLiteral value: Bool) { fatalError() }
  public var boolValue: Bool { fatalError() }
}

extension FileManager {
  /// https://developer.apple.com/documentation/foundation/filemanager/fileexists(atpath:isdirectory:)
  public func fileExists(atPath path: String, isDirectory: UnsafeMutablePointer<ObjCBool>?) -> Bool { fatalError() }
  /// https://developer.apple.com/documentation/foundation/filemanager/enumerator(atpath:)
  public func enumerator(atPath path: String) -> DirectoryEnumerator? { fatalError() }

  /// https://developer.apple.com/documentation/foundation/filemanager/directoryenumerator
  open class DirectoryEnumerator: NSObject, Sequence, IteratorProtocol {
    open func nextObject() -> Any? { fatalError() }
    public func next() -> Any? { fatalError() }
    open var fileAttributes: [FileAttributeKey: Any]? { fatalError() }
    open func skipDescendants() { fatalError() }
  }
}

extension Data {
  /// https://developer.apple.com/documentation/foundation/data/range(of:options:in:)
  public func range(of dataToFind: Data, options: SearchOptions = [], in range: Range<Index>? = nil) -> Range<Index>? { fatalError() }
}
