import Foundation
import TestOrigin
import Waylay

extension Tour {
  /// What an archive does.
  static let archiveScenes: [Scene] = [.offline, .restart, .validation, .explained]
}

extension Scene {
  static let offline = Scene(title: "An archive: fetch, stop the server, read on offline") { _, report in
    let server = try await TestOrigin.start()
    server.reply(to: "/news") { _ in .text("the news", fields: [("Cache-Control", "max-age=0")]) }
    let archive = ArchiveCache()
    let registry = InterceptorRegistry { archive }
    let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
    let first = try await session.data(from: server.url("/news")).0
    report.note("app got", String(decoding: first, as: UTF8.self))
    await server.stop()
    archive.mode = .offline
    let (second, response) = try await session.data(from: server.url("/news"))
    let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status") ?? ""
    report.note("server", "stopped")
    report.note("app got", "\(String(decoding: second, as: UTF8.self)) (Cache-Status: \(status))")
    #if StructuredFields
      report.expect("the same, marked as stale", was: status, second == first && status.contains("hit"))
    #else
      report.expect("the same", was: String(decoding: second, as: UTF8.self), second == first)
    #endif
    do {
      _ = try await session.data(from: server.url("/unread"))
      report.expect("what was never read is an error", was: "a response", false)
    } catch let error as URLError {
      report.note("app got", error.cause(as: ArchiveError.self)?.message ?? "\(error)")
      report.expect("what was never read is an error", error.code, .resourceUnavailable)
    }
    registry.invalidate()
  }

  static let restart = Scene(title: "The same after a restart: the archive is on the disk") { _, report in
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-tour-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let server = try await TestOrigin.start()
    server.reply(to: "/news") { _ in .text("the news", fields: [("Cache-Control", "max-age=3600")]) }
    let url = server.url("/news")
    for run in ["first", "second"] {
      let archive = ArchiveCache(at: folder)
      let registry = InterceptorRegistry { archive }
      let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
      let text = String(decoding: try await session.data(from: url).0, as: UTF8.self)
      report.note("\(run) run got", "\(text), \(archive.counters.hits) hits, \(archive.counters.misses) misses")
      if run == "second" { report.expect("a response from the disk", archive.counters.hits, 1) }
      registry.invalidate()
      await archive.close()
      if run == "first" { await server.stop() }
    }
  }

  static let validation = Scene(title: "A stale response is validated: 304, no body on the wire") { _, report in
    let server = try await TestOrigin.start()
    server.reply(to: "/news") { request in
      let fields = [("ETag", "\"7\""), ("Cache-Control", "no-cache")]
      return request["If-None-Match"].contains("\"7\"") ? Reply(304, fields) : .text("the news", fields: fields)
    }
    let archive = ArchiveCache()
    let registry = InterceptorRegistry { archive }
    let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
    for _ in 0..<2 {
      let (data, response) = try await session.data(from: server.url("/news"))
      if let request = server.requests.last { report.note(request, fields: ["If-None-Match"]) }
      report.note(
        "app got", "\((response as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: data, as: UTF8.self))")
    }
    report.expect("bytes of bodies that the server sent", server.bytesSent, 8)
    report.expect("confirmations", archive.counters.revalidations, 1)
    registry.invalidate()
    await server.stop()
  }

  static let explained = Scene(title: "The archive explains what it would do with a request") { origin, report in
    origin.reply(to: "/catalog") { _ in
      .text(
        "a catalog",
        fields: [
          ("Cache-Control", "max-age=600, stale-while-revalidate=60"), ("ETag", "\"c1\""), ("Vary", "Accept-Language"),
        ])
    }
    let archive = ArchiveCache()
    let registry = InterceptorRegistry { archive }
    let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
    var request = URLRequest(url: origin.url("/catalog"))
    request.setValue("de", forHTTPHeaderField: "Accept-Language")
    _ = try await session.data(for: request)
    let explanation = await archive.explain(request)
    report.note("explain", explanation.description)
    report.expect("one stored response", explanation.variants.count, 1)
    registry.invalidate()
  }
}
