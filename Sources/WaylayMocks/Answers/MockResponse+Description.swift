import HTTPTypes

extension MockResponse: CustomStringConvertible {
  /// A short description of the response for reports, without body and credentials.
  public var description: String {
    if let defect { return "invalid response: \(defect.message)" }
    let waits = timing.firstByte.map { " after \($0)" } ?? ""
    return contentDescription + (bodyFault.map { ", \($0)" } ?? "") + waits
  }

  private var contentDescription: String {
    switch content {
    case .message(let message):
      let type = message.fields.first { $0.name == .contentType }.map { " " + $0.value } ?? ""
      return "\(message.status.code)\(type)" + message.body.description
    case .error(let error): return "error \(error.redacted)"
    case .failure(let failure): return "URLError \(failure.code.rawValue) while \(failure.phase)"
    case .never: return "never responds"
    case .live: return edits.isEmpty ? "the live response" : "the live response, changed"
    case .computed, .awaited: return "computed from the request"
    }
  }
}

extension MockResponse.Body {
  fileprivate var description: String {
    switch self {
    case .message(let body): body.isEmpty ? "" : body.length.map { ", \($0) bytes" } ?? ", a stream"
    case .file(let file): ", \(file.lastPathComponent)"
    case .template: ", a template"
    }
  }
}
