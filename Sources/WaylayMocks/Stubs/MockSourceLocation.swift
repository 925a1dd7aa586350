import IssueReporting

/// A place in a source file, as `#fileID`, `#filePath`, `#line` and `#column` give it.
public struct MockSourceLocation: Sendable {
  /// Module and file.
  public let fileID: StaticString
  /// The file's path.
  public let filePath: StaticString
  /// The line, from 1.
  public let line: UInt
  /// The column, from 1.
  public let column: UInt
  /// The test's name, shown instead of a location for a trait without `#fileID` and `#line`.
  package var test: String?

  /// Makes a location.
  public init(fileID: StaticString, filePath: StaticString, line: UInt, column: UInt) {
    self.fileID = fileID
    self.filePath = filePath
    self.line = line
    self.column = column
  }

  /// Reports a failure of the running test here, or a warning.
  package func report(_ message: String, isWarning: Bool = false) {
    reportIssue(
      message, severity: isWarning ? .warning : .error, fileID: fileID, filePath: filePath, line: line, column: column)
  }
}

extension MockSourceLocation: Hashable {
  /// Whether both locations are the same.
  public static func == (one: MockSourceLocation, other: MockSourceLocation) -> Bool {
    one.line == other.line && one.column == other.column && one.fileID.description == other.fileID.description
      && one.filePath.description == other.filePath.description && one.test == other.test
  }

  /// Hashes file and line.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(fileID.description)
    hasher.combine(line)
  }
}

extension MockSourceLocation: CustomStringConvertible {
  /// File and line.
  public var description: String { test ?? "\(fileID):\(line)" }
}
