import Foundation
import TestOrigin
import Waylay
import WaylayCore

/// Loads through an archive: hits, misses, validations, answers that are shared, parts, cancels.
extension Kind {
  static let archived = [
    Kind("archive, hit", 400) { try await page($0, "fresh", $1 % 200, number: $1) },
    Kind("archive, hit, delegate", 60) { grounds, number in
      let body = try await grounds.deliveries.text(
        grounds.sessions.delegating.dataTask(with: grounds.page("fresh", number % 200)))
      return check(body, Grounds.text(of: number % 200), number)
    },
    Kind("archive, hit, direct", 100) { grounds, number in
      let data = try await grounds.sessions.registry.data(for: URLRequest(url: grounds.page("fresh", number % 200))).0
      return check(String(decoding: data, as: UTF8.self), Grounds.text(of: number % 200), number)
    },
    Kind("archive, miss", 60) { try await page($0, "fresh", 1000 + $1, number: $1) },
    Kind("archive, validated", 60) { try await page($0, "tagged", $1 % 50, number: $1) },
    Kind("archive, validated behind", 20) { try await page($0, "behind", $1 % 20, number: $1) },
    Kind("archive, in chunks", 20) { try await page($0, "chunks", 1000 + $1, number: $1) },
    Kind("archive, collapsed", 20) { grounds, number in
      async let first = page(grounds, "slow", 1000 + number, number: number)
      async let second = page(grounds, "slow", 1000 + number, number: number)
      async let third = page(grounds, "slow", 1000 + number, number: number)
      let answers = try await [first, second, third]
      return Set(answers).count == 1 ? answers[0] : "\(answers)"
    },
    Kind("archive, leader cancelled", 10) { grounds, number in
      let leader = Task { try await page(grounds, "slow", 1000 + number, number: number) }
      async let follower = page(grounds, "slow", 1000 + number, number: number)
      await Task.yield()
      leader.cancel()
      _ = try? await leader.value
      return try await follower
    },
    Kind("archive, cancelled", 10, failsWith: .cancelled) { grounds, number in
      try await grounds.deliveries.text(
        grounds.sessions.delegating.dataTask(with: grounds.page("never", 1000 + number))
      ) { $0.cancel() }
    },
    Kind("archive, dropped unread", 10) { grounds, number in
      let response = try await grounds.sessions.registry.load(URLRequest(url: grounds.page("chunks", 1000 + number)))
      return response.status == .ok ? "\(number)" : "status \(response.status)"
    },
    Kind("archive, part", 20) { grounds, number in
      var request = URLRequest(url: grounds.page("fresh", number % 200))
      request.setValue("bytes=2-4", forHTTPHeaderField: "Range")
      let text = String(decoding: try await grounds.sessions.plain.data(for: request).0, as: UTF8.self)
      let whole = Grounds.text(of: number % 200)
      // Before it is stored whole, the server gives all of it: it knows no ranges.
      return text == whole || text == String(whole.dropFirst(2).prefix(3)) ? "\(number)" : text
    },
  ]

  private static func page(_ grounds: Grounds, _ kind: String, _ page: Int, number: Int) async throws -> String {
    let data = try await grounds.sessions.plain.data(from: grounds.page(kind, page)).0
    return check(String(decoding: data, as: UTF8.self), Grounds.text(of: page), number)
  }

  private static func check(_ body: String, _ expected: String, _ number: Int) -> String {
    body == expected ? "\(number)" : "\(body.prefix(40)) in place of \(expected.prefix(40))"
  }
}

extension Grounds {
  /// The text of a page: long enough that mixed bodies would show.
  static func text(of page: Int) -> String { String(repeating: "page \(page) ", count: 1 + page % 97) }

  /// The URL of a page that goes through the archive.
  func page(_ kind: String, _ page: Int) -> URL { origin.url("/archive/\(kind)?k=\(page)", host: "localhost") }

  /// Has the server answer for the archive's pages.
  func servePages() {
    let lifetimes = ["fresh": "max-age=3600", "tagged": "no-cache", "behind": "max-age=0, stale-while-revalidate=3600"]
    for (kind, lifetime) in lifetimes {
      origin.reply(to: "/archive/\(kind)") { request in
        let text = Self.text(of: Int(request.query("k") ?? "") ?? 0)
        let fields = [("Cache-Control", lifetime), ("ETag", "\"\(text.utf8.count)\"")]
        return request["If-None-Match"].contains("\"\(text.utf8.count)\"")
          ? Reply(304, fields) : .text(text, fields: fields)
      }
    }
    for (kind, pause) in [("chunks", 0), ("slow", 1)] {
      origin.reply(to: "/archive/\(kind)") { request in
        let bytes = Data(Self.text(of: Int(request.query("k") ?? "") ?? 0).utf8)
        let half = bytes.count / 2
        return Reply(
          200, [("Cache-Control", "max-age=3600")], .chunks([bytes.prefix(half), bytes.dropFirst(half)], pause: pause))
      }
    }
    origin.reply(to: "/archive/never") { _ in Reply(200, [], .never) }
  }
}
