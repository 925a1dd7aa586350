/// Reads the entries of a file one by one: a HAR file of any size needs only the memory of its largest entry. A zip file
/// of Playwright's is read whole.
///
/// ```swift
/// var reader = try HARReader(URL(fileURLWithPath: "day.har"))
/// while let entry = try reader.next() {
///   print(entry.request.url)
/// }
/// ```
///
/// For a HAR file of a few megabytes, ``HAR/init(contentsOf:)`` is simpler, and also gives its creator and its pages.
public struct HARReader: ~Copyable {
  /// The limit for the part outside the entries, beyond the output of any known program.
  private static let restLimit = 16 << 20

  fileprivate let file: URL
  private var handle: FileHandle?
  private let entryLimit: Int
  private var scanner = EntryScanner()
  private var bytes: ArraySlice<UInt8> = []
  private var count = 0
  private var attachments: Attachments
  /// Why entries were left out so far, one line for each.
  public private(set) var unreadEntries: [String] = []
  /// The bytes after the entries, as far as they have been read.
  private var end: [UInt8] = []

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - entryLimit: The maximum number of bytes of one entry in the file: 256 MiB by default. A larger entry is an
  ///     error.
  /// - Throws: ``HARError`` if the file cannot be opened.
  public init(_ file: URL, entryLimit: Int = 256 << 20) throws(HARError) {
    (self.file, self.entryLimit, attachments) = (file, entryLimit, Attachments(in: file))
    do { handle = try FileHandle(forReadingFrom: file) } catch {
      throw HARError(.unreadable, "\(file.lastPathComponent) cannot be opened.", file: file, underlying: error)
    }
  }

  /// Reads an open file from its beginning, again.
  ///
  /// - Parameter file: The name of the file, for errors, and the place of bodies in files beside it.
  package init(_ file: URL, in handle: FileHandle, entryLimit: Int = 256 << 20) throws(HARError) {
    (self.file, self.handle, self.entryLimit, attachments) = (file, handle, entryLimit, Attachments(in: file))
    do { try handle.seek(toOffset: 0) } catch {
      throw HARError(
        .unreadable, "\(file.lastPathComponent) cannot be read from its beginning.", file: file, underlying: error)
    }
  }

  /// Returns the next entry that can be read, in the order of the file; `nil` after the last one.
  ///
  /// - Throws: ``HARError`` if the file cannot be read, is not a HAR file, or ends too early, or if no entry can be
  ///   read. Entries returned before are valid.
  public mutating func next() throws(HARError) -> HAR.Entry? {
    var failure: HARError?
    while let bytes = try nextBytes() {
      do throws(HARError) {
        var entry = try HAR.Entry(bytes, number: count)
        attachments.attach(to: &entry)
        return entry
      } catch {
        failure = failure ?? error
        unreadEntries.append(error.message)
      }
    }
    if let failure, unreadEntries.count == count { throw failure.in(file) }
    guard scanner.hasEntries else {
      throw HARError(
        .notAnArchive, "The file has no array named \"entries\" in an object named \"log\".", file: file)
    }
    return nil
  }

  /// The bytes of the next entry; `nil` after the last one, or without entries.
  private mutating func nextBytes() throws(HARError) -> [UInt8]? {
    while true {
      if scanner.place != .after, scanner.scan(&bytes) {
        count += 1
        return scanner.take()
      }
      guard scanner.entry.count <= entryLimit else {
        throw HARError(
          .tooLarge, "Entry \(count + 1) has more than \(entryLimit) bytes: raise entryLimit.", file: file)
      }
      guard scanner.place != .after else { return nil }
      if try readMore() { continue }
      guard scanner.place != .within else {
        throw HARError(
          .notJSON, "The file ends after entry \(count), before the end of its entries: it is truncated.",
          file: file)
      }
      return nil
    }
  }

  /// The file without its entries; the whole file if it has no array of entries.
  fileprivate consuming func rest() throws(HARError) -> [UInt8] {
    while try nextBytes() != nil {}
    repeat {
      end += bytes
    } while try readMore()
    return scanner.rest + end
  }

  /// Reads the next chunk of the file; `false` at its end.
  private mutating func readMore() throws(HARError) -> Bool {
    guard scanner.rest.count + end.count <= Self.restLimit else {
      throw HARError(
        .notAnArchive,
        "\(file.lastPathComponent) has more than \(Self.restLimit) bytes outside entries: it is not an archive.",
        file: file)
    }
    do {
      bytes = ArraySlice(try handle?.read(upToCount: 64 << 10) ?? Data())
      if scanner.rest.isEmpty, bytes.starts(with: Attachments.zipMark) {
        bytes += try handle?.readToEnd() ?? Data()
        attachments = try Attachments(Data(bytes), in: file)
        (bytes, handle) = (ArraySlice(attachments.archive ?? Data()), nil)
      }
    } catch {
      throw (error as? HARError)?.in(file)
        ?? HARError(.unreadable, "The file cannot be read to its end.", file: file, underlying: error)
    }
    return !bytes.isEmpty
  }
}

/// Splits the bytes of a HAR file into entries, independently of chunk boundaries.
///
/// It parses strings and brackets only; the decoder validates each entry.
struct EntryScanner {
  enum Place {
    /// Before the array of entries.
    case before
    case within
    /// After the array of entries.
    case after
  }

  private(set) var place = Place.before
  /// Whether the file has an array of entries.
  private(set) var hasEntries = false
  /// The bytes of the incomplete entry.
  private(set) var entry: [UInt8] = []
  /// The bytes before the entries and the closing bracket: with the bytes after it, a HAR file without entries.
  private(set) var rest: [UInt8] = []

  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  /// The last string outside the entries, raw, and whether a colon followed it.
  private var name: [UInt8] = []
  private var isNamed = false
  /// Whether the object at depth 2 is the log.
  private var isInLog = false

  /// Consumes bytes up to the end of an entry, of the chunk, or of the entries.
  ///
  /// - Returns: Whether ``entry`` is complete: call ``take()`` next.
  mutating func scan(_ bytes: inout ArraySlice<UInt8>) -> Bool {
    let start = bytes.startIndex
    var index = start
    // Copy ranges of an entry instead of single bytes.
    var copied = start
    defer { bytes = bytes[index...] }
    while index < bytes.endIndex, place != .after {
      let byte = bytes[index]
      index += 1
      if place == .before { rest.append(byte) }
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
          continue
        }
        if place == .before, name.count < 16 { name.append(byte) }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        isInString = true
        if place == .before {
          name.removeAll(keepingCapacity: true)
          isNamed = false
        }
      case UInt8(ascii: ":"): isNamed = true
      case UInt8(ascii: ","):
        isNamed = false
        if place == .within, depth == 3 { copied = index }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        if place == .within, depth == 3 { copied = index - 1 }
        open(byte)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if place == .within, depth == 3 {
          entry += bytes[copied..<index]
          return true
        }
        if place == .within, depth < 3 {
          place = .after
          rest.append(byte)
        }
        if depth < 2 { isInLog = false }
        if depth < 0 { place = .after }
      default: break
      }
    }
    if place == .within, depth > 3 { entry += bytes[copied..<index] }
    return false
  }

  /// Returns the complete entry, and starts the next one.
  mutating func take() -> [UInt8] {
    defer { entry = [] }
    return entry
  }

  private mutating func open(_ bracket: UInt8) {
    depth += 1
    guard place == .before else { return }
    if depth == 2, isNamed, bracket == UInt8(ascii: "{"), name == Array("log".utf8) { isInLog = true }
    if depth == 3, isNamed, isInLog, bracket == UInt8(ascii: "["), name == Array("entries".utf8) {
      place = .within
      hasEntries = true
    }
    isNamed = false
  }
}

extension HAR {
  /// Reads the creator and the pages of a HAR file, without its entries. The file may have any size.
  package init(withoutEntriesOf reader: consuming HARReader) throws {
    let file = reader.file
    let rest = try reader.rest()
    do { try self.init(data: Data(rest)) } catch let error as HARError { throw error.in(file) }
    entries = []
  }
}
