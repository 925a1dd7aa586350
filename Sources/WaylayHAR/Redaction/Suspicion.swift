/// How strongly a name suggests that its value is a secret.
enum Suspicion: Int, Comparable, Sendable {
  /// Not at all.
  case none
  /// A value that looks random is a secret: `key`, `password_policy`.
  case shape
  /// A plural such as `tokens`, or `signature`: words with digits in it are secrets.
  case list
  /// A plural such as `passwords`: every string in it is a secret.
  case secrets
  /// A name such as `license_key`: the value is a secret with everything in it, and may be identified by a digest.
  case modified
  /// The value is a secret, with everything in it.
  case secret

  static func < (one: Suspicion, other: Suspicion) -> Bool { one.rawValue < other.rawValue }

  /// Judges a name by the table, also if a word such as `confirmation` follows. A credential word before other ones, as
  /// in `password_policy`, makes only random values secret.
  init(ofName name: String) {
    // Digits and combining marks at the end of a word do not matter.
    var words = CredentialNames.words(of: name).compactMap { word in
      word.lastIndex(where: \.isASCIILetter).map { String(decoding: word[...$0], as: UTF8.self) }
    }
    while words.count > 1, Self.followers.contains(words[words.count - 1]) { words.removeLast() }
    guard let noun = words.last, noun != "type" else {
      self = .none
      return
    }
    let before = words.dropLast()
    func judged(_ words: some Sequence<String>) -> Suspicion? { Self.judged(words.joined(separator: "_")) }
    if let judged = judged(words) ?? Self.judged(name) {
      // `forgotPassword` names a text of an app, and `invalid_token` an error of a server.
      let isSaid = before.contains {
        Self.verbs.contains($0) || noun.hasPrefix("pass") && ["change", "reset"].contains($0)
      }
      self = isSaid && judged == .secret ? .shape : judged
    } else if noun.hasSuffix("s"), let one = judged(before + [String(noun.dropLast())]) {
      self = one < .modified || Self.weak.contains { noun.hasSuffix($0) } ? min(one, .list) : .secrets
    } else {
      let isNear =
        noun == "key" || before.contains(where: CredentialNames.isCredential)
        || Self.nouns.contains(where: noun.contains)
      self = isNear ? .shape : .none
    }
  }

  /// The suspicion of a name by its row in the table.
  private static func judged(_ name: String) -> Suspicion? {
    switch CredentialNames.kind(of: name) {
    case .stable: name.hasSuffix("key") ? .modified : .secret
    case .changing: lists.contains(where: name.hasSuffix) ? .list : .secret
    case .harmless: Suspicion.none
    case nil: nil
    }
  }

  static func set(_ words: String) -> Set<String> { Set(words.split(separator: " ").map(String.init)) }

  /// Changing credentials that may be lists of words, or objects: a `ticket` of a help desk.
  private static let lists = ["hmac", "input", "nonce", "sig", "sign", "signature", "ticket"]
  /// Words that may stand within a longer one.
  private static let nouns = ["token", "secret", "passw", "passphrase", "credential", "session", "cookie", "apikey"]
  /// Words whose plurals also name things that are not secrets.
  private static let weak = ["tokens", "cookies", "credentials", "creds", "sessions"]
  /// Words that may follow a credential word without changing its meaning.
  private static let followers = set(
    """
    again base cleartext confirm confirmation current digest encrypted hash input md new old plain raw repeat sha string \
    v value verification verify
    """)
  private static let verbs = set(
    "by enter expired forgot forgotten has invalid missing need needs no required show wrong")

  /// The suspicion for the members of an object with this suspicion: the objects in `tokens` are judged by their own
  /// names.
  func ofMembers(isElement: Bool) -> Suspicion {
    self >= .modified || self == .secrets && !isElement ? self : isElement ? .none : min(self, .shape)
  }

  /// Whether a string with this suspicion is a secret.
  func covers(_ text: [UInt8]) -> Bool {
    switch self {
    case .none: false
    case .shape: text.looksRandom
    case .list:
      text.looksRandom
        || text.count >= 5 && text.contains(where: \.isASCIIDigit) && !text.isPlain && !text.isVersion
          && text.contains { !$0.isASCIIDigit && $0 != UInt8(ascii: ".") } && !text.contains(where: \.isSpace)
    case .secrets, .modified, .secret:
      !text.isResource && !text.isVersion && !text.isPlaceholder
        && !(16...35 ~= text.count && text[13] == UInt8(ascii: ":") && text.isTimestamp)
    }
  }
}

extension [UInt8] {
  /// Whether it is unlikely to occur by chance, unlike a word such as "password".
  var looksLikeCredential: Bool {
    count >= 8 && !allSatisfy { $0.isASCIILetter || $0.isSpace || $0 >= 0x80 }
      || count >= 20 && allSatisfy(\.isASCIILetter)
  }

  /// Whether it is the identifier of a resource, which some services call `sid`: two capitals and 32 hexadecimal digits.
  fileprivate var isResource: Bool {
    count == 34 && prefix(2).allSatisfy { 0x41...0x5A ~= $0 }
      && dropFirst(2).allSatisfy { $0.isASCIIDigit || 0x61...0x66 ~= $0 }
  }

  /// Whether it is a short version or a range of versions: packages are named like credentials.
  fileprivate var isVersion: Bool {
    guard 3...24 ~= count, allSatisfy({ $0.isASCIIDigit || "^~<>=. |".utf8.contains($0) }) else { return false }
    return "^~<>=".utf8.contains(self[0]) || count < 5 && self.count { $0 == UInt8(ascii: ".") } == 1
  }

  /// Whether it is a placeholder of a value: a literal, a name in brackets, as in `Bearer {{token}}`, or `YOUR_TOKEN`.
  fileprivate var isPlaceholder: Bool {
    guard count < 64, allSatisfy({ $0.isASCIILetter || "{}<>[]$_-. ".utf8.contains($0) }) else { return false }
    let words = String(decoding: self, as: UTF8.self).lowercased().split(separator: " ")
    guard let word = words.last, words.count < 3 else { return false }
    if let first = word.first, "{<[$".contains(first), let last = word.last, "}>]".contains(last) { return true }
    return words.count == 1 && Self.literals.contains(String(word))
      || ["your_", "your-"].contains(where: word.hasPrefix)
  }

  private static let literals = Suspicion.set(
    """
    days disabled enabled false get hours list minutes no-check none null optional read required seconds string true \
    undefined username write
    """)

  /// Whether it is a text for people: words without digits.
  var isText: Bool { allSatisfy { $0.isASCIILetter || $0 >= 0x80 || " .,:;!?'()-".utf8.contains($0) } }
}
