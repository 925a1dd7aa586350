/// The one table of names whose values are credentials: of request fields, cookies, items of queries and forms, members
/// of JSON, elements of XML.
///
/// The row of a whole name decides before any other one; of those that a name ends in, the row with the most letters
/// does: `page_token` is harmless, and `page_access_token` a credential. Letter case and punctuation do not count, nor
/// does a number or a version at the end of a name (`X-Hub-Signature-256`, `token_v2`); a plural is another word.
///
/// The rest of a row is for redactions.
package enum CredentialNames {
  /// The kind of the values under a name.
  package enum Kind: Sendable {
    /// A credential, or a private value such as a password, that is the same in each request of a user or an app.
    case stable
    /// A credential that differs in each request: a signature, or a token against forgery or replay.
    case changing
    /// No credential, though the name ends like the one of a credential.
    case harmless
  }

  /// The values that a redaction hides under a name.
  package struct Values: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Also the values of the name's plural.
    package static let plural = Values(rawValue: 1)
    /// Also numbers of JSON.
    package static let numbers = Values(rawValue: 2)
    /// Also values with white space.
    package static let spaces = Values(rawValue: 4)
  }

  /// A row of the table.
  package struct Row: Sendable {
    /// The row as it is written.
    package let name: String
    package let kind: Kind
    package let values: Values

    package init(name: String, kind: Kind, values: Values) {
      (self.name, self.kind, self.values) = (name, kind, values)
    }
  }

  /// Rows with one meaning. They are written as words that end a name, as `= name` for a whole name, as `…word` for a
  /// word that also ends a longer word, and as `x … word` for a word that ends a name beginning with `X-`.
  package struct Group: Sendable {
    package let kind: Kind
    package let values: Values
    package let rows: [String]

    fileprivate init(_ kind: Kind, hides values: Values = [], _ rows: String) {
      self.kind = kind
      self.values = values
      self.rows = rows.split(separator: ",").map { $0.split(separator: " ").joined(separator: " ") }
    }
  }

  /// The table. `Scripts/troubleshooting.py` makes a page of it, so the lines above a group are its heading there.
  package static let table = [
    // Fields of HTTP
    Group(.stable, hides: .spaces, "…authorization, …cookie, authorization auxiliary, x authentication"),
    // Tokens and their equivalents
    Group(
      .stable, hides: .plural,
      """
      …token, tkn, …jwt, auth, bearer, wsse, i planet directory pro, assertion, saml response, …credential, \
      credentials, cred, creds, token value, token hint, app check, client attestation, client principal, \
      oidc data, api cert name, appsecret proof, art api, honeycomb team, ovh application, ovh consumer, auth ticket, \
      login ticket, service ticket, session ticket, = sas
      """),
    // Sessions
    Group(.stable, hides: .plural, "…session, …session id, …sessid, …sess id, = sid, connect sid, x sid"),
    // Secrets and passwords
    Group(
      .stable, hides: [.plural, .numbers],
      """
      …secret, secret id, secret value, …password, …passwd, …passcode, …pwd, pw, = pass, auth pass, db pass, login \
      pass, new pass, old pass, u pass, user pass, x pass, password confirmation, password confirm, password \
      again, password repeat, password hash, password digest, pass key, psk
      """),
    // Private numbers
    Group(
      .stable, hides: [.plural, .numbers, .spaces], "pin, pin number, pin code, puk, ssn, csc, cvc, cvv, card number"),
    // Phrases
    Group(
      .stable, hides: [.plural, .spaces],
      "…passphrase, connection string, mnemonic, recovery phrase, secret phrase, seed phrase"),
    // Keys
    Group(
      .stable, hides: .plural,
      """
      …api key, api key id, …access key, …access key id, …account key, activation key, admin key, aes key, app key, \
      application key, …auth key, auth user key, cipher key, client key, consumer key, crypto key, decryption key, \
      deploy key, dev key, developer key, enc key, …encryption key, fastly key, function key, functions key, hmac key, \
      ingest key, ingestion key, integration key, license key, …master key, merchant key, partner key, \
      …private key, rapidapi key, read key, recovery key, root key, sdk key, …secret key, secret key base, \
      security key, server key, service key, session key, shared key, …signing key, ssh key, storage key, \
      stream key, subscription key, symmetric key, vault key, write key, ws key, x … key
      """),
    // Codes
    Group(
      .stable, hides: [.plural, .numbers],
      """
      access code, auth code, authorization code, backup code, device code, pass code, recovery code, secret code, \
      security code, user code, cvc code, cvv code, code verifier, oauth verifier
      """),
    // Signatures and proofs
    Group(
      .changing,
      """
      …signature, signature ed25519, signature input, sig, = sign, access sign, api sign, x … sign, hmac, \
      hmac sha256, dpop, app attest, attestation pop, device check, token binding, hdnea, hdntl, hdnts
      """),
    // Tokens against forgery and replay
    Group(
      .changing,
      """
      …csrf, …csrf token, csrf middleware token, …xsrf, …xsrf token, xrf key, authenticity token, forgery token, \
      request verification token, = request token, …nonce, captcha token, recaptcha token, turnstile token, \
      jenkins crumb, = crumb
      """),
    // Passwords, codes and tickets for one time
    Group(
      .changing, hides: [.plural, .numbers],
      """
      otp, totp, one time code, one time password, one time token, 2fa code, factor code, login code, mfa code, \
      otp code, oob code, sms code, totp code, verification code, = ticket
      """),
    // Places in a list
    Group(
      .harmless,
      """
      …page token, pagination token, paging token, next token, prev token, previous token, continuation token, \
      cursor token, delta token, resume token, skip token, start token, starting token, sync token, watermark token
      """),
    // Pieces of a text, in language models
    Group(
      .harmless,
      """
      bos token, cls token, eos token, mask token, pad token, sep token, unk token, limit tokens, remaining tokens, \
      reset tokens
      """),
    // Versions, repetitions and traces
    Group(
      .harmless,
      """
      client request token, concurrency token, idempotency token, idempotency key, dedup key, dedupe key, \
      deduplication key, retry key, = x event key, = x message key, lock token, x atlassian token, traceparent, \
      tracestate
      """),
    // Public keys, and keys of databases, caches and queues
    Group(
      .harmless,
      """
      affinity key, axis key, cache key, clustering key, composite key, correlation key, distribution key, \
      foreign key, hash key, i18n key, lookup key, ordering key, partition key, primary key, pub key, public key, \
      publishable key, range key, row key, shard key, sharding key, site key, sort key, surrogate key, \
      websocket key
      """),
    // Other words that end so
    Group(
      .harmless,
      """
      obsession, possession, accept signature, = buy token, = sell token, = x group key, = x object key, \
      = x project key, = x translation key
      """),
  ]

  /// The credential fields that HTTP defines, in lower case: no policy sends them to another origin.
  package static let standard: Set = ["authorization", "cookie", "cookie2", "proxy-authorization"]

  /// The kind of a name; `nil` if the table has no row for it.
  ///
  /// For most names that is a look at their last two letters: nothing is allocated.
  package static func kind(of name: String) -> Kind? {
    name.utf8.withContiguousStorageIfAvailable(index.kind)
      ?? Array(name.utf8).withUnsafeBufferPointer(index.kind)
  }

  /// The row that covers a name, or its singular.
  package static func row(of name: String) -> Row? {
    name.utf8.withContiguousStorageIfAvailable(index.row) ?? Array(name.utf8).withUnsafeBufferPointer(index.row)
  }

  /// Whether the value of a name may be a credential.
  package static func isCredential(_ name: String) -> Bool { kind(of: name).map { $0 != .harmless } ?? false }

  /// A name normalized for comparison: in lower case, without ASCII punctuation and spaces.
  package static func normalized(_ name: String) -> String {
    let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
    return String(decoding: words(of: isASCII ? name : name.lowercased()).joined(), as: UTF8.self)
  }

  /// The words of a name in lower case: of `sort_key`, `sort-key`, `sortKey` and `SORTKey` two.
  package static func words(of name: String) -> [[UInt8]] {
    var words: [[UInt8]] = []
    Array(name.utf8).withUnsafeBufferPointer { name in
      for (index, byte) in name.enumerated() where byte.isOfName {
        if name.beginsWord(at: index) { words.append([]) }
        words[words.count - 1].append(byte.lowercased)
      }
    }
    return words
  }

  private static let index = Index()

  /// How a row covers a name.
  private struct Forms: OptionSet {
    let rawValue: UInt8
    static let whole = Forms(rawValue: 1)
    static let end = Forms(rawValue: 2)
    static let part = Forms(rawValue: 4)
    static let ofX = Forms(rawValue: 8)

    /// The forms of a row, and the words in it.
    static func reading(_ row: String) -> (forms: Forms, words: Substring) {
      if row.hasPrefix("x … ") { return (.ofX, row.dropFirst(4)) }
      if row.hasPrefix("= ") { return (.whole, row.dropFirst(2)) }
      return row.hasPrefix("…") ? ([.end, .part], row.dropFirst()) : (.end, row[...])
    }
  }

  /// The rows by their letters, to be found from the end of a name: hashed, so that a name is compared with a row only
  /// if it ends in it.
  private final class Index: Sendable {
    private struct Entry {
      let letters: [UInt8]
      var forms: Forms
      let row: Row
    }

    private let entries: [Entry]
    /// The rows' indices in a table with open addressing; -1 is free.
    private let slots: [Int16]
    /// Whether a row ends in two letters.
    private let endings: [Bool]
    private let longest: Int

    init() {
      var entries: [Entry] = []
      for group in table {
        for row in group.rows {
          let (forms, words) = Forms.reading(row)
          // A number at the end does not count here either.
          let letters = words.utf8.filter(\.isOfName).reversed().drop(while: \.isASCIIDigit)
          if let known = entries.firstIndex(where: { $0.letters == Array(letters) }) {
            entries[known].forms.formUnion(forms)
          } else {
            let row = Row(name: row, kind: group.kind, values: group.values)
            entries.append(Entry(letters: Array(letters), forms: forms, row: row))
          }
        }
      }
      var (slots, endings) = ([Int16](repeating: -1, count: 1024), [Bool](repeating: false, count: 26 * 26))
      for (number, row) in entries.enumerated() {
        endings[Self.ending(row.letters[1], row.letters[0])] = true
        var slot = Self.slot(row.letters.reduce(0, Self.hash))
        while slots[slot] >= 0 { slot = (slot + 1) & 1023 }
        slots[slot] = Int16(number)
      }
      (self.entries, self.slots, self.endings) = (entries, slots, endings)
      longest = entries.map(\.letters.count).max() ?? 0
    }

    private static func ending(_ one: UInt8, _ two: UInt8) -> Int {
      Int(one.lowercased - 0x61) * 26 + Int(two.lowercased - 0x61)
    }

    private static func hash(_ hash: UInt32, _ byte: UInt8) -> UInt32 { (hash ^ UInt32(byte)) &* 0x9E37_79B1 }
    private static func slot(_ hash: UInt32) -> Int { Int(hash >> 22) }

    func kind(of name: UnsafeBufferPointer<UInt8>) -> Kind? { entry(of: name).map { entries[$0].row.kind } }

    /// The row of a name, or if it has none, of its singular.
    func row(of name: UnsafeBufferPointer<UInt8>) -> Row? {
      if let entry = entry(of: name) { return entries[entry].row }
      guard let last = name.lastIndex(where: \.isASCIILetter), last > 0, name[last].lowercased == UInt8(ascii: "s"),
        let row = entry(of: UnsafeBufferPointer(rebasing: name[..<last])).map({ entries[$0].row }),
        row.values.contains(.plural)
      else { return nil }
      return Row(name: row.name, kind: row.kind, values: row.values.subtracting(.numbers))
    }

    /// The index of the entry for a name.
    private func entry(of name: UnsafeBufferPointer<UInt8>) -> Int? {
      guard var last = name.lastIndex(where: \.isASCIILetter) else { return nil }
      if name[last].lowercased == UInt8(ascii: "v"), last + 1 < name.count, name[last + 1].isASCIIDigit,
        name.beginsWord(at: last), let before = name[..<last].lastIndex(where: \.isASCIILetter)
      {
        last = before
      }
      if last > 0, name[last - 1].isASCIILetter, !endings[Self.ending(name[last - 1], name[last])] { return nil }
      var (hash, count, isInLast, found) = (UInt32(0), 0, true, Int?.none)
      for index in (0...last).reversed() where name[index].isOfName {
        (hash, count) = (Self.hash(hash, name[index].lowercased), count + 1)
        if count > longest { break }
        let begins = name.beginsWord(at: index)
        if begins || isInLast, let entry = entry(hash, count, name[...last]) {
          let forms = entries[entry].forms
          if forms.contains(.whole), !name[..<index].contains(where: \.isOfName) { return entry }
          let covers =
            begins && forms.contains(.end) || isInLast && forms.contains(.part)
            || begins && isInLast && forms.contains(.ofX) && name[..<index].beginsWithX
          if covers { found = entry }
        }
        if begins { isInLast = false }
      }
      return found
    }

    /// The index of the entry with the last letters of a name.
    private func entry(_ hash: UInt32, _ count: Int, _ name: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
      var slot = Self.slot(hash)
      while slots[slot] >= 0 {
        let entry = Int(slots[slot])
        let letters = name.reversed().lazy.filter(\.isOfName).map(\.lowercased)
        if entries[entry].letters.count == count, letters.starts(with: entries[entry].letters) { return entry }
        slot = (slot + 1) & 1023
      }
      return nil
    }
  }
}

extension UInt8 {
  /// Whether the byte is a letter or a digit; beyond ASCII, all are letters.
  fileprivate var isOfName: Bool { isASCIILetter || isASCIIDigit || self >= 0x80 }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
  /// Whether the first word is `X`.
  fileprivate var beginsWithX: Bool {
    guard let first = firstIndex(where: \.isOfName), first + 1 < endIndex else { return false }
    return self[first].lowercased == UInt8(ascii: "x") && !self[first + 1].isOfName
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether a word of the name begins at a letter or digit: after punctuation, and at a capital that is not the next one
  /// of several or that two small letters follow.
  fileprivate func beginsWord(at index: Int) -> Bool {
    guard index > 0, self[index - 1].isOfName else { return true }
    guard 0x41...0x5A ~= self[index] else { return false }
    return !(0x41...0x5A ~= self[index - 1])
      || index + 2 < count && 0x61...0x7A ~= self[index + 1] && 0x61...0x7A ~= self[index + 2]
  }
}
