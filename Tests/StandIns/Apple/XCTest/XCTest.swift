// Stand-ins for what the tests use of XCTest. Each from the page that is named.
@_exported public import Foundation

/// https://developer.apple.com/documentation/xctest/xctestcase
open class XCTestCase: NSObject {
  public override init() { fatalError() }
  open func invokeTest() { fatalError() }
  open func setUp() async throws { fatalError() }
  open func setUp() { fatalError() }
  open func setUpWithError() throws { fatalError() }
  open func tearDown() async throws { fatalError() }
  open func tearDown() { fatalError() }
  public func expectation(description: String) -> XCTestExpectation { fatalError() }
  open func addTeardownBlock(_ block: @escaping @Sendable () async throws -> Void) { fatalError() }
  public func wait(for expectations: [XCTestExpectation], timeout seconds: TimeInterval) { fatalError() }
}

/// https://developer.apple.com/documentation/xctest/xctestexpectation
open class XCTestExpectation: NSObject, @unchecked Sendable {
  public override init() { fatalError() }
  open func fulfill() { fatalError() }
}

/// https://developer.apple.com/documentation/xctest/xctassertequal(_:_:_:file:line:)
public func XCTAssertEqual<T: Equatable>(
  _ expression1: @autoclosure () throws -> T, _ expression2: @autoclosure () throws -> T, _ message: @autoclosure () -> String = "",
  file: StaticString = #filePath, line: UInt = #line
) { fatalError() }
public func XCTAssertTrue(
  _ expression: @autoclosure () throws -> Bool, _ message: @autoclosure () -> String = "", file: StaticString = #filePath, line: UInt = #line
) { fatalError() }
public func XCTAssertNil(
  _ expression: @autoclosure () throws -> Any?, _ message: @autoclosure () -> String = "", file: StaticString = #filePath, line: UInt = #line
) { fatalError() }
/// https://developer.apple.com/documentation/xctest/xctunwrap(_:_:file:line:)
public func XCTUnwrap<T>(
  _ expression: @autoclosure () throws -> T?, _ message: @autoclosure () -> String = "", file: StaticString = #filePath, line: UInt = #line
) throws -> T { fatalError() }
/// https://developer.apple.com/documentation/xctest/xctfail(_:file:line:)
public func XCTFail(_ message: String = "", file: StaticString = #filePath, line: UInt = #line) { fatalError() }
