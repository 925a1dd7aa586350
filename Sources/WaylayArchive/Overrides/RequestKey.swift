import Foundation

/// What a request's answer is stored under, and how it may be listed.
struct RequestKey: Sendable {
  let key: ArchiveKey
  /// The URL as it may be read by whoever lists the archive.
  let listedURL: String
  /// Whether the request's body is part of the key, so that a `POST` is looked up like a `GET`.
  let isKeyedByBody: Bool
  /// Request fields that do not count where `Vary` names them, in lower case.
  let ignoredHeaders: Set<String>

  /// Whether the app has said who the user is, so that nobody has to guess it.
  let isAttributed: Bool
  /// Whether credentials are part of the key.
  let splitsByCredentials: Bool

  /// - Parameters:
  ///   - request: The request.
  ///   - body: The bytes of its body, where a rule asks for them.
  ///   - challenge: What its `Authorization` answers a challenge with, where it does.
  init(
    _ request: InterceptedRequest, body: Data?, challenge: AnsweredChallenge? = nil,
    _ configuration: ArchiveCache.Configuration,
    digest: ([UInt8]) -> [UInt8]
  ) {
    // An empty name is nobody's.
    let partition = configuration.partition?(request.urlRequest).flatMap { $0.isEmpty ? nil : $0 }
    isAttributed = partition != nil
    splitsByCredentials = configuration.partitionsByAuthorization ?? (partition == nil)
    let url = request.url
    let rules = configuration.keys.isEmpty ? [] : configuration.keys.filter { $0.scope.covers(url) }
    let address = KeyText(url, rules: rules)
    var text = "GET "
    isKeyedByBody = body != nil
    if let body { text = "\(request.method.rawValue.uppercased()) \(Self.hexadecimal(digest(Array(body)))) " }
    if splitsByCredentials, let credentials = Self.credentials(of: request, userInfo: address.userInfo, challenge) {
      // A digest, because keys are written to disk; half of it is more than enough to tell users apart.
      text += Self.hexadecimal(digest(Array(credentials.utf8)).prefix(16))
    }
    var listed = address.text
    if let own = configuration.keyFor?(request.urlRequest) {
      text += " = " + own
    } else if configuration.keepsQueryValues || !address.text.utf8.contains(UInt8(ascii: "?")) {
      text += " " + address.text
    } else {
      text += " " + address.text.prefix { $0 != "?" } + "?" + Self.hexadecimal(digest(Array(address.text.utf8)))
    }
    if !configuration.keepsQueryValues { listed = url.redacted }
    listedURL = listed
    ignoredHeaders = rules.isEmpty ? [] : Set(rules.flatMap(\.headers))
    key = ArchiveKey(text, partition: partition.map { ArchivePartition($0) } ?? .shared)
  }

  /// Whether a rule keys requests of that method by their body.
  static func wantsBody(_ request: InterceptedRequest, _ configuration: ArchiveCache.Configuration) -> Bool {
    guard !configuration.keys.isEmpty else { return false }
    let method = request.method.rawValue.uppercased()
    return configuration.keys.contains { $0.bodyMethods.contains(method) && $0.scope.covers(request.url) }
  }

  private static func credentials(
    of request: InterceptedRequest, userInfo: String?, _ challenge: AnsweredChallenge?
  ) -> String? {
    // The answer to a challenge counts by what it is made of: Digest writes it differently each time, and the URL's
    // user info is the same.
    if let challenge { return ["challenge", challenge.user, challenge.password].joined(separator: "\u{0}") }
    let fields = [request.fields[.authorization], request.fields[.proxyAuthorization], userInfo]
    guard fields.contains(where: { $0 != nil }) else { return nil }
    return fields.map { $0 ?? "" }.joined(separator: "\u{0}")
  }

  private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
