/// Times in the format of HAR files: ISO 8601 with a fraction and a time zone.
enum Timestamp {
  static func text(_ date: Date) -> String {
    // ISO 8601 allows four-digit years only.
    let micros = Int((min(max(date.timeIntervalSince1970, 0), 253_402_300_799) * 1_000_000).rounded())
    let (seconds, fraction) = micros.quotientAndRemainder(dividingBy: 1_000_000)
    let digits = String(1_000_000 + fraction).dropFirst(1)
    let second = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601).dropLast()
    return "\(second).\(fraction % 1000 == 0 ? digits.prefix(3) : digits)Z"
  }

  /// Parses a time with a fraction of any length or none, in any time zone.
  static func date(_ text: String) -> Date? {
    var text = text.trimmingCharacters(in: .whitespaces).uppercased()
    // Parse the fraction separately: Foundation's parsers require a fixed number of digits.
    var fraction = 0.0
    if let point = text.firstIndex(where: { $0 == "." || $0 == "," }) {
      let digits = text[text.index(after: point)...].prefix { $0.isASCII && $0.isNumber }
      fraction = Double("0." + digits.prefix(17)) ?? 0
      text.removeSubrange(point..<digits.endIndex)
    }
    for style in [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(timeZoneSeparator: .colon)] {
      if let date = try? style.parse(text) { return date.addingTimeInterval(fraction) }
    }
    return nil
  }

  /// Converts the date of a cookie, which often has hyphens in it, to ISO 8601.
  static func iso(ofCookieDate text: String) -> String? {
    HTTPDate.seconds(text.replacing("-", with: " "), now: 0).map { self.text(Date(timeIntervalSince1970: Double($0))) }
  }
}

/// A time in a file: with its time zone, and all digits of its fraction.
struct Moment: Hashable, Sendable {
  let date: Date
  /// The text in the file, unless it is the usual one for the date.
  private var written: String?

  init(_ date: Date) { self.date = date }

  init?(_ text: String) {
    guard let date = Timestamp.date(text) else { return nil }
    self.date = date
    if text != self.text, Array(text.utf8).isTimestamp { written = text }
  }

  var text: String { written ?? Timestamp.text(date) }
}
