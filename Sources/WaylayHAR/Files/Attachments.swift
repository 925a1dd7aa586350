/// The files that a HAR file names by `_file` instead of a body: beside it, or in one zip file with it.
///
/// Only names as Playwright makes them are followed: a SHA-1 digest in hexadecimal digits and an extension. A HAR file
/// comes from anywhere, and the file that it names would be shown or written as a body: `.env`, for example.
struct Attachments {
  /// The beginning of a zip file.
  static let zipMark: [UInt8] = [0x50, 0x4B, 3, 4]
  /// The maximum number of bytes of all files.
  private static let limit = 1 << 30

  private let folder: URL
  private var zip = Data()
  /// The files in the zip file: where their bytes are, compressed or not.
  private var members: [String: (place: Range<Int>, isCompressed: Bool)] = [:]
  private var rest = Self.limit
  /// The HAR file in the zip file.
  private(set) var archive: Data?

  init(in file: URL) {
    folder = file.deletingLastPathComponent().resolvingSymlinksInPath()
  }

  /// - Parameter data: The content of the file.
  init(_ data: Data, in file: URL) throws(HARError) {
    self.init(in: file)
    guard data.starts(with: Self.zipMark) else { return }
    zip = data
    // The directory's end is followed by a comment of at most 64 KiB (APPNOTE 4.3.16).
    let tail = max(0, data.count - 65_557)..<data.count
    guard let end = data.lastRange(of: Data([0x50, 0x4B, 5, 6]), in: tail)?.lowerBound else { throw Self.broken }
    var index = number(end + 16, 4)
    for _ in 0..<number(end + 10, 2) {
      let (start, size, name) = (
        number(index + 42, 4), number(index + 20, 4), index + 46..<index + 46 + number(index + 28, 2)
      )
      let content = start + 30 + number(start + 26, 2) + number(start + 28, 2)
      guard name.upperBound <= data.count, content + size <= data.count, number(index + 24, 4) <= Self.limit else {
        throw Self.broken
      }
      members[String(decoding: data[name], as: UTF8.self)] = (content..<content + size, number(index + 10, 2) == 8)
      index = name.upperBound + number(index + 30, 2) + number(index + 32, 2)
    }
    let name = members.keys.filter { $0.hasSuffix(".har") }.min { ($0.count, $0) < ($1.count, $1) }
    archive = name.flatMap { content(of: $0) }
    guard archive != nil else { throw Self.broken }
  }

  private static let broken = HARError(
    .notAnArchive, "The zip file is truncated, has no file whose name ends in .har, or holds more than \(limit) bytes.")

  /// A number in the zip file; 0 beyond its end.
  private func number(_ index: Int, _ count: Int) -> Int {
    zip.dropFirst(index).prefix(count).reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// Whether Playwright may have made a file of this name.
  private static func isAttachment(_ name: String) -> Bool {
    name.wholeMatch(of: #/[0-9a-f]{40}\.[0-9a-z]{1,16}/#) != nil
  }

  /// The content of a file; `nil` if it is missing, is no regular file, or exceeds the limit.
  private mutating func content(of name: String) -> Data? {
    var content: Data?
    if let (place, isCompressed) = members[name] {
      content = isCompressed ? Deflate.inflated(zip[place], as: .raw, limit: rest) : zip[place]
    } else if zip.isEmpty {
      let file = folder.appendingPathComponent(name)
      let values = try? file.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
      // A symbolic link is no regular file.
      guard values?.isRegularFile == true, let size = values?.fileSize, size <= rest else { return nil }
      content = try? Data(contentsOf: file)
    }
    rest -= content?.count ?? 0
    return content.flatMap { rest < 0 ? nil : Data($0) }
  }

  /// Replaces the names of files by their content.
  mutating func attach(to entry: inout HAR.Entry) {
    entry.request.body = entry.request.body.map { attached($0) }
    entry.response.body = attached(entry.response.body)
  }

  private mutating func attached(_ original: HAR.Body) -> HAR.Body {
    guard original.data.isEmpty, let name = original.extensions["_file"]?.string, Self.isAttachment(name),
      let content = content(of: name)
    else { return original }
    var body = original
    (body.data, body.size, body.extensions["_file"]) = (content, content.count, nil)
    return body
  }
}
