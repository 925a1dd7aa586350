#if InspectorServer
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

    enum Verdict: Equatable {
      /// The path after the token.
      case allowed(String)
      /// Not of this page: nothing is said, least of all whether the token was right.
      case refused
    }

    let token: String
    let authorities: Set<String>

    init(token: String = Self.newToken(), port: UInt16) {
      self.token = token
      authorities = ["127.0.0.1:\(port)", "localhost:\(port)"]
    }

    func check(_ request: Request) -> Verdict {
      // The token first: without it, nothing else is looked at.
      let path = request.path.utf8
      guard path.first == UInt8(ascii: "/"), Self.isSame(path.dropFirst().prefix(token.utf8.count), token.utf8)
      else { return .refused }
      let rest = String(Substring(path.dropFirst(1 + token.utf8.count)))
      guard rest.isEmpty || rest.hasPrefix("/") else { return .refused }
      guard let host = request.field("host")?.lowercased(), authorities.contains(host) else { return .refused }
      if let origin = request.field("origin"), origin.lowercased() != "http://\(host)" { return .refused }
      // A link may lead to the page from anywhere, and who follows it has the token; nothing else is for other sites.
      let isOpened =
        request.method == "GET" && (rest == "/" || rest.isEmpty) && request.field("sec-fetch-mode") == "navigate"
        && request.field("sec-fetch-dest") == "document"
      if let site = request.field("sec-fetch-site"), site != "same-origin", site != "none", !isOpened {
        return .refused
      }
      // Only a page that may add this field to a request, which other origins have to ask for and are not granted,
      // changes anything.
      if request.method != "GET", request.field("x-waylay") != "1" { return .refused }
      return .allowed(rest)
    }

    /// Compares in a time that says nothing of where two texts of one length differ.
    static func isSame(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool {
      guard one.count == other.count else { return false }
      return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// 128 bits of the system's random numbers.
    static func newToken() -> String {
      var random = SystemRandomNumberGenerator()
      let digits = (0..<2).map { _ in
        let text = String(random.next() as UInt64, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
      }
      return digits.joined()
    }
  }
#endif
