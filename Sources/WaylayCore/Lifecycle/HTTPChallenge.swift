import Foundation

/// One challenge of a `WWW-Authenticate` field (RFC 9110, section 11.6.1).
package struct HTTPChallenge: Equatable, Sendable {
  /// The scheme in lower case, such as `basic`.
  package let scheme: String
  /// The parameters, with names in lower case. The first of several parameters with one name counts.
  var parameters: [String: String] = [:]

  var realm: String? { parameters["realm"] }

  /// Parses all challenges of a response, in the server's order. Malformed parts are ignored.
  ///
  /// A field may contain several challenges, and a challenge several parameters, both separated by commas: a token
  /// followed by `=` is a parameter, any other token begins a challenge.
  package static func parse(_ fields: [String]) -> [HTTPChallenge] {
    fields.flatMap { field in
      var parser = Parser(rest: field.utf8[...])
      return parser.challenges()
    }
  }
}

extension HTTPChallenge {
  private struct Parser {
    var rest: Substring.UTF8View

    mutating func challenges() -> [HTTPChallenge] {
      var found: [HTTPChallenge] = []
      while !rest.isEmpty {
        skip { $0.isBlank || $0 == UInt8(ascii: ",") }
        guard let name = token() else {
          // Not a list element: continue after the next comma.
          skip { $0 != UInt8(ascii: ",") }
          continue
        }
        let afterName = rest
        skip(\.isBlank)
        if rest.first == UInt8(ascii: "="), !found.isEmpty {
          rest.removeFirst()
          skip(\.isBlank)
          guard let value = quoted() ?? token() else { continue }
          let last = found.count - 1
          if found[last].parameters[name.lowercased()] == nil { found[last].parameters[name.lowercased()] = value }
        } else {
          rest = afterName
          found.append(HTTPChallenge(scheme: name.lowercased()))
          skipToken68()
        }
      }
      return found
    }

    /// Skips a token68, which may follow a scheme instead of parameters and ends at a comma.
    private mutating func skipToken68() {
      let start = rest
      skip(\.isBlank)
      skip(\.isToken68)
      skip { $0 == UInt8(ascii: "=") }
      skip(\.isBlank)
      if let next = rest.first, next != UInt8(ascii: ",") { rest = start }
    }

    private mutating func token() -> String? {
      let token = rest.prefix(while: \.isToken)
      rest = rest.dropFirst(token.count)
      return token.isEmpty ? nil : String(Substring(token))
    }

    private mutating func quoted() -> String? {
      guard rest.first == UInt8(ascii: "\"") else { return nil }
      rest.removeFirst()
      var text: [UInt8] = []
      while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
        text.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
      }
      return String(decoding: text, as: UTF8.self)
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
      rest = rest.drop(while: isSkipped)
    }
  }
}

/// A challenge of the scheme Digest (RFC 7616), and the credentials for it.
struct DigestChallenge: Sendable {
  private enum Algorithm: String {
    case md5 = "MD5"
    case md5Session = "MD5-sess"
    case sha256 = "SHA-256"
    case sha256Session = "SHA-256-sess"

    func hash(_ text: String) -> String {
      switch self {
      case .md5, .md5Session: MessageDigest.md5(text.utf8)
      case .sha256, .sha256Session: MessageDigest.sha256(text.utf8)
      }
    }

    var isSession: Bool { self == .md5Session || self == .sha256Session }
  }

  private let algorithm: Algorithm
  private let realm: String
  private let nonce: String
  private let parameters: [String: String]
  private let clientNonce: String
  /// Whether the server named the algorithm; RFC 2617 omits it for MD5.
  private var namesAlgorithm: Bool { parameters["algorithm"] != nil }
  private var opaque: String? { parameters["opaque"] }
  /// Whether the quality of protection is `auth`; without it the credentials follow RFC 2069.
  private var hasQuality: Bool { parameters["qop"] != nil }
  private var hashesUser: Bool { parameters["userhash"]?.lowercased() == "true" }
  /// Whether the credential was right and only the nonce had expired.
  var isStale: Bool { parameters["stale"]?.lowercased() == "true" }

  /// `nil` unless the challenge is Digest with a supported algorithm and quality of protection (`auth-int` is not
  /// supported).
  init?(_ challenge: HTTPChallenge, clientNonce: String = .random(bytes: 16)) {
    guard challenge.scheme == "digest", let realm = challenge.realm, let nonce = challenge.parameters["nonce"] else {
      return nil
    }
    let name = challenge.parameters["algorithm"]
    let known: [Algorithm] = [.md5, .md5Session, .sha256, .sha256Session]
    guard let algorithm = name.map({ name in known.first { $0.rawValue.lowercased() == name.lowercased() } }) ?? .md5
    else { return nil }
    let qualities = challenge.parameters["qop"]?.split(separator: ",").map {
      $0.trimmingCharacters(in: .whitespaces).lowercased()
    }
    if let qualities, !qualities.contains("auth") { return nil }
    self.algorithm = algorithm
    self.realm = realm
    self.nonce = nonce
    self.clientNonce = clientNonce
    parameters = challenge.parameters
  }

  /// The rank of the algorithm; Basic has 0.
  var strength: Int { algorithm == .sha256 || algorithm == .sha256Session ? 2 : 1 }

  /// The value of `Authorization` for one request; `count` is the number of uses of the nonce, this one included.
  func field(for credential: URLCredential, method: String, url: URL, count: Int) -> String? {
    guard let user = credential.user, let password = credential.password,
      // Reject control characters, which could break out of the line.
      ![user, realm, nonce, opaque ?? ""].contains(where: { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } })
    else { return nil }
    let target = Self.target(of: url)
    let number = String(format: "%08x", count)
    var secret = algorithm.hash("\(user):\(realm):\(password)")
    if algorithm.isSession { secret = algorithm.hash("\(secret):\(nonce):\(clientNonce)") }
    let request = algorithm.hash("\(method):\(target)")
    let protection = hasQuality ? "\(nonce):\(number):\(clientNonce):auth" : nonce
    let response = algorithm.hash("\(secret):\(protection):\(request)")
    var parts = [
      "username=\((hashesUser ? algorithm.hash("\(user):\(realm)") : user).quotedString)",
      "realm=\(realm.quotedString)",
      "nonce=\(nonce.quotedString)", "uri=\(target.quotedString)", "response=\(response.quotedString)",
    ]
    if namesAlgorithm { parts.append("algorithm=\(algorithm.rawValue)") }
    if hasQuality { parts += ["qop=auth", "nc=\(number)", "cnonce=\(clientNonce.quotedString)"] }
    if let opaque { parts.append("opaque=\(opaque.quotedString)") }
    if hashesUser { parts.append("userhash=true") }
    return "Digest " + parts.joined(separator: ", ")
  }

  /// Path and query, as sent.
  private static func target(of url: URL) -> String {
    // Without dot segments, which transports remove.
    let url = url.standardized
    let path = url.path(percentEncoded: true)
    return (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
  }
}
