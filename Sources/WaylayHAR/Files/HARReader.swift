public import Foundation

/// The entries of a file, one after the other: an archive of any size is read with the memory of its largest entry.
///
/// ```swift
/// var reader = try HARReader(URL(fileURLWithPath: "day.har"))
/// while let entry = try reader.next() {
///   print(entry.request.url)
/// }
/// ```
///
/// For an archive of a few megabytes ``HAR/init(contentsOf:)`` is simpler, and says more: who has written it, and its
/// pages.
public struct HARReader: ~Copyable {
  private let file: URL
  private let handle: FileHandle
  private let entryLimit: Int
  private var scanner = EntryScanner()
  private var bytes: ArraySlice<UInt8> = []
  private var count = 0

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - entryLimit: How many bytes of the file one entry may have: 256 MiB by default. An entry that is larger is an
  ///     error.
  /// - Throws: ``HARError`` when the file cannot be opened.
  public init(_ file: URL, entryLimit: Int = 256 << 20) throws(HARError) {
    self.file = file
    self.entryLimit = entryLimit
    do { handle = try FileHandle(forReadingFrom: file) } catch {
      throw HARError(.unreadable, "\(file.lastPathComponent) cannot be opened.", file: file, underlying: error)
    }
  }

  /// The next entry, in the order of the file; `nil` after the last one.
  ///
  /// - Throws: ``HARError`` when the file cannot be read, is no archive, or ends too early. What was read until then is
  ///   right.
  public mutating func next() throws(HARError) -> HAR.Entry? {
    while true {
      if scanner.scan(&bytes) {
        count += 1
        let json: JSONValue
        do { json = try JSONValue(Data(scanner.take())) } catch {
          throw HARError(
            .notJSON, "Entry \(count) is no JSON: \(HARError.place(of: error)).", file: file, underlying: error)
        }
        do { return try HAR.Entry(json, number: count) } catch { throw error.in(file) }
      }
      if scanner.hasEntries, scanner.place == .after { return nil }
      guard scanner.entry.count <= entryLimit else {
        throw HARError(
          .tooLarge, "Entry \(count + 1) has more than \(entryLimit) bytes: allow more by entryLimit.", file: file)
      }
      bytes = ArraySlice(try piece())
      guard bytes.isEmpty || scanner.place == .after else { continue }
      guard scanner.place == .within else {
        throw HARError(.notAnArchive, "The file has no array named \"entries\" in an object named \"log\".", file: file)
      }
      throw HARError(
        .notJSON, "The file ends before its entries do, after entry \(count): it was not written to its end.",
        file: file)
    }
  }

  private func piece() throws(HARError) -> Data {
    do { return try handle.read(upToCount: 256 << 10) ?? Data() } catch {
      throw HARError(.unreadable, "The file cannot be read further.", file: file, underlying: error)
    }
  }
}
