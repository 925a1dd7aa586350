#if InspectorServer && !NO_SERVER
  import WaylayCore

  /// Decides which requests the server accepts.
  ///
  /// A page of another site can make a browser send requests to this machine, by its address or by a name that resolves
  /// to it (DNS rebinding). It cannot set the fields `Host`, `Origin` and `Sec-Fetch-Site` (Fetch, "forbidden
  /// request-header"), and cannot guess the token.
  struct AccessCheck: Sendable {
    /// The parts of a request that the check needs.
    struct Request {
      var method: String
      /// The percent-encoded path, verbatim.
      var path: String
      /// Returns a field by its lowercase name; several fields with the same name are joined by commas.
      var field: (String) -> String?
    }

    let token: String
    let authorities: Set<String>

    init(token: String, port: UInt16) {
      self.token = token
      authorities = ["127.0.0.1:\(port)", "localhost:\(port)"]
    }

    /// Returns the path after the token; `nil` to refuse the request without a reason, which could reveal whether the
    /// token was right.
    func check(_ request: Request) -> String? {
      // The token first: without it, the rest of the request is ignored.
      let path = request.path.utf8
      guard path.first == UInt8(ascii: "/"), path.dropFirst().prefix(token.utf8.count).isSame(as: token.utf8)
      else { return nil }
      let rest = String(Substring(path.dropFirst(1 + token.utf8.count)))
      guard rest.isEmpty || rest.hasPrefix("/") else { return nil }
      guard let host = request.field("host")?.lowercased(), authorities.contains(host) else { return nil }
      if let origin = request.field("origin"), origin.lowercased() != "http://\(host)" { return nil }
      // Any site may link to the page, because such a link contains the token; other cross-site requests are refused.
      let isOpened =
        request.method == "GET" && (rest == "/" || rest.isEmpty) && request.field("sec-fetch-mode") == "navigate"
        && request.field("sec-fetch-dest") == "document"
      if let site = request.field("sec-fetch-site"), site != "same-origin", site != "none", !isOpened {
        return nil
      }
      // Only a page that can set this field may change state: for other origins it needs a CORS preflight, which fails.
      if request.method != "GET", request.field("x-waylay") != "1" { return nil }
      return rest
    }
  }
#endif
