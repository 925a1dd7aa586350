// MARK: The root of classes, and what Foundation adds to strings and errors

/// https://developer.apple.com/documentation/objectivec/nsobjectprotocol
public protocol NSObjectProtocol: AnyObject {
  func isEqual(_ object: Any?) -> Bool
  var hash: Int { get }
}

/// Not `Sendable`; a `Sendable` class may inherit from it. https://developer.apple.com/documentation/objectivec/nsobject-swift.class
open class NSObject: NSObjectProtocol, Equatable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  public init() { fatalError() }
  open func isEqual(_ object: Any?) -> Bool { fatalError() }
  open var hash: Int { fatalError() }
  open func copy() -> Any { fatalError() }
  open func mutableCopy() -> Any { fatalError() }
  open var description: String { fatalError() }
  open var debugDescription: String { fatalError() }
  public static func == (a: NSObject, b: NSObject) -> Bool { fatalError() }
  public func hash(into hasher: inout Hasher) { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/nscopying
public protocol NSCopying {
  func copy(with zone: NSZone?) -> Any
}

/// https://developer.apple.com/documentation/foundation/nszone
public struct NSZone {}

/// https://developer.apple.com/documentation/foundation/nsnumber
open class NSData: NSObject, @unchecked Sendable {
  public convenience init(
    bytesNoCopy bytes: UnsafeMutableRawPointer, length: Int, deallocator: ((UnsafeMutableRawPointer, Int) -> Void)? = nil
  ) { fatalError() }
}

open class NSNumber: NSObject, @unchecked Sendable {
  public init(value: Bool) { fatalError() }
  public init(value: Int) { fatalError() }
  public init(value: Double) { fatalError() }
  open var boolValue: Bool { fatalError() }
  /// https://developer.apple.com/documentation/foundation/nsnumber/objctype
  open var objCType: UnsafePointer<CChar> { fatalError() }
  open var intValue: Int { fatalError() }
  open var int64Value: Int64 { fatalError() }
  open var doubleValue: Double { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/nsrange
public struct NSRange: Equatable, Sendable {
  public var location: Int
  public var length: Int
  public init(location: Int, length: Int) { fatalError() }
  /// https://developer.apple.com/documentation/foundation/nsrange-c.struct/init(_:in:)
  public init<R: RangeExpression, S: StringProtocol>(_ region: R, in target: S) where R.Bound == S.Index { fatalError() }
}

extension Range where Bound == String.Index {
  /// https://developer.apple.com/documentation/swift/range/init(_:in:)-2lfx0
  public init?(_ range: NSRange, in string: __shared String) { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/nserror
open class NSError: NSObject, Error, @unchecked Sendable {
  public init(domain: String, code: Int, userInfo dict: [String: Any]? = nil) { fatalError() }
  open var domain: String { fatalError() }
  open var code: Int { fatalError() }
  open var userInfo: [String: Any] { fatalError() }
  open var localizedDescription: String { fatalError() }
}

extension Error {
  /// https://developer.apple.com/documentation/swift/error/localizeddescription
  public var localizedDescription: String { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/nsunderlyingerrorkey
public let NSUnderlyingErrorKey = ""
/// https://developer.apple.com/documentation/foundation/nslocalizeddescriptionkey
public let NSLocalizedDescriptionKey = ""
/// https://developer.apple.com/documentation/foundation/nsdebugdescriptionerrorkey
public let NSDebugDescriptionErrorKey = ""
/// https://developer.apple.com/documentation/foundation/nsurlerrorfailingurlerrorkey
public let NSURLErrorFailingURLErrorKey = ""
/// https://developer.apple.com/documentation/foundation/nsurlerrorfailingurlstringerrorkey
public let NSURLErrorFailingURLStringErrorKey = ""
/// https://developer.apple.com/documentation/foundation/nsurlerrordomain
public let NSURLErrorDomain = ""
/// https://developer.apple.com/documentation/foundation/nscocoaerrordomain
public let NSCocoaErrorDomain = ""
/// https://developer.apple.com/documentation/foundation/nsposixerrordomain
public let NSPOSIXErrorDomain = ""

/// https://developer.apple.com/documentation/foundation/characterset
public struct CharacterSet: Equatable, Hashable, SetAlgebra, Sendable {
  public typealias Element = Unicode.Scalar
  public init() { fatalError() }
  public init(charactersIn string: __shared String) { fatalError() }
  public init(charactersIn range: ClosedRange<Unicode.Scalar>) { fatalError() }
  public static var whitespaces: CharacterSet { fatalError() }
  public static var whitespacesAndNewlines: CharacterSet { fatalError() }
  public static var newlines: CharacterSet { fatalError() }
  public static var controlCharacters: CharacterSet { fatalError() }
  public static var alphanumerics: CharacterSet { fatalError() }
  public static var decimalDigits: CharacterSet { fatalError() }
  public static var letters: CharacterSet { fatalError() }
  public static var punctuationCharacters: CharacterSet { fatalError() }
  public static var urlPathAllowed: CharacterSet { fatalError() }
  public static var urlQueryAllowed: CharacterSet { fatalError() }
  public static var urlHostAllowed: CharacterSet { fatalError() }
  public static var urlFragmentAllowed: CharacterSet { fatalError() }
  public static var urlUserAllowed: CharacterSet { fatalError() }
  public static var urlPasswordAllowed: CharacterSet { fatalError() }
  public var inverted: CharacterSet { fatalError() }
  public func contains(_ member: Unicode.Scalar) -> Bool { fatalError() }
  @discardableResult
  public mutating func insert(_ character: Unicode.Scalar) -> (inserted: Bool, memberAfterInsert: Unicode.Scalar) { fatalError() }
  public mutating func insert(charactersIn string: String) { fatalError() }
  public mutating func remove(charactersIn string: String) { fatalError() }
  @discardableResult public mutating func remove(_ character: Unicode.Scalar) -> Unicode.Scalar? { fatalError() }
  @discardableResult public mutating func update(with character: Unicode.Scalar) -> Unicode.Scalar? { fatalError() }
  public func union(_ other: CharacterSet) -> CharacterSet { fatalError() }
  public func intersection(_ other: CharacterSet) -> CharacterSet { fatalError() }
  public func subtracting(_ other: CharacterSet) -> CharacterSet { fatalError() }
  public func symmetricDifference(_ other: CharacterSet) -> CharacterSet { fatalError() }
  public mutating func formUnion(_ other: CharacterSet) { fatalError() }
  public mutating func formIntersection(_ other: CharacterSet) { fatalError() }
  public mutating func formSymmetricDifference(_ other: CharacterSet) { fatalError() }
}

extension StringProtocol {
  /// https://developer.apple.com/documentation/swift/stringprotocol/trimmingcharacters(in:)
  public func trimmingCharacters(in set: CharacterSet) -> String { fatalError() }
  /// https://developer.apple.com/documentation/swift/stringprotocol/addingpercentencoding(withallowedcharacters:)
  public func addingPercentEncoding(withAllowedCharacters allowedCharacters: CharacterSet) -> String? { fatalError() }
  /// https://developer.apple.com/documentation/swift/stringprotocol/removingpercentencoding
  public var removingPercentEncoding: String? { fatalError() }
  /// https://developer.apple.com/documentation/swift/stringprotocol/replacingoccurrences(of:with:options:range:)
  public func replacingOccurrences<Target: StringProtocol, Replacement: StringProtocol>(
    of target: Target, with replacement: Replacement, options: String.CompareOptions = [], range searchRange: Range<Index>? = nil
  ) -> String { fatalError() }
  /// https://developer.apple.com/documentation/swift/stringprotocol/range(of:options:range:locale:)
  public func range<T: StringProtocol>(
    of aString: T, options mask: String.CompareOptions = [], range searchRange: Range<Index>? = nil, locale: Locale? = nil
  ) -> Range<Index>? { fatalError() }
  /// https://developer.apple.com/documentation/swift/stringprotocol/components(separatedby:)-4orwh
  public func components<T: StringProtocol>(separatedBy separator: T) -> [String] { fatalError() }
  public func components(separatedBy separator: CharacterSet) -> [String] { fatalError() }
  /// https://developer.apple.com/documentation/swift/stringprotocol/padding(tolength:withpad:startingat:)
  public func padding<T: StringProtocol>(toLength newLength: Int, withPad padString: T, startingAt padIndex: Int) -> String { fatalError() }
  /// https://developer.apple.com/documentation/swift/stringprotocol/precomposedstringwithcompatibilitymapping
  public var precomposedStringWithCompatibilityMapping: String { fatalError() }
  /// https://developer.apple.com/documentation/swift/stringprotocol/precomposedstringwithcanonicalmapping
  public var precomposedStringWithCanonicalMapping: String { fatalError() }
  /// https://developer.apple.com/documentation/swift/stringprotocol/caseinsensitivecompare(_:)
  public func caseInsensitiveCompare<T: StringProtocol>(_ aString: T) -> ComparisonResult { fatalError() }
}

extension String {
  /// https://developer.apple.com/documentation/swift/string/init(format:_:)
  public init(format: __shared String, _ arguments: any CVarArg...) { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/posixerror
public struct POSIXError: Error, Hashable, Sendable {
  public typealias Code = POSIXErrorCode
  public init(_ code: Code, userInfo: [String: Any] = [:]) { fatalError() }
  public var code: Code { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/nsstring
open class NSString: NSObject, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/nsstring/deletinglastpathcomponent
  open var deletingLastPathComponent: String { fatalError() }
  open var lastPathComponent: String { fatalError() }
  open var pathExtension: String { fatalError() }
  open func appendingPathComponent(_ str: String) -> String { fatalError() }
}

extension String: @retroactive _ObjectiveCBridgeable {
  public func _bridgeToObjectiveC() -> NSString { fatalError() }
  public static func _forceBridgeFromObjectiveC(_ source: NSString, result: inout String?) { fatalError() }
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSString, result: inout String?) -> Bool { fatalError() }
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSString?) -> String { fatalError() }
}

/// What `error as NSError` and back become.
public func _convertErrorToNSError(_ error: any Error) -> NSError { fatalError() }
public func _convertNSErrorToError(_ error: NSError?) -> any Error { fatalError() }
