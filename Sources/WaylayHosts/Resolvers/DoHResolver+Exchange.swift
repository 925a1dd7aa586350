extension DoHResolver {
  /// One question, one answer.
  func exchange(_ question: DNSQuestion) async throws -> DNSAnswer {
    let (body, response) = try await loader.load(request(for: question))
    let mediaType = response.fields[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased() ?? ""
    guard response.status == .ok, Self.mediaTypes(of: options.method).contains(mediaType) else {
      throw HostError(
        .resolverFailed,
        "\(name) answered \(response.status.code) with the type \"\(mediaType)\" instead of a DNS message.",
        host: question.name.description)
    }
    let message = options.method == .json ? try DNSMessage(json: body, question) : try DNSMessage(decoding: Array(body))
    var answer = try DNSAnswer(to: question, in: message)
    // What a cache between has kept has used up some of its time (RFC 8484, section 5.1).
    let age = response.fields[.age].flatMap { UInt32($0) } ?? 0
    answer.timeToLive = answer.timeToLive > age ? answer.timeToLive - age : 0
    return answer
  }

  private static func mediaTypes(of method: Method) -> [String] {
    method == .json ? ["application/dns-json", "application/json"] : ["application/dns-message"]
  }

  private func request(for question: DNSQuestion) throws -> URLRequest {
    var items: [(name: String, value: String)] = []
    var body: Data?
    switch options.method {
    case .json:
      items = [("name", question.name.description), ("type", String(question.type.rawValue))]
      // A name has at most 253 characters: with the padding every question has the same length.
      if options.isPadded {
        items.append(("random_padding", String(repeating: "0", count: max(0, 256 - question.name.wire.count))))
      }
    default:
      let message = Data(try DNSMessage.query(question.name, question.type, isPadded: options.isPadded))
      if options.method == .post { body = message } else { items = [("dns", message.base64URL)] }
    }
    var request = URLRequest(url: try url(with: items))
    request.setValue(Self.mediaTypes(of: options.method)[0], forHTTPHeaderField: "Accept")
    if let body {
      request.httpMethod = "POST"
      request.setValue("application/dns-message", forHTTPHeaderField: "Content-Type")
      request.httpBody = body
    }
    return request
  }

  private func url(with items: [(name: String, value: String)]) throws -> URL {
    var text = url.absoluteString
    for template in ["{?dns}", "%7B?dns%7D", "%7B%3Fdns%7D"] where text.hasSuffix(template) {
      text.removeLast(template.count)
    }
    // Names and values hold letters, digits, hyphens, underscores and dots only.
    let query = items.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    if !query.isEmpty { text += (text.contains("?") ? "&" : "?") + query }
    guard let url = URL(string: text) else {
      throw HostError(.invalidResolver, "\"\(text)\" is not a URL: check the one that \(name) was made with.")
    }
    return url
  }
}

extension Data {
  /// Base64 with the alphabet for URLs and without padding (RFC 4648, section 5).
  fileprivate var base64URL: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
