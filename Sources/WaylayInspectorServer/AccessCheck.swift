#if InspectorServer
  import WaylayCore

  /// Decides which requests the server accepts.
  ///
  /// A page of another site can make a browser send requests to this machine, by its address or by a name of its own that
  /// leads here (DNS rebinding). What it cannot do is choose the fields `Host`, `Origin` and `Sec-Fetch-Site` (Fetch,
  /// "forbidden request-header"), or guess the token.
  struct AccessCheck: Sendable {
    /// What is known of a request before it is accepted.
    struct Request {
      var method: String
      /// The path as it was sent, percent-encoded.
      var path: String
      /// A field by its name in small letters; several of one name with commas between them.
      var field: (String) -> String?
    }

    let token: String
    let authorities: Set<String>

    init(token: String = Self.newToken(), port: UInt16) {
      self.token = token
      authorities = ["127.0.0.1:\(port)", "localhost:\(port)"]
    }

    /// The path after the token; `nil` for a request that is not of this page: nothing is said then, least of all whether
    /// the token was right.
    func check(_ request: Request) -> String? {
      // The token first: without it, nothing else is looked at.
      let path = request.path.utf8
      guard path.first == UInt8(ascii: "/"), Self.isSame(path.dropFirst().prefix(token.utf8.count), token.utf8)
      else { return nil }
      let rest = String(Substring(path.dropFirst(1 + token.utf8.count)))
      guard rest.isEmpty || rest.hasPrefix("/") else { return nil }
      guard let host = request.field("host")?.lowercased(), authorities.contains(host) else { return nil }
      if let origin = request.field("origin"), origin.lowercased() != "http://\(host)" { return nil }
      // A link may lead to the page from anywhere, and who follows it has the token; nothing else is for other sites.
      let isOpened =
        request.method == "GET" && (rest == "/" || rest.isEmpty) && request.field("sec-fetch-mode") == "navigate"
        && request.field("sec-fetch-dest") == "document"
      if let site = request.field("sec-fetch-site"), site != "same-origin", site != "none", !isOpened {
        return nil
      }
      // Only a page that may add this field to a request, which other origins have to ask for and are not granted,
      // changes anything.
      if request.method != "GET", request.field("x-waylay") != "1" { return nil }
      return rest
    }

    /// Compares in a time that says nothing of where two texts of one length differ.
    static func isSame(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool {
      guard one.count == other.count else { return false }
      return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// 128 bits of the system's random numbers.
    static func newToken() -> String { (0..<16).map { _ in UInt8.random(in: 0...255) }.hexadecimal }
  }
#endif
