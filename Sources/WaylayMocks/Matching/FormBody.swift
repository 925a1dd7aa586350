/// A form's body as a value.
enum FormBody {
  /// Decodes a form (`application/x-www-form-urlencoded`).
  static func decode<Value: Decodable>(
    _ type: Value.Type, from body: Data, contentType: String?, _ decoder: JSONDecoder
  ) throws -> Value {
    if let contentType, !contentType.lowercased().hasPrefix("application/x-www-form-urlencoded") {
      throw MockError(.invalidForm, "the body is not a form: its media type is \"\(contentType)\".")
    }
    guard let text = String(data: body, encoding: .utf8) else {
      throw MockError(.invalidForm, "the body is not a form: it is not UTF-8.")
    }
    var fields: [String: Field] = [:]
    for item in QueryItems(text).items { fields[item.name, default: Field()].values.append(item.value ?? "") }
    // A form has texts alone. Where the type wants something else, that is what the text is read as, field by field.
    while true {
      let object = JSONNode(.object(fields.map { JSONNode.Member(name: $0.key, node: $0.value.node) }))
      do { return try decoder.decode(type, from: Data(object.text.utf8)) } catch DecodingError.typeMismatch(
        let wanted, let context)
      {
        guard let name = context.codingPath.first?.stringValue, fields[name]?.readDifferently() == true else {
          throw DecodingError.typeMismatch(wanted, context)
        }
      }
    }
  }

  /// The values of a field, and what they are read as.
  private struct Field {
    private enum Reading { case texts, list, literals, listOfLiterals }

    var values: [String] = []
    private var reading = Reading.texts

    var node: JSONNode {
      let isLiteral = reading == .literals || reading == .listOfLiterals
      let nodes = values.map { isLiteral ? Self.literal($0) : JSONNode(.string($0)) }
      return nodes.count == 1 && (reading == .texts || reading == .literals) ? nodes[0] : JSONNode(.array(nodes))
    }

    /// Goes on to the next way of reading; `false` when there is none.
    mutating func readDifferently() -> Bool {
      switch reading {
      case .texts: reading = .literals
      case .literals: reading = .list
      case .list: reading = .listOfLiterals
      case .listOfLiterals: return false
      }
      return true
    }

    private static func literal(_ text: String) -> JSONNode {
      if let node = try? JSONNode(parsing: text), node.double != nil || node.bool != nil { return node }
      return JSONNode(.string(text))
    }
  }
}

extension MockRequest {
  /// Decodes the body, a form: strings, numbers and Booleans by name, arrays for repeated names.
  ///
  /// ```swift
  /// let login = try request.form(Login.self)
  /// let fields = try request.form([String: String].self)
  /// ```
  ///
  /// - Throws: ``MockError/Code/invalidForm`` for a body of another media type; what the decoder throws.
  public func form<Value: Decodable>(
    _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try FormBody.decode(type, from: body, contentType: header("Content-Type"), decoder)
  }
}

extension RecordedCall {
  /// Decodes the body, a form: strings, numbers and Booleans by name, arrays for repeated names.
  ///
  /// ```swift
  /// let login = try mock.requests(.post, "/login").only().form(Login.self)
  /// ```
  ///
  /// - Throws: ``MockError/Code/invalidForm`` for a body of another media type; what the decoder throws.
  public func form<Value: Decodable>(
    _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try FormBody.decode(type, from: body, contentType: header("Content-Type"), decoder)
  }
}
