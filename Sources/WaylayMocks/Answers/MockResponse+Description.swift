import HTTPTypes

extension MockResponse: CustomStringConvertible {
  /// The answer in a few words, for reports. Carries no body and no credentials.
  public var description: String {
    if let defect { return "broken answer: \(defect.message)" }
    let waits = timing.firstByte.map { " after \($0)" } ?? ""
    return contentDescription + (bodyFault.map { ", \($0)" } ?? "") + waits
  }

  private var contentDescription: String {
    switch content {
    case .message(let message):
      let type = message.fields.first { $0.name == .contentType }.map { " " + $0.value } ?? ""
      if let file = message.file { return "\(message.status.code)\(type), \(file.lastPathComponent)" }
      let length = message.body.length.map { ", \($0) bytes" } ?? ", a stream"
      return "\(message.status.code)\(type)" + (message.body.isEmpty ? "" : length)
    case .error(let error): return "error \(error)"
    case .failure(let failure): return "URLError \(failure.code.rawValue) while \(failure.phase)"
    case .never: return "no answer ever"
    case .live: return edits.isEmpty ? "the live answer" : "the live answer, changed"
    case .computed, .awaited: return "computed from the request"
    }
  }
}
