/// The one list of names whose values are credentials.
///
/// Its parts are whole names of request fields, in lower case, by which an archive tells users apart and a redirect to
/// another origin withholds fields, and ``Suspicion``, which judges any name by its words. Letter case and punctuation
/// do not matter to words.
package enum CredentialNames {
  /// The fields that HTTP defines.
  package static let standard: Set = ["authorization", "cookie", "cookie2", "proxy-authorization"]
  /// The fields of common APIs whose values stay the same for a user.
  package static let custom = Suspicion.set(
    """
    access-token api-key api-token apikey auth-token cf-access-client-secret cf-access-jwt-assertion cf-access-token \
    circle-token dd-api-key dd-application-key deploy-token job-token ocp-apim-subscription-key private-token \
    session-token x-access-key x-access-token x-algolia-api-key x-amz-security-token x-amzn-oidc-accesstoken \
    x-api-key x-api-secret x-api-token x-apikey x-app-token x-auth x-auth-key x-auth-token x-authorization \
    x-client-secret x-consul-token x-emby-token x-figma-token x-forwarded-access-token x-functions-key \
    x-gitlab-token x-goog-api-key x-hasura-admin-secret x-id-token x-jwt-assertion x-master-key \
    x-parse-session-token x-plex-token x-rapidapi-key x-refresh-token x-secret-key x-session-id x-session-key \
    x-session-token x-shopify-access-token x-subscription-token x-token x-user-token x-vault-token
    """)
  /// The fields whose values change with each request: as a part of a key, they would keep any stored response from
  /// being found.
  package static let changing = Suspicion.set(
    """
    csrf-token dpop signature signature-input x-amz-signature x-csrf-token x-csrftoken x-hub-signature \
    x-hub-signature-256 x-request-signature x-signature x-xsrf-token
    """)

  package static func isCustom(_ name: String) -> Bool { custom.contains(name) || changing.contains(name) }

  /// Whether a field, an item of a query or a form, a member of JSON or an element of XML may carry a credential.
  package static func isCredential(_ name: String) -> Bool {
    let suspicion = Suspicion(ofName: name)
    return suspicion != .none && (suspicion != .list || isChanging(name))
  }

  /// Whether the value of a credential changes with each request: a signature, or a token against forgery.
  package static func isChanging(_ name: String) -> Bool {
    words(of: name).contains { changingWords.contains($0) }
  }

  private static let changingWords = Set(
    "authenticity csrf csrfmiddlewaretoken csrftoken dpop nonce sig signature xsrf".utf8.split(separator: 0x20)
      .map { Array($0) })

  /// A name normalized for comparison: in lower case, without ASCII punctuation and spaces.
  package static func normalized(_ name: String) -> String {
    let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
    return String(decoding: words(of: isASCII ? name : name.lowercased()).joined(), as: UTF8.self)
  }

  /// The words of a name in lower case: of `sort_key`, `sort-key` and `sortKey` two.
  package static func words(of name: String) -> [[UInt8]] {
    var (words, begins, wasLower) = ([[UInt8]](), true, false)
    for byte in name.utf8 {
      let isUpper = 0x41...0x5A ~= byte
      guard byte.isASCIILetter || byte.isASCIIDigit || byte >= 0x80 else {
        begins = true
        continue
      }
      if begins || wasLower && isUpper { words.append([]) }
      words[words.count - 1].append(byte.lowercased)
      (begins, wasLower) = (false, !isUpper)
    }
    return words
  }
}

/// How strongly a name suggests that its value is a secret.
package enum Suspicion: Int, Comparable, Sendable {
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

  package static func < (one: Suspicion, other: Suspicion) -> Bool { one.rawValue < other.rawValue }

  /// Judges a name by its last word, as in `user_password`. A credential word before it, as in `password_policy`, makes
  /// only random values secret.
  package init(ofName name: String) {
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
    let plain = name.lowercased()
    self = CredentialNames.custom.contains(plain) ? .modified : CredentialNames.changing.contains(plain) ? .list : .none
    guard let noun = words.last, noun != "type" else { return }
    let before = words.dropLast()
    if Self.whole.contains(words.joined()) {
      self = .secret
    } else if let judged = Self.judged(noun, before) {
      self = max(self, judged)
    } else if noun.hasSuffix("s"), let one = Self.judged(String(noun.dropLast()), before) {
      self = one < .modified || Self.weak.contains { noun.hasSuffix($0) } ? min(one, .list) : .secrets
    } else if before.contains(where: Self.isCredential) || Self.nouns.contains(where: noun.contains) {
      self = max(self, .shape)
    }
  }

  /// The suspicion of a credential word by the words before it; `nil` for other words.
  private static func judged(_ noun: String, _ before: ArraySlice<String>) -> Suspicion? {
    if noun == "key" {
      let kind = before.last ?? ""
      return secretKeys.contains(kind) ? .modified : otherKeys.contains(kind) ? Suspicion.none : .shape
    }
    if noun == "code", before.last.map(codeKinds.contains) == true { return .secret }
    guard isCredential(noun) else { return nil }
    if ["hmac", "sig", "signature"].contains(noun) { return .list }
    let isOfPage = noun.hasSuffix("token") && (before + [String(noun.dropLast(5))]).contains(where: pagination.contains)
    if isOfPage, !before.contains(where: isCredential) { return Suspicion.none }
    // `forgotPassword` names a text of an app, and `invalid_token` an error of a server.
    let isSaid = before.contains {
      verbs.contains($0) || noun.hasPrefix("pass") && ["change", "reset"].contains($0)
    }
    return isSaid ? .shape : .secret
  }

  private static func isCredential(_ word: String) -> Bool {
    singles.contains(word) || !["obsession", "possession"].contains(word) && nouns.contains(where: word.hasSuffix)
  }

  package static func set(_ words: String) -> Set<String> { Set(words.split(separator: " ").map(String.init)) }

  /// Complete names of credentials.
  private static let whole = set(
    """
    accesskeyid apikey assertion awsaccesskeyid clientassertion codeverifier dbpass devicecode dpop loginpass newpass \
    oauthverifier oldpass onetimecode pass pinnumber samlassertion samlresponse seedphrase sid upass userpass xapikey
    """)
  /// Credential words, also as the end of a longer word: `phpsessid`.
  private static let nouns = set(
    """
    token secret password passwd passphrase passcode pwd jwt csrf xsrf credential authorization signature session sessid \
    sessionid cookie apikey accesskey secretkey privatekey authkey signingkey masterkey encryptionkey accountkey
    """)
  /// Credential words, as complete words only.
  private static let singles = set("auth bearer cred csc cvc cvv hmac mnemonic otp pin psk pw puk sig ssn tkn totp")
  /// Words whose plurals also name things that are not secrets.
  private static let weak = ["tokens", "cookies", "credentials", "creds", "sessions"]
  /// Words before `code` that make it a credential.
  private static let codeKinds = set(
    "access auth backup factor mfa otp pass recovery secret security sms totp verification")
  /// Words that may follow a credential word without changing its meaning.
  private static let followers = set(
    """
    again base cleartext confirm confirmation current digest encrypted hash input md new old plain raw repeat sha string \
    v value verification verify
    """)
  /// Two words for one credential: the second may be dropped.
  private static let compounds = set("secretid sessid sessionid")
  /// Words that make a token one of pagination or of a language model.
  private static let pagination = set(
    "bos cls continuation cursor delta eos mask next pad page prev previous resume sep skip start sync unk watermark")
  private static let verbs = set(
    "by enter expired forgot forgotten has invalid missing need needs no required show wrong")
  private static let secretKeys = set(
    """
    access account admin aes api app application auth client consumer decryption deploy enc encryption functions hmac \
    license master private rapidapi recovery root secret security service session shared signing ssh storage stream \
    subscription
    """)
  private static let otherKeys = set(
    "foreign hash i18n idempotency partition primary pub public publishable range sort websocket")
}
