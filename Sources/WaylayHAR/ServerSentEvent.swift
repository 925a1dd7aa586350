/// An event of a stream (WHATWG HTML, section 9.2.6).
package struct ServerSentEvent {
  /// The data that ends the streams of language models.
  package static let endMark = "[DONE]"

  /// The type of the event; empty if it has none.
  package var name = ""
  package var data = ""

  /// The complete events with data of a stream.
  package static func all(in text: String) -> [ServerSentEvent] {
    var (events, event, lines) = ([ServerSentEvent](), ServerSentEvent(), [Substring]())
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      guard !line.isEmpty else {
        event.data = lines.joined(separator: "\n")
        if !lines.isEmpty { events.append(event) }
        (event, lines) = (ServerSentEvent(), [])
        continue
      }
      let field = line.drop { $0 != ":" }.dropFirst()
      let value = field.first == " " ? field.dropFirst() : field
      if line.hasPrefix("event:") { event.name = String(value) }
      if line.hasPrefix("data:") { lines.append(value) }
    }
    return events
  }
}
