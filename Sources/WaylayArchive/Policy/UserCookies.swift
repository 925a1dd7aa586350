/// Which cookies of a request say who its user is.
///
/// What an answer says for one user alone (`private`, and what else is for nobody to reuse unasked) is bound to these
/// cookies: a request with others does not get it before the origin has confirmed it. Cookies that count visits,
/// balance load or tell robots from people change all the time and say nothing of the kind.
///
/// ```swift
/// configuration.userCookies = .only(["session"])
/// configuration.userCookies = .all(except: ["visit_*"])
/// ```
public struct UserCookies: Hashable, Sendable {
  private var names: [String]
  private var isInverted: Bool

  /// All but the named ones, and but those that well-known services use for other things than users. A `*` at the end
  /// stands for any rest.
  ///
  /// - Parameter names: Names of cookies, in the letter case in which they are sent.
  public static func all(except names: [String] = []) -> UserCookies {
    UserCookies(names: names + wellKnown, isInverted: true)
  }

  /// The named ones alone. A `*` at the end stands for any rest.
  public static func only(_ names: [String]) -> UserCookies { UserCookies(names: names, isInverted: false) }

  /// None: the app has one user, or says in ``ArchiveCache/Configuration/partition`` who it is.
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
