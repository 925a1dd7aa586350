import WaylayMocks

/// The source text of an attribute, `@Test(…)` or `@Suite(…)`, to find the lines of the stubs in it.
///
/// The compiler gives all arguments of an attached macro the line of the declaration, so `#line` is the same for all
/// stubs of a trait. If the source file is available, as on the machine that built the tests, the stubs are looked up
/// in it. Otherwise, or if the lookup is ambiguous, they keep the line of the declaration.
struct AttributeSource {
  private struct Occurrence {
    var line: Int
    var column: Int
    /// The code from this occurrence to the next one.
    var code: String
  }

  private let occurrences: [Occurrence]
  private let trait: MockSourceLocation

  init(of trait: MockSourceLocation) {
    self.init(of: trait, in: SourceFiles.lines(of: trait.filePath.description))
  }

  /// - Parameter lines: The lines of the source file.
  init(of trait: MockSourceLocation, in lines: [String]) {
    self.trait = trait
    let last = Int(clamping: trait.line)
    // A trait made outside an attribute, and its stubs, have correct lines already.
    guard last > 0, last <= lines.count, !lines[last - 1].contains(".mocked"),
      let first = (0..<last).last(where: { lines[$0].contains("@Test") || lines[$0].contains("@Suite") }),
      last - first < 500
    else {
      occurrences = []
      return
    }
    var occurrences: [Occurrence] = []
    for number in first..<last {
      var rest = Self.code(lines[number])[...]
      // Continuation lines belong to the last stub.
      if let last = occurrences.indices.last {
        occurrences[last].code += rest[..<(rest.range(of: "Stub(")?.lowerBound ?? rest.endIndex)].drop { $0 == " " }
      }
      while let found = rest.range(of: "Stub(") {
        let end = rest[found.upperBound...].range(of: "Stub(")?.lowerBound ?? rest.endIndex
        let column = lines[number].utf8.distance(from: lines[number].startIndex, to: found.lowerBound) + 1
        occurrences.append(Occurrence(line: number + 1, column: column, code: String(rest[found.lowerBound..<end])))
        rest = rest[end...]
      }
    }
    self.occurrences = occurrences
  }

  /// The stubs of the trait, each with its own line if it can be determined.
  func locate(_ stubs: [Stub]) -> [Stub] {
    guard !occurrences.isEmpty else { return stubs }
    let written = stubs.filter { isInAttribute($0) }.count
    var position = 0
    return stubs.map { stub in
      guard isInAttribute(stub) else { return stub }
      defer { position += 1 }
      let sameURL = occurrences.filter { $0.code.contains("\"\(stub.written.url)\"") }
      let sameMethod = sameURL.filter { occurrence in
        stub.written.method.map { occurrence.code.contains("Stub(.\($0.lowercased())") } ?? true
      }
      guard
        let found = sameMethod.count == 1
          ? sameMethod[0] : written == occurrences.count ? occurrences[position] : nil
      else { return stub }
      return stub.relocated(
        to: MockSourceLocation(
          fileID: stub.location.fileID, filePath: stub.location.filePath, line: UInt(found.line),
          column: UInt(found.column)))
    }
  }

  /// Whether the stub is written in the attribute: a stub made by a function elsewhere has another line.
  private func isInAttribute(_ stub: Stub) -> Bool {
    stub.location.line == trait.line && stub.location.fileID.description == trait.fileID.description
  }

  /// A line without its trailing comment.
  private static func code(_ line: String) -> Substring {
    var isInString = false
    var previous: Character = " "
    for index in line.indices {
      let character = line[index]
      if character == "\"", previous != "\\" { isInString.toggle() }
      if character == "/", previous == "/", !isInString { return line[..<line.index(before: index)] }
      previous = character
    }
    return line[...]
  }
}

/// A cache of source files.
private enum SourceFiles {
  private static let files = Locked<[String: [String]]>([:])

  /// The lines of a file; empty if it cannot be read.
  static func lines(of path: String) -> [String] {
    if let lines = files.withLock({ $0[path] }) { return lines }
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    files.withLock { $0[path] = lines }
    return lines
  }
}
