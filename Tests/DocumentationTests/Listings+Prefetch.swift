import Foundation
import Waylay

// The listings of PrefetchAndSeeding.md: see Listings.swift.

func prefetching(archive: ArchiveCache, registry: InterceptorRegistry, pages: [URL]) async throws {
  let requests = pages.map { URLRequest(url: $0) }
  let result = try await archive.prefetch(requests, through: registry) { progress in
    print("\(progress.finished) of \(progress.total), \(progress.bytes) bytes")
  }
  for failure in result.failures { print(failure.request.url?.path ?? "", failure.error) }
}

func prefetchTags(directory: URL) {
  let archive = ArchiveCache(at: directory) { configuration in
    configuration.willStore = { response in
      if response.request.url?.path.hasPrefix("/guide/") == true { response.tags.insert("guide") }
    }
  }
  _ = archive
}

func seeding(archive: ArchiveCache, folder: URL) async throws {
  let count = try await archive.seed(from: folder, as: URL(string: "https://example.com/guide/")!)
  _ = count
}

func exporting(archive: ArchiveCache, other: ArchiveCache, file: URL) async throws {
  try await archive.export(.tag("guide"), to: file)
  let count = try await other.import(from: file)
  _ = count
}

func changingLimits(archive: ArchiveCache) {
  archive.limits.bytes = 64 << 20
}
