internal import Crypto
import Foundation
import Waylay
@_spi(Benchmarks) import WaylayArchive

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

  private static func rules(_ fields: HTTPFields, vary: String?, variants: Int = 1) -> PolicyBenchmark {
    // As the stores do it.
    let prepared = HMAC<SHA256>(key: SymmetricKey(size: .bits256))
    return PolicyBenchmark(url, fields, vary: vary, variants: variants) { bytes in
      var digest = prepared
      digest.update(data: bytes)
      return digest.finalize().withUnsafeBytes { Array($0) }
    }
  }

  private static func decision(
    _ name: String, _ fields: HTTPFields, vary: String?, variants: Int = 1, makesHead: Bool = false
  ) -> Scenario {
    let rules = rules(fields, vary: vary, variants: variants)
    return Scenario(name, against: "policy: URL(string:)") {
      guard rules.isHit(makesHead: makesHead) else { throw URLError(.cannotDecodeContentData) }
    }
  }

  /// What a head that comes from the disk costs before the decision.
  private static func reading() -> Scenario {
    let bytes = rules([:], vary: nil).encodedRecord
    return Scenario("policy: a record read from its bytes", against: "policy: URL(string:)") {
      guard PolicyBenchmark.isRecord(bytes) else { throw URLError(.cannotDecodeContentData) }
    }
  }
}
