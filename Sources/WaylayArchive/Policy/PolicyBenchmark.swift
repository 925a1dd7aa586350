import Foundation
public import HTTPTypes

/// The cache rules without an archive, for the package's benchmarks.
@_spi(Benchmarks) public struct PolicyBenchmark: Sendable {
  private let policy: ArchivePolicy
  private let url: URL
  private let sent: HTTPFields
  private let records: [CacheRecord]
  private let stored = CacheTime(seconds: 1_795_262_400)

  /// Makes records of a response to a request with these fields, preceded by the given number of variants.
  public init(
    _ url: URL, _ fields: HTTPFields, vary: String?, variants: Int = 1,
    digest: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) {
    policy = ArchivePolicy(digest: digest)
    self.url = url
    // Fields that every app sends.
    let common: HTTPFields = [.accept: "application/json", .userAgent: "Example/1.0"]
    sent = common + fields
    var head: HTTPFields = [
      .cacheControl: "max-age=3600, stale-while-revalidate=60", .contentType: "application/json", .contentLength: "20",
      .eTag: "\"1\"", .date: HTTPDate.text(seconds: stored.seconds), .server: "example",
      .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .setCookie: "a=b", .strictTransportSecurity: "max-age=31536000",
      .accessControlAllowOrigin: "*",
    ]
    head[.vary] = vary
    let response = ArchivePolicy.Response(status: 200, fields: head, requestTime: stored, responseTime: stored)
    let others = (1..<max(2, variants)).prefix(variants - 1).map { number in
      var fields = common
      fields[.acceptLanguage] = "x-\(number)"
      return fields
    }
    records = (others + [sent]).compactMap { [policy] fields in
      let request = CacheRequest(method: "GET", url: url, fields: fields)
      guard case .store(let record) = policy.storability(of: response, to: request) else { return nil }
      return record
    }
  }

  /// Evaluates the request ten seconds later; returns whether its own record is served.
  public func isHit(makesHead: Bool = false) -> Bool {
    let now = CacheTime(seconds: stored.seconds + 10)
    let decision = policy.decide(CacheRequest(method: "GET", url: url, fields: sent), records: records, now: now)
    guard case .serve(let hit) = decision.action, hit.index == records.count - 1 else { return false }
    return !makesHead || policy.head(of: hit, record: records[hit.index], now: now).status == 200
  }

  /// A record in its stored form.
  public var encodedRecord: [UInt8] { records.last?.encoded() ?? [] }

  /// Whether the bytes decode as a record.
  public static func isRecord(_ bytes: [UInt8]) -> Bool { CacheRecord(decoding: bytes) != nil }
}
