public import Foundation

/// Reads the entries of a file one by one: an archive of any size needs only the memory of its largest entry.
///
/// ```swift
/// var reader = try HARReader(URL(fileURLWithPath: "day.har"))
/// while let entry = try reader.next() {
///   print(entry.request.url)
/// }
/// ```
///
/// For an archive of a few megabytes, ``HAR/init(contentsOf:)`` is simpler, and also gives its creator and its pages.
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
  ///   - entryLimit: The maximum number of bytes of one entry in the file: 256 MiB by default. A larger entry is an
  ///     error.
  /// - Throws: ``HARError`` if the file cannot be opened.
  public init(_ file: URL, entryLimit: Int = 256 << 20) throws(HARError) {
    self.file = file
    self.entryLimit = entryLimit
    do { handle = try FileHandle(forReadingFrom: file) } catch {
      throw HARError(.unreadable, "\(file.lastPathComponent) cannot be opened.", file: file, underlying: error)
    }
  }

  /// Returns the next entry, in the order of the file; `nil` after the last one.
  ///
  /// - Throws: ``HARError`` if the file cannot be read, is not an archive, or ends too early. Entries returned before
  ///   are valid.
  public mutating func next() throws(HARError) -> HAR.Entry? {
    while true {
      if scanner.scan(&bytes) {
        count += 1
        let json: JSONValue
        do { json = try JSONValue(Data(scanner.take())) } catch {
          throw HARError(
            .notJSON, "Entry \(count) is not JSON: \(HARError.place(of: error)).", file: file, underlying: error)
        }
        do { return try HAR.Entry(json, number: count) } catch { throw error.in(file) }
      }
      if scanner.hasEntries, scanner.place == .after { return nil }
      guard scanner.entry.count <= entryLimit else {
        throw HARError(
          .tooLarge, "Entry \(count + 1) has more than \(entryLimit) bytes: raise entryLimit.", file: file)
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
      throw HARError(.unreadable, "The file cannot be read to its end.", file: file, underlying: error)
    }
  }
}
