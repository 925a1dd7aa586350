import WaylayCore

/// The attributes of a request by OpenTelemetry's HTTP conventions, for spans and metrics.
enum TrafficFacts {
  typealias Attribute = (key: String, value: Value)

  enum Value {
    case text(String)
    case number(Int)

    var text: String {
      switch self {
      case .text(let text): text
      case .number(let number): "\(number)"
      }
    }
  }

  /// Unknown methods share one name: their number is unlimited.
  static func spanName(of request: InterceptedRequest) -> String {
    let method = request.method.rawValue
    return methods.contains(method) ? method : "HTTP"
  }

  static func attributes(of request: InterceptedRequest) -> [Attribute] {
    let (method, url) = (request.method.rawValue, request.url)
    return [
      ("http.request.method", .text(methods.contains(method) ? method : "_OTHER")),
      ("server.address", .text(url.host ?? "")), ("server.port", .number(url.authority.port)),
    ]
  }

  /// - Parameter withPeer: Whether to include the connected address, which would split metrics by address.
  static func attributes(of response: InterceptedResponse, withPeer: Bool) -> [Attribute] {
    let code = response.status.code
    var attributes: [Attribute] = [("http.response.status_code", .number(code))]
    if code >= 400 { attributes.append(("error.type", .text("\(code)"))) }
    if let metrics = response.metrics {
      if let name = metrics.protocolName {
        attributes.append(("network.protocol.version", .text(name == "h2" ? "2" : name.replacing("http/", with: ""))))
      }
      if withPeer, let address = metrics.address, let colon = address.lastIndex(of: ":") {
        let host = address[..<colon].trimmingPrefix("[")
        attributes.append(("network.peer.address", .text(String(host.last == "]" ? host.dropLast() : host))))
        if let port = Int(address[address.index(after: colon)...]) {
          attributes.append(("network.peer.port", .number(port)))
        }
      }
    }
    return attributes
  }

  /// A low-cardinality name for the kind of failure.
  static func type(of error: any Error) -> String {
    switch error {
    case let error as TransportError: error.code.description
    case let error as WaylayError: error.code.description
    case let error as URLError: error.loadError.map { type(of: $0) } ?? "URLError.\(error.code.rawValue)"
    case is CancellationError: "cancelled"
    default: String(describing: Swift.type(of: error))
    }
  }

  static let methods: Set<String> = [
    "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
  ]
}
