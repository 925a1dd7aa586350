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
  /// A name such as `license_key`: the value is a secret with everything in it, and may be told apart by a digest.
  case modified
  /// The value is a secret, with everything in it.
  case secret

  static func < (one: Suspicion, other: Suspicion) -> Bool { one.rawValue < other.rawValue }

  /// The suspicion for the members of an object with this suspicion: the objects in `tokens` are judged by their own.
  func ofMembers(isElement: Bool) -> Suspicion { self >= .modified ? self : isElement ? .none : min(self, .shape) }

  /// Whether a string with this suspicion is a secret.
  func covers(_ text: [UInt8]) -> Bool {
    switch self {
    case .none: false
    case .shape: text.looksRandom
    case .list:
      text.count >= 5 && text.contains(where: \.isASCIIDigit) && !text.isPlain
        && text.contains { !$0.isASCIIDigit && $0 != UInt8(ascii: ".") } && !text.contains(where: \.isSpace)
    case .secrets, .modified, .secret: !text.isResource
    }
  }

  /// Judges a name by its last word, as in `user_password`. A credential word before it, as in `password_policy`, makes
  /// only random values secret.
  init(ofName name: String) {
    // Digits and combining marks at the end of a word do not matter.
    var words = CredentialNames.words(of: name).compactMap { word in
      word.lastIndex(where: \.isASCIILetter).map { String(decoding: word[...$0], as: UTF8.self) }
    }
    while words.count > 1,
      Self.followers.contains(words[words.count - 1])
        || Self.compounds.contains(words.suffix(2).joined())
    {
      words.removeLast()
    }
    self = .none
    guard let noun = words.last else { return }
    let before = words.dropLast()
    if Self.whole.contains(words.joined()) {
      self = .secret
    } else if let judged = Self.judged(noun, before) {
      self = judged
    } else if noun.hasSuffix("s"), let one = Self.judged(String(noun.dropLast()), before) {
      self = one < .modified || Self.weak.contains { noun.hasSuffix($0) } ? min(one, .list) : .secrets
    } else if before.contains(where: Self.isCredential) || Self.nouns.contains(where: noun.contains) {
      self = .shape
    }
  }

  /// The suspicion of a credential word by the words before it; `nil` for other words.
  private static func judged(_ noun: String, _ before: ArraySlice<String>) -> Suspicion? {
    if noun == "key" {
      let kind = before.last ?? ""
      return secretKeys.contains(kind) ? .modified : otherKeys.contains(kind) ? Suspicion.none : .shape
    }
    guard isCredential(noun) else { return nil }
    if noun == "signature" || noun == "sig" { return .list }
    if noun == "token", before.contains(where: pagination.contains), !before.contains(where: isCredential) {
      return Suspicion.none
    }
    // `forgotPassword` is a text of an app, and `invalid_token` one of a server.
    let isSaid = before.contains {
      verbs.contains($0) || noun.hasPrefix("pass") && ["change", "reset"].contains($0)
    }
    return isSaid ? .shape : .secret
  }

  private static func isCredential(_ word: String) -> Bool {
    singles.contains(word) || nouns.contains(where: word.hasSuffix)
  }

  private static func set(_ words: String) -> Set<String> { Set(words.split(separator: " ").map(String.init)) }

  /// Complete names of credentials.
  private static let whole = set(
    """
    apikey assertion clientassertion codeverifier dbpass devicecode dpop oauthverifier pass samlresponse sid userpass \
    xapikey
    """)
  /// Credential words, also as the end of a longer word: `phpsessid`.
  private static let nouns = set(
    """
    token secret password passwd passphrase passcode pwd jwt csrf xsrf credential authorization signature session sessid \
    sessionid cookie apikey accesskey secretkey privatekey authkey signingkey masterkey encryptionkey accountkey
    """)
  /// Credential words, as complete words only.
  private static let singles = set("auth bearer cred cvc cvv otp pin sig ssn totp")
  /// Plurals of these name things, too, that are no secrets.
  private static let weak = ["tokens", "cookies", "credentials", "creds", "sessions"]
  /// Words that may follow a credential word without changing its meaning.
  private static let followers = set(
    "again base confirm confirmation current digest encrypted hash md new old raw repeat sha string v value verify")
  /// Two words for one credential: the second may be dropped.
  private static let compounds = set("authcode otpcode totpcode secretid sessid sessionid")
  /// Words that make a token one of pagination or of a language model.
  private static let pagination = set(
    "bos cls continuation cursor delta eos mask next pad page prev previous resume sep skip start sync unk")
  private static let verbs = set("enter expired forgot forgotten has invalid missing need needs no required show wrong")
  private static let secretKeys = set(
    """
    access account admin aes api app application auth client consumer decryption deploy encryption functions hmac license \
    master private rapidapi recovery root secret security service session shared signing ssh storage stream subscription
    """)
  private static let otherKeys = set("foreign hash i18n idempotency partition primary public publishable range sort")
}

extension [UInt8] {
  /// Whether it is unlikely to occur by chance, unlike a word such as "password".
  var looksLikeCredential: Bool {
    count >= 8 && !allSatisfy { $0.isASCIILetter || $0.isSpace || $0 >= 0x80 }
      || count >= 20 && allSatisfy(\.isASCIILetter)
  }

  /// Whether at least twelve characters belong to words in which letters and digits, or cases, alternate.
  var looksRandom: Bool {
    guard count >= 12, !contains(where: \.isSpace), !isPlain else { return false }
    let words = split { !$0.isASCIILetter && !$0.isASCIIDigit }
    return words.filter(\.alternates).reduce(0) { $0 + $1.count } >= 12
  }

  /// Whether it is a URL, path, file name, address, time or UUID.
  fileprivate var isPlain: Bool {
    if contains(UInt8(ascii: "@")) || starts(with: "/".utf8) || starts(with: "0x".utf8) || isTimestamp { return true }
    if count == 36 && [8, 13, 18, 23].allSatisfy({ self[$0] == UInt8(ascii: "-") }) { return true }
    if firstRange(of: "://".utf8, from: 0) != nil { return true }
    // photos/2026/IMG_4711.jpg
    guard let dot = lastIndex(of: UInt8(ascii: ".")), 2...5 ~= count - dot - 1 else { return false }
    return self[dot + 1] >= 0x61 && self[(dot + 1)...].allSatisfy { 0x61...0x7A ~= $0 || $0.isASCIIDigit }
  }

  /// Whether it is the identifier of a resource, which some services call `sid`: two capitals and 32 hexadecimal digits.
  fileprivate var isResource: Bool {
    count == 34 && prefix(2).allSatisfy { 0x41...0x5A ~= $0 }
      && dropFirst(2).allSatisfy { $0.isASCIIDigit || 0x61...0x66 ~= $0 }
  }

  /// Whether it is a date, with a time or without (ISO 8601).
  var isTimestamp: Bool {
    count >= 10 && self[4] == UInt8(ascii: "-") && self[7] == UInt8(ascii: "-") && self[..<4].allSatisfy(\.isASCIIDigit)
      && self[4...].allSatisfy { $0.isASCIIDigit || "-+:.TZtz ".utf8.contains($0) }
  }
}

extension ArraySlice<UInt8> {
  /// Whether letters and digits, or upper and lower case, alternate.
  fileprivate var alternates: Bool {
    let kinds = map { $0.isASCIIDigit ? 0 : $0 < 0x60 ? 1 : 2 }
    let turns = zip(kinds, kinds.dropFirst()).count { $0 != $1 && !($0 == 1 && $1 == 2) }
    // Letters alone need many changes of case.
    return kinds.contains(0) ? count >= 5 && turns >= 2 : count >= 16 && turns * 5 >= count
  }
}
