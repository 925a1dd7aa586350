internal import Crypto
import Foundation
import PolicyAlone

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Scenario {
  /// What a decision of the archive's costs, beside making a `URL` of a text, which every request has paid before it
  /// gets there.
  static func archivePolicy() -> [Scenario] {
    let reference = "policy: URL(string:)"
    return [
      Scenario(reference, against: reference) {
        guard URL(string: "http://api.example.com/v1/users?page=2") != nil else { throw URLError(.badURL) }
      },
      decision("policy: a fresh hit", [:], vary: nil),
      decision("policy: a fresh hit, with the head of its answer", [:], vary: nil, makesHead: true),
      decision("policy: a fresh hit that asks for max-age", [.cacheControl: "max-age=600"], vary: nil),
      decision("policy: a fresh hit by Vary on a field that is absent", [:], vary: "Accept-Encoding"),
      decision(
        "policy: a fresh hit by Vary on a field, with an HMAC", [.acceptLanguage: "en, de;q=0.5"],
        vary: "Accept-Language"),
      decision(
        "policy: one of 16 variants, with an HMAC", [.acceptLanguage: "en, de;q=0.5"], vary: "Accept-Language",
        variants: 16),
      reading(),
    ]
  }

  private static let url = URL(string: "http://api.example.com/v1/users?page=2")!
  private static let now = CacheTime(seconds: 1_795_262_400)

  private static func policy() -> ArchivePolicy {
    // As the stores do it.
    let prepared = HMAC<SHA256>(key: SymmetricKey(size: .bits256))
    return ArchivePolicy { bytes in
      var digest = prepared
      digest.update(data: bytes)
      return digest.finalize().withUnsafeBytes { Array($0) }
    }
  }

  /// What the app sends: with the fields that every app sends.
  private static func request(_ fields: HTTPFields) -> HTTPFields {
    [.accept: "application/json", .userAgent: "Example/1.0"] + fields
  }

  /// The same as the archive reads it.
  private static func asked(_ fields: HTTPFields) -> CacheRequest {
    CacheRequest(method: "GET", url: url, fields: fields)
  }

  private static func record(_ policy: ArchivePolicy, _ fields: HTTPFields, vary: String?) -> CacheRecord {
    var head: HTTPFields = [
      .cacheControl: "max-age=3600, stale-while-revalidate=60", .contentType: "application/json", .contentLength: "20",
      .eTag: "\"1\"",
      .date: HTTPDate.text(seconds: now.seconds), .server: "example", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
      .setCookie: "a=b", .strictTransportSecurity: "max-age=31536000", .accessControlAllowOrigin: "*",
    ]
    head[.vary] = vary
    let response = ArchivePolicy.Response(status: 200, fields: head, requestTime: now, responseTime: now)
    guard case .store(let record) = policy.storability(of: response, to: asked(fields)) else {
      fatalError("not stored")
    }
    return record
  }

  private static func decision(
    _ name: String, _ fields: HTTPFields, vary: String?, variants: Int = 1, makesHead: Bool = false
  ) -> Scenario {
    let policy = policy()
    let sent = request(fields)
    let others = (1..<max(2, variants)).prefix(variants - 1).map { number in
      record(policy, request([.acceptLanguage: "x-\(number)"]), vary: vary)
    }
    let records = others + [record(policy, sent, vary: vary)]
    let later = CacheTime(seconds: now.seconds + 10)
    return Scenario(name, against: "policy: URL(string:)") {
      let decision = policy.decide(asked(sent), records: records, now: later)
      guard case .serve(let answer) = decision.action, answer.index == records.count - 1 else {
        throw URLError(.cannotDecodeContentData)
      }
      if makesHead, policy.head(of: answer, record: records[answer.index], now: later).status != 200 {
        throw URLError(.badServerResponse)
      }
    }
  }

  /// What a head that comes from the disk costs before the decision.
  private static func reading() -> Scenario {
    let bytes = record(policy(), request([:]), vary: nil).encoded()
    return Scenario("policy: a record read from its bytes", against: "policy: URL(string:)") {
      guard CacheRecord(decoding: bytes) != nil else { throw URLError(.cannotDecodeContentData) }
    }
  }
}
