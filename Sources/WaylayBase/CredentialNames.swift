/// The names whose values are credentials: the wide list, for redaction, for credentials that interceptors add on a
/// redirect to another origin and for connections without authentication. Whole names of fields are in `CredentialFields`.
///
/// A name is recognized as a whole (`Cookie`), by a part of it (`X-Auth-Token`, `refreshToken`), or by one of
/// its words (`user_pin`). Letter case and punctuation do not matter.
package enum CredentialNames {
  /// Whether a header field of that name carries a credential.
  package static func isField(_ name: String) -> Bool { isCredential(name, or: fields) }

  /// Whether an item of a query or a form, a member of JSON or an element of XML of that name carries a credential.
  package static func isParameter(_ name: String) -> Bool { isCredential(name, or: parameters) }

  /// Whether the value of a credential of that name changes with each request: a signature, or a token against forgery.
  package static func isChanging(_ name: String) -> Bool { words(of: name).contains(where: changing.contains) }

  /// A name as it is compared: in lower case, without ASCII punctuation and spaces.
  package static func normalized(_ name: String) -> String {
    let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
    return String(decoding: letters(of: isASCII ? name : name.lowercased()).bytes, as: UTF8.self)
  }

  private static let fields: Set<[UInt8]> = set("cookie", "cookie2", "dpop", "setcookie", "setcookie2", "sid")
  /// The parameters, which include the fields: archives and logs list fields as items, too.
  private static let parameters = fields.union(
    set("assertion", "clientassertion", "codeverifier", "devicecode", "oauthverifier", "pass", "samlresponse"))
  /// Names without credentials that contain one of the fragments or words below.
  private static let harmless: Set<[UInt8]> = set(
    "cachedtokens", "completiontokens", "idempotencykey", "inputtokens", "maxcompletiontokens", "maxoutputtokens",
    "maxtokens", "outputtokens", "prompttokens", "reasoningtokens", "tokens", "tokentype", "totaltokens")
  /// Parts that mark a name as a credential at any place.
  private static let fragments = [
    "accesskey", "apikey", "authorization", "credential", "csrf", "jwt", "passcode", "passphrase", "passwd", "password",
    "privatekey", "pwd", "secret", "sessid", "session", "signature", "token", "xsrf",
  ].map { Array($0.utf8) }
  /// Words that mark a name as a credential, as in `user_pin`, `userPin` and `user[pin]`.
  private static let words: Set<[UInt8]> = set("auth", "bearer", "cvc", "cvv", "otp", "pin", "sig", "ssn", "totp")
  private static let changing: Set<[UInt8]> = set(
    "authenticity", "csrf", "csrfmiddlewaretoken", "csrftoken", "dpop", "nonce", "sig", "signature", "xsrf")
  private static let key = Array("key".utf8)

  private static func set(_ names: String...) -> Set<[UInt8]> { Set(names.map { Array($0.utf8) }) }

  private static func isCredential(_ name: String, or others: Set<[UInt8]>) -> Bool {
    let letters = letters(of: name)
    let bytes = letters.bytes
    guard !bytes.isEmpty, !harmless.contains(bytes) else { return false }
    if others.contains(bytes) { return true }
    // By bytes: a mark on the last letter would hide a fragment from a search by characters.
    for index in bytes.indices
    where fragments.contains(where: { $0[0] == bytes[index] && bytes[index...].starts(with: $0) }) { return true }
    let words = words(of: letters)
    return words.last == key || words.contains(where: Self.words.contains)
  }

  /// The words of a name in lower case: of `sort_key`, `sort-key` and `sortKey` two.
  package static func words(of name: String) -> [[UInt8]] { words(of: letters(of: name)) }

  private static func words(of letters: (bytes: [UInt8], starts: [Int])) -> [[UInt8]] {
    zip(letters.starts, letters.starts.dropFirst() + [letters.bytes.count]).map { Array(letters.bytes[$0..<$1]) }
  }

  /// The letters and digits of a name, those of ASCII in lower case, and where its words begin: of `sort_key`,
  /// `sort-key` and `sortKey` two.
  private static func letters(of name: String) -> (bytes: [UInt8], starts: [Int]) {
    var (bytes, starts): ([UInt8], [Int]) = ([], [])
    bytes.reserveCapacity(name.utf8.count)
    var (begins, wasLower) = (true, false)
    for byte in name.utf8 {
      let isUpper = (0x41...0x5A).contains(byte)
      guard isUpper || (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte >= 0x80 else {
        begins = true
        continue
      }
      if begins || wasLower && isUpper { starts.append(bytes.count) }
      bytes.append(isUpper ? byte | 0x20 : byte)
      (begins, wasLower) = (false, !isUpper)
    }
    return (bytes, starts)
  }
}
