public import Foundation

/// A walk through the file of an archive: the bytes of each entry, and at the end what stands round them.
struct EntryWalk: ~Copyable {
  /// More than any program writes beside the entries.
  private static let restLimit = 16 << 20

  private let file: URL
  private let handle: FileHandle
  private let entryLimit: Int
  private var scanner = EntryScanner(keepsRest: true)
  private var bytes: ArraySlice<UInt8> = []
  private var count = 0
  private var end: [UInt8] = []
  /// Whether the file ends among its entries.
  private(set) var isCutOff = false

  init(_ file: URL, entryLimit: Int) throws(HARError) {
    self.file = file
    self.entryLimit = entryLimit
    do { handle = try FileHandle(forReadingFrom: file) } catch {
      throw HARError(.unreadable, "\(file.lastPathComponent) cannot be opened.", file: file, underlying: error)
    }
  }

  /// What stands round the entries: an archive without any. The whole file, where it has no array of entries.
  var rest: [UInt8] { scanner.rest + end }

  /// The bytes of the next entry; `nil` after the last one.
  mutating func next() throws(HARError) -> [UInt8]? {
    while true {
      if scanner.place != .after, scanner.scan(&bytes) {
        count += 1
        return scanner.take()
      }
      if scanner.place == .after {
        end += bytes
        bytes = []
      }
      guard scanner.entry.count <= entryLimit else {
        throw HARError(
          .tooLarge, "Entry \(count + 1) has more than \(entryLimit) bytes: raise entryLimit.", file: file)
      }
      guard scanner.rest.count + end.count <= Self.restLimit else {
        throw HARError(
          .notAnArchive,
          "\(file.lastPathComponent) has more than \(Self.restLimit) bytes outside entries: it is not an archive.",
          file: file)
      }
      let piece: Data
      do { piece = try handle.read(upToCount: 256 << 10) ?? Data() } catch {
        throw HARError(.unreadable, "The file cannot be read to its end.", file: file, underlying: error)
      }
      guard !piece.isEmpty else {
        isCutOff = scanner.place == .within
        return nil
      }
      bytes = ArraySlice(piece)
    }
  }
}

extension HAR {
  /// Reads everything in an archive except its entries: its creator and its pages. The file may have any size.
  ///
  /// ```swift
  /// var copy = try HARWriter(target, archive: HAR(withoutEntriesOf: source))
  /// var reader = try HARReader(source)
  /// while let entry = try reader.next() { try copy.append(entry) }
  /// ```
  ///
  /// - Throws: ``HARError`` if the file cannot be read, is not an archive, or ends too early.
  public init(withoutEntriesOf file: URL) throws {
    var walk = try EntryWalk(file, entryLimit: 256 << 20)
    var count = 0
    while try walk.next() != nil { count += 1 }
    guard !walk.isCutOff else {
      throw HARError(
        .notJSON, "The file ends before its entries do, after entry \(count): it was not written to its end.",
        file: file)
    }
    do { try self.init(data: Data(walk.rest)) } catch let error as HARError { throw error.in(file) }
    entries = []
  }
}
