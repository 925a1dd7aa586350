import Foundation

/// Times as archives have them: ISO 8601 with a fraction and a zone.
enum Timestamp {
  static func text(_ date: Date) -> String {
    // Years beyond four digits are no ISO 8601; no exchange was then.
    let bounded = min(max(date, Date(timeIntervalSince1970: 0)), Date(timeIntervalSince1970: 253_402_300_799))
    // The formatter cuts off what it has no digit for: half a digit more, and it rounds.
    return bounded.addingTimeInterval(0.0005).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// The time that a text says, with a fraction of any length or none, in any zone.
  static func date(_ text: String) -> Date? {
    var text = text.trimmingCharacters(in: .whitespaces).uppercased()
    // The fraction is read apart: formatters of Foundation want just so many digits.
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

  /// The ISO 8601 of a date as cookies have it (RFC 6265, section 5.1.1): its parts in any order, whatever is between
  /// them.
  static func iso(ofCookieDate text: String) -> String? {
    let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    var time: String?
    var numbers: [Int] = []
    var month: Int?
    for token in text.lowercased().split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != ":" }) {
      if token.contains(":") {
        let parts = token.split(separator: ":").compactMap { Int($0) }
        guard parts.count == 3, parts[0] < 24, parts[1] < 60, parts[2] < 60, parts.allSatisfy({ $0 >= 0 }) else {
          return nil
        }
        time = parts.map(twoDigits).joined(separator: ":")
      } else if let number = Int(token) {
        numbers.append(number)
      } else if let found = months.firstIndex(of: String(token.prefix(3))) {
        month = found + 1
      }
    }
    guard let time, let month, numbers.count >= 2, 1...31 ~= numbers[0], 0...9999 ~= numbers[1] else { return nil }
    let year = numbers[1] < 70 ? numbers[1] + 2000 : numbers[1] < 100 ? numbers[1] + 1900 : numbers[1]
    guard year >= 1000 else { return nil }
    return "\(year)-\(twoDigits(month))-\(twoDigits(numbers[0]))T\(time)Z"
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
