import Crypto
import Foundation

extension Reply {
  static func unauthorized(_ challenges: [String]) -> Reply {
    .text("who are you?", status: 401, fields: challenges.map { ("WWW-Authenticate", $0) })
  }

  /// Basic (RFC 7617).
  static func basic(_ request: TestOrigin.Request, user: String, password: String) -> Reply {
    let expected = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    return request["Authorization"] == [expected] ? .text("welcome \(user)") : unauthorized(["Basic realm=\"test\""])
  }

  /// Bearer tokens (RFC 6750).
  static func bearer(_ request: TestOrigin.Request, token: String) -> Reply {
    switch request["Authorization"].first {
    case "Bearer \(token)": .text("welcome")
    case nil: unauthorized(["Bearer realm=\"test\""])
    default: unauthorized(["Bearer realm=\"test\", error=\"invalid_token\""])
    }
  }

  /// Digest (RFC 7616), with `qop=auth`.
  static func digest(_ request: TestOrigin.Request, user: String, password: String) -> Reply {
    let algorithms = DigestAlgorithm.allCases.filter { [nil, $0.rawValue].contains(request.query("algorithm")) }
    let answer = request["Authorization"].first.flatMap(DigestAnswer.init)
    if let answer, algorithms.contains(answer.algorithm), answer.proves(user, password, for: request) {
      guard Nonce.isOurs(answer.nonce) else { return unauthorized(algorithms.map { $0.challenge(isStale: true) }) }
      return .text("welcome \(user)")
    }
    return unauthorized(algorithms.map { $0.challenge(isStale: false) })
  }
}

/// The hash functions of Digest, the preferred one first.
private enum DigestAlgorithm: String, CaseIterable {
  case sha256 = "SHA-256"
  case md5 = "MD5"

  func hash(_ text: String) -> String {
    switch self {
    case .sha256: SHA256.hash(data: Data(text.utf8)).hex
    case .md5: Insecure.MD5.hash(data: Data(text.utf8)).hex
    }
  }

  func challenge(isStale: Bool) -> String {
    #"Digest realm="test", qop="auth", algorithm=\#(rawValue), nonce="\#(Nonce.make())""#
      + (isStale ? ", stale=true" : "")
  }
}

/// The credentials of a request, as an `Authorization` field has them.
private struct DigestAnswer {
  let algorithm: DigestAlgorithm
  let nonce: String
  private let values: [String: String]

  init?(_ header: String) {
    guard header.hasPrefix("Digest ") else { return nil }
    // Commas within quotes are not expected of the clients of a test.
    var values: [String: String] = [:]
    for part in header.dropFirst(7).split(separator: ",") {
      let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      if pair.count == 2 { values[pair[0].lowercased()] = pair[1].trimmingCharacters(in: ["\""]) }
    }
    guard let algorithm = DigestAlgorithm(rawValue: values["algorithm"] ?? "MD5"), let nonce = values["nonce"] else {
      return nil
    }
    self.algorithm = algorithm
    self.nonce = nonce
    self.values = values
  }

  /// Whether only somebody with that password can have made it, for this request.
  func proves(_ user: String, _ password: String, for request: TestOrigin.Request) -> Bool {
    guard values["username"] == user, values["realm"] == "test", values["uri"] == request.target,
      values["qop"] == "auth",
      let count = values["nc"], let clientNonce = values["cnonce"], let response = values["response"]
    else { return false }
    let secret = algorithm.hash("\(user):test:\(password)")
    let message = algorithm.hash("\(request.method):\(request.target)")
    return response == algorithm.hash([secret, nonce, count, clientNonce, "auth", message].joined(separator: ":"))
  }
}

/// Numbers used once: random, and signed so that those of this process are known again.
private enum Nonce {
  private static let key = SymmetricKey(size: .bits128)

  static func make() -> String {
    sign(String(UInt64.random(in: .min ... .max), radix: 16))
  }

  static func isOurs(_ nonce: String) -> Bool {
    nonce == sign(String(nonce.prefix { $0 != "-" }))
  }

  private static func sign(_ text: String) -> String {
    "\(text)-\(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key).hex)"
  }
}

extension Sequence<UInt8> {
  /// As hexadecimal digits.
  fileprivate var hex: String {
    map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
}
