import Foundation

extension InterceptedRequest {
  /// Fields that prove who somebody is.
  private static let credentials = ["authorization", "proxy-authorization", "cookie"]

  /// Why a request must not go the system's way, where no certificate would keep whoever answers from reading it; `nil`
  /// when it may.
  ///
  /// The app has named the host's addresses because it does not trust the network's resolver. A question without a
  /// secret may be put to whoever that names; what the app has to say, and who it is, may not.
  var reasonAgainstSystemFallback: String? {
    guard url.scheme?.lowercased() != "https" else { return nil }
    if !body.isEmpty { return "it has a body, which nothing protects without TLS" }
    let names = fields.map(\.name.canonicalName)
    if let name = names.first(where: Self.credentials.contains) {
      return "it has the field \(name), which nothing protects without TLS"
    }
    if url.user != nil || url.password != nil {
      return "its URL has credentials, which nothing protects without TLS"
    }
    return nil
  }
}
