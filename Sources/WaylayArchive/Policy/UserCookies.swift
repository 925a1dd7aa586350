/// The cookies of a request that identify its user.
///
/// Responses for one user only (`private`, and others that nobody may reuse without validation) are bound to these
/// cookies: a request with other cookies does not get such a response before the origin has validated it. Cookies that
/// count visits, balance load or detect bots change all the time and do not identify anybody.
///
/// ```swift
/// configuration.userCookies = .only(["session"])
/// configuration.userCookies = .all(except: ["visit_*"])
/// ```
public struct UserCookies: Hashable, Sendable {
  private var names: [String]
  private var isInverted: Bool

  /// All cookies except the named ones and those that well-known services use for other purposes. A trailing `*`
  /// matches any suffix.
  ///
  /// - Parameter names: Names of cookies, case-sensitive.
  public static func all(except names: [String] = []) -> UserCookies {
    UserCookies(names: names + wellKnown, isInverted: true)
  }

  /// The named cookies only. A trailing `*` matches any suffix.
  public static func only(_ names: [String]) -> UserCookies { UserCookies(names: names, isInverted: false) }

  /// No cookies: the app has one user, or identifies users in ``ArchiveCache/Configuration/partition``.
  public static let none = UserCookies(names: [], isInverted: false)

  private init(names: [String], isInverted: Bool) {
    self.names = names
    self.isInverted = isInverted
  }

  /// Measuring, advertising, load balancing and protection from robots.
  private static let wellKnown = [
    "_ga", "_ga_*", "_gid", "_gat", "_gat_*", "_gcl_*", "__gads", "__gpi", "__utm*", "_fbp", "_fbc", "_hj*", "_pk_*",
    "_uet*", "_clck",
    "_clsk", "mp_*", "ajs_*", "amplitude_*", "AMP_*", "optimizely*", "__hs*", "hubspotutk", "AWSALB", "AWSALBCORS",
    "AWSALBTG",
    "AWSALBTGCORS", "AWSELB", "AWSELBCORS", "ARRAffinity", "ARRAffinitySameSite", "BIGipServer*", "__cf_bm", "__cflb",
    "_cfuvid",
    "cf_clearance", "ak_bmsc", "bm_sv", "bm_sz", "bm_mi", "_abck", "incap_ses_*", "visid_incap_*", "nlbi_*", "datadome",
  ]

  /// Whether a cookie of that name says who the user is.
  func counts(_ name: some StringProtocol) -> Bool {
    names.contains { $0.hasSuffix("*") ? name.hasPrefix($0.dropLast()) : name == $0 } != isInverted
  }

  /// The cookies of a `Cookie` field that count, in one order; empty where there is none.
  func identity(of field: String?) -> [UInt8] {
    guard let field else { return [] }
    let pairs = field.split(separator: ";").compactMap { pair -> [UInt8]? in
      let bytes = FieldBytes.trimmed(Array(pair.utf8)[...])
      guard !bytes.isEmpty, counts(String(decoding: bytes.prefix { $0 != FieldBytes.equals }, as: UTF8.self)) else {
        return nil
      }
      return Array(bytes)
    }
    return Array(pairs.sorted { $0.lexicographicallyPrecedes($1) }.joined(separator: [UInt8(ascii: ";")]))
  }

  /// Whether an answer sets a cookie that counts.
  func isSet(by fields: HTTPFields) -> Bool {
    fields.contains { field in
      field.name == .setCookie
        && counts(String(decoding: field.value.utf8.prefix { $0 != FieldBytes.equals }, as: UTF8.self))
    }
  }
}
