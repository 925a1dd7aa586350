import Foundation
import WaylayHAR

/// An archive that is read entry by entry.
struct HARFile {
  let url: URL

  init(_ path: String) { url = URL(fileURLWithPath: path) }

  /// Shows each entry with its number, from 1; returns how many there were.
  @discardableResult
  func forEach(_ visit: (Int, HAR.Entry) throws -> Void) throws -> Int {
    var reader = try HARReader(url)
    var count = 0
    while let entry = try reader.next() {
      count += 1
      try visit(count, entry)
    }
    return count
  }

  /// Writes a copy without secrets; returns how many entries it has.
  func write(to target: OutputFile, _ redaction: Redaction) throws -> Int {
    do {
      let archive = redaction.outline(of: try HAR(withoutEntriesOf: url))
      var writer = try HARWriter(target.draft, archive: archive)
      let count = try forEach { _, entry in try writer.append(redaction.redacted(entry)) }
      try writer.finish()
      try target.place()
      return count
    } catch {
      target.discard()
      throw error
    }
  }
}

extension Redaction {
  /// What an archive says beside its entries, as far as it cannot hold a secret.
  func outline(of archive: HAR) -> HAR {
    guard hides("authorization") else { return archive }
    var copy = HAR(creator: HAR.Application(name: archive.creator.name, version: archive.creator.version))
    copy.browser = archive.browser.map { HAR.Application(name: $0.name, version: $0.version) }
    copy.pages = archive.pages.map { page in
      // Browsers take the page's URL for its title.
      var copy = HAR.Page(id: page.id, title: shown(page.title), started: page.started)
      (copy.onLoad, copy.onContentLoad) = (page.onLoad, page.onContentLoad)
      return copy
    }
    return copy
  }

  /// A URL without secrets.
  func shown(_ url: String) -> String {
    redacted(
      HAR.Entry(
        started: Date(timeIntervalSince1970: 0), request: HAR.Request(method: "GET", url: url),
        response: HAR.Response(status: 0, httpVersion: ""))
    ).request.url
  }
}
