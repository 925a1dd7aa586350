import Foundation

/// The realm of an origin that a credential is for (RFC 9110, section 11.5), by value.
///
/// `URLProtectionSpace` compares by identity on Linux, so a storage there finds nothing by a space that describes the
/// same realm: whoever looks goes through what is there.
struct ProtectionSpace: Hashable, Sendable {
  let host: String
  let port: Int
  let isTLS: Bool
  let realm: String?
  private let isDigest: Bool

  /// The space of a Basic or Digest challenge.
  init(_ challenge: HTTPChallenge, at url: URL) {
    isTLS = url.scheme?.lowercased() == "https"
    host = (url.host ?? "").lowercased()
    port = url.portOrDefault ?? 80
    realm = challenge.realm
    isDigest = challenge.scheme == "digest"
  }

  private var method: String { isDigest ? NSURLAuthenticationMethodHTTPDigest : NSURLAuthenticationMethodHTTPBasic }

  /// The same as an object.
  var object: URLProtectionSpace {
    URLProtectionSpace(
      host: host, port: port, protocol: isTLS ? NSURLProtectionSpaceHTTPS : NSURLProtectionSpaceHTTP, realm: realm,
      authenticationMethod: method)
  }

  private func isDescribed(by other: URLProtectionSpace) -> Bool {
    !other.isProxy() && other.host.lowercased() == host && other.port == port && other.realm == realm
      // Apps write the constant or the scheme.
      && [isTLS ? NSURLProtectionSpaceHTTPS : NSURLProtectionSpaceHTTP, isTLS ? "https" : "http"].contains(
        other.protocol ?? "")
      && [method, NSURLAuthenticationMethodDefault].contains(other.authenticationMethod)
  }

  /// The credential of a storage for this space: the default one, or the only one.
  func credential(in storage: URLCredentialStorage) -> URLCredential? {
    let stored = storage.allCredentials.filter { isDescribed(by: $0.key) }
    if let chosen = stored.keys.lazy.compactMap({ storage.defaultCredential(for: $0) }).first { return chosen }
    let all = stored.values.flatMap(\.values)
    return all.count == 1 ? all[0] : nil
  }

  /// Keeps a credential beside the others of this space.
  func keep(_ credential: URLCredential, in storage: URLCredentialStorage) {
    storage.set(credential, for: storage.allCredentials.keys.first(where: isDescribed) ?? object)
  }
}
