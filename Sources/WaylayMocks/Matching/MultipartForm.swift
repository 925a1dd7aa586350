/// A parsed multipart body (RFC 7578, RFC 2046 section 5.1), independent of its boundary.
public enum MultipartForm {
  /// One part of a form.
  public struct Part: Sendable, Hashable {
    /// The field's name.
    public let name: String
    /// The file name, if the part is a file.
    public let filename: String?
    /// The media type, if the part states one.
    public let contentType: String?
    /// The bytes.
    public let body: Data

    /// Makes a part.
    public init(name: String, filename: String? = nil, contentType: String? = nil, body: Data) {
      self.name = name
      self.filename = filename
      self.contentType = contentType
      self.body = body
    }

    /// Makes a text field.
    public static func field(_ name: String, _ value: String) -> Part { Part(name: name, body: Data(value.utf8)) }
  }

  /// The parts of a body; `nil` when `type` is no multipart type, or the body is not what it says.
  static func parts(of body: Data, type: String) -> [Part]? {
    guard type.lowercased().hasPrefix("multipart/"), let boundary = parameter("boundary", of: type), !boundary.isEmpty
    else { return nil }
    let marker = Data("--\(boundary)".utf8)
    guard var start = body.range(of: marker)?.upperBound else { return nil }
    var parts: [Part] = []
    while true {
      let rest = body[start...]
      if rest.starts(with: Data("--".utf8)) { return parts }
      guard let lineEnd = rest.range(of: Data("\r\n".utf8)),
        let next = body.range(of: Data("\r\n".utf8) + marker, in: start..<body.endIndex)
      else { return nil }
      // A part without a header begins at once with the empty line.
      guard lineEnd.upperBound <= next.lowerBound || lineEnd.lowerBound == next.lowerBound else { return nil }
      if lineEnd.lowerBound < next.lowerBound { parts.append(part(body[lineEnd.upperBound..<next.lowerBound])) }
      start = next.upperBound
    }
  }

  private static func part(_ bytes: Data) -> Part {
    let blank = Data("\r\n\r\n".utf8)
    let head: Data
    let body: Data
    if let end = bytes.range(of: blank) {
      (head, body) = (bytes[..<end.lowerBound], bytes[end.upperBound...])
    } else if bytes.starts(with: Data("\r\n".utf8)) {
      (head, body) = (Data(), bytes.dropFirst(2))
    } else {
      (head, body) = (bytes, Data())
    }
    var fields: [String: String] = [:]
    for line in String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    let disposition = fields["content-disposition"] ?? ""
    return Part(
      name: parameter("name", of: disposition) ?? "", filename: parameter("filename", of: disposition),
      contentType: fields["content-type"],
      body: Data(body))
  }

  /// The value of a parameter of a header field, `name="form"` or `name=form`.
  private static func parameter(_ name: String, of field: String) -> String? {
    var rest = field[...]
    while let semicolon = rest.firstIndex(of: ";") {
      rest = rest[rest.index(after: semicolon)...].drop { $0 == " " || $0 == "\t" }
      guard let equals = rest.firstIndex(of: "=") else { return nil }
      let isWanted = rest[..<equals].lowercased() == name
      rest = rest[rest.index(after: equals)...]
      var value = ""
      if rest.first == "\"" {
        rest = rest.dropFirst()
        while let character = rest.popFirst(), character != "\"" {
          if character == "\\", let escaped = rest.popFirst() { value.append(escaped) } else { value.append(character) }
        }
      } else {
        value = rest.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
      }
      if isWanted { return value }
    }
    return nil
  }
}
