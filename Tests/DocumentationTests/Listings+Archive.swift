import Crypto
import Foundation
import Waylay

// The listings of Archive.md: see Listings.swift.

struct AccountListing {
  func archive(for account: String, at directory: URL) -> ArchiveCache {
    ArchiveCache(at: directory) { configuration in
      configuration.partition = { _ in account }
    }
  }
}

func archiveTwoLines(directory: URL) {
  let archive = ArchiveCache(at: directory)
  let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { archive }))
  _ = session
}

func archiveOffline(archive: ArchiveCache, session: URLSession, url: URL) async throws {
  archive.mode = .offline
  let (data, response) = try await session.data(from: url)
  _ = (data, response)
}

func archiveModes(archive: ArchiveCache, reachability: AsyncStream<Bool>) {
  archive.follow(reachability)
  let registry = InterceptorRegistry {
    Intercept(request: { request in
      if request.url.host == "static.example.com" { request.archiveMode = .preferArchive }
    })
    archive
  }
  _ = registry
}

func archiveMiss(session: URLSession, url: URL) async throws {
  do {
    _ = try await session.data(from: url)
  } catch let error as URLError where error.code == .resourceUnavailable {
    let reason = error.cause(as: ArchiveError.self)
    print(reason?.message ?? "")
  }
}

func archiveOverrides(directory: URL) {
  let archive = ArchiveCache(at: directory) { configuration in
    configuration.lifetimes = [
      .lifetime(.seconds(3600), for: .host("api.example.com").path("/catalog/**")),
      .lifetime(.seconds(86_400), type: "image/*", overridingServer: true),
    ]
    configuration.willStore = { response in
      if response.request.url?.path == "/me" { response.refuse("personal") }
      response.tags.insert("content")
    }
  }
  _ = archive
}

func archiveKeys(directory: URL) {
  let archive = ArchiveCache(at: directory) { configuration in
    configuration.keys = [
      .ignoringQueryItems(["utm_*", "signature", "expires"]),
      .sortingQuery(),
      .ignoringFields(["User-Agent"], for: .host("api.example.com")),
      .byBody(for: .host("api.example.com").path("/graphql")),
    ]
  }
  _ = archive
}

#if Cryptography
  struct Keychain: Sendable {
    func key() throws -> SymmetricKey { SymmetricKey(size: .bits256) }
  }

  func archiveEncryption(directory: URL, keychain: Keychain) {
    let archive = ArchiveCache(
      .disk(at: directory, limits: StoreLimits(bytes: 256 << 20), encryptionKey: { try keychain.key() }))
    _ = archive
  }
#endif

func archiveListing(archive: ArchiveCache, url: URL, release: Date) async throws {
  for response in try await archive.entries(.host("example.com")) {
    print(response.url, response.status, response.fields[.contentType] ?? "", response.length)
  }
  try await archive.removeAll(.tag("content"))
  try await archive.removeAll(.stored(after: release))
  try await archive.remove(for: URLRequest(url: url))
}

func archiveLooking(archive: ArchiveCache, url: URL, response: HTTPURLResponse, data: Data) async throws {
  let request = URLRequest(url: url)
  let isReadable = try await archive.state(for: request) != .none
  if let stored = try await archive.response(for: request) {
    print(try await stored.body().collect(upTo: 1 << 20).count)
  }
  try await archive.store(response, body: data, for: request)
  _ = isReadable
}

func archiveParts(directory: URL) {
  let archive = ArchiveCache(at: directory) { configuration in
    configuration.quotas = [.tag("images", bytes: 64 << 20), .host("cdn.example.com", bytes: 128 << 20)]
    configuration.staleIfError = .seconds(86_400)
  }
  _ = archive
}

func archiveWatching(archive: ArchiveCache, url: URL) async throws {
  print(await archive.explain(URLRequest(url: url)))
  print(archive.counters.hitRatio)
  for await event in archive.events() where event.kind == .refused { print(event.url?.path ?? "", event.reason ?? "") }
}

func movingFromURLCache(directory: URL) {
  let storage: ArchiveCache.Storage = .disk(at: directory, limits: StoreLimits(bytes: 64 << 20), memory: 4 << 20)
  let archive = ArchiveCache(storage) { configuration in
    configuration.lifetimes = [.lifetime(.seconds(600), overridingServer: true)]
  }
  let session = URLSession(configuration: .ephemeral.intercepted(by: InterceptorRegistry { archive }))
  _ = session
}
