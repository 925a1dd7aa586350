import ArgumentParser
import Foundation
import TestOrigin
import Waylay

/// A reader for the terminal: it syncs a small site once, and reads it from then on whether or not there is a network.
@main
struct OfflineReader: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "offline-reader",
    abstract: "Syncs a small site from a server on loopback, stops the server, and reads the site out of an archive.",
    discussion: """
      Without a directory it uses a temporary one and removes it. With one, `--read` in a later run reads what an \
      earlier run has synced: there is no server at all then. Exits with 1, and says why, when the directory cannot be \
      used, or when there is nothing to read in it.
      """)

  @Argument(help: "Where the archive is kept.") var directory: String?
  @Flag(help: "Read what an earlier run has synced; no server is started.") var read = false
  @Option(help: "How many articles the site has.") var articles = 12

  func run() async throws {
    let folder = directory.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? Self.temporaryFolder
    defer { if directory == nil { try? FileManager.default.removeItem(at: folder) } }
    do {
      if !read { try await sync(into: folder) }
      try await browse(folder)
    } catch let error as ArchiveError {
      try fail(error)
    } catch let error as URLError {
      guard let cause = error.cause(as: ArchiveError.self) else { throw error }
      try fail(cause)
    }
  }

  private func fail(_ error: ArchiveError) throws -> Never {
    let hint = error.code == .notStored ? " Sync first, without --read." : ""
    FileHandle.standardError.write(Data("offline-reader: \(error.message)\(hint)\n".utf8))
    throw ExitCode(1)
  }

  private static var temporaryFolder: URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("offline-reader-\(UUID().uuidString)")
  }

  /// Loads the site once through an archive. That is all there is to syncing.
  private func sync(into folder: URL) async throws {
    let origin = try await TestOrigin.start()
    let site = Site(articles: articles, origin: origin)
    let reader = Reader(folder)
    do { try await reader.archive.waitUntilOpen() } catch {
      await origin.stop()
      throw error
    }
    let index = try await reader.text(site.address("/"))
    let links = Site.links(in: index)
    let bar = ProgressBar("syncing", of: links.count)
    for link in links {
      _ = try await reader.text(site.address(link))
      bar.step()
    }
    bar.end()
    let again = try await reader.text(site.address("/"))
    print(
      """
      \(links.count) articles from \(origin.url()), \(site.requests) requests; the front page again: \
      \(again == index ? "same" : "new").
      """
    )
    print("The archive: \(reader.archive.counters.stored) answers, \(reader.archive.counters.storedBytes) bytes.\n")
    await reader.close()
    await origin.stop()
  }

  /// Reads the site without a network.
  private func browse(_ folder: URL) async throws {
    let reader = Reader(folder, isReadOnly: read)
    reader.archive.mode = .offline
    do {
      try await reader.archive.waitUntilOpen()
      let index = try await reader.text(Site.address("/"))
      let links = Site.links(in: index)
      print("Offline: \(links.count) articles.")
      for link in links.prefix(3) {
        let text = try await reader.text(Site.address(link))
        print("  \(link)  \(text.split(separator: "\n").first ?? "")")
      }
      do {
        _ = try await reader.text(Site.address("/never-read"))
      } catch let error as URLError {
        print("  /never-read  \(error.cause(as: ArchiveError.self)?.message ?? "\(error)")")
      }
      print("\nWhy the front page is there:\n\(await reader.archive.explain(URLRequest(url: Site.address("/"))))")
    } catch {
      await reader.close()
      throw error
    }
    await reader.close()
  }
}

/// A session with an archive: two lines.
private struct Reader {
  let archive: ArchiveCache
  let session: URLSession
  private let registry: InterceptorRegistry

  /// - Parameter isReadOnly: Whether an archive has to be there already.
  init(_ folder: URL, isReadOnly: Bool = false) {
    let archive = ArchiveCache(.disk(at: folder, isReadOnly: isReadOnly)) { configuration in
      configuration.keyFor = { $0.url?.path }
      // What is wrong with the directory the program says itself.
      var logger = Logger(label: "offline-reader")
      logger.logLevel = .critical
      configuration.logger = logger
    }
    registry = InterceptorRegistry { archive }
    session = URLSession(configuration: .ephemeral.intercepted(by: registry))
    self.archive = archive
  }

  func text(_ url: URL) async throws -> String {
    String(decoding: try await session.data(from: url).0, as: UTF8.self)
  }

  func close() async {
    session.invalidateAndCancel()
    registry.invalidate()
    await archive.close()
  }
}
