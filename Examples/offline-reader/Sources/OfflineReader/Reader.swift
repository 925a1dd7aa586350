import WaylayArchive

/// Loads pages of a site, and reads them later without a network.
public struct Reader: Sendable {
  private let archive: ArchiveCache
  private let session: URLSession

  /// Makes a reader.
  ///
  /// - Parameters:
  ///   - directory: The directory of the archive.
  ///   - isReadOnly: Whether the directory has to be there, and is not changed.
  ///   - configuration: The configuration of the session; tests pass `.mocked`.
  public init(at directory: URL, isReadOnly: Bool = false, configuration: URLSessionConfiguration = .ephemeral) {
    let archive = ArchiveCache(.disk(at: directory, isReadOnly: isReadOnly))
    self.archive = archive
    session = URLSession(configuration: configuration.intercepted(by: InterceptorRegistry { archive }))
  }

  /// Loads a page and those of the same host that it links to.
  ///
  /// - Returns: The URLs of the pages.
  public func load(_ front: URL) async throws -> [URL] {
    try await open(.online)
    var seen: Set = [front]
    let pages = [front] + links(in: try await text(front), of: front).filter { seen.insert($0).inserted }
    for page in pages.dropFirst() { _ = try await text(page) }
    try await archive.flush()
    return pages
  }

  /// Returns a page as it was loaded, however long ago; sends nothing.
  public func read(_ page: URL) async throws -> String {
    try await open(.offline)
    return try await text(page)
  }

  /// Says in one sentence what went wrong.
  public static func message(_ error: any Error) -> String {
    if let error = error as? ArchiveError { return error.message }
    return (error as? URLError)?.cause(as: ArchiveError.self)?.message ?? error.localizedDescription
  }

  /// Without this, requests pass by an archive that cannot be opened.
  private func open(_ mode: ArchiveMode) async throws {
    archive.mode = mode
    try await archive.waitUntilOpen()
  }

  private func text(_ page: URL) async throws -> String {
    let (data, response) = try await session.data(from: page)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
    return String(decoding: data, as: UTF8.self)
  }

  private func links(in text: String, of page: URL) -> [URL] {
    text.components(separatedBy: "href=\"").dropFirst().compactMap { rest in
      let link = rest.prefix { $0 != "\"" && $0 != "#" }
      let url = URL(string: String(link), relativeTo: page)?.absoluteURL
      return url?.host == page.host ? url : nil
    }
  }
}
