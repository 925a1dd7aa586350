extension HTTPDate {
  enum Weekday {
    case short
    case long
  }

  /// Reads the parts of a date off the front of a text.
  struct Reader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
      self.bytes = bytes.map(FieldBytes.lowercased)
    }

    private static let shortDays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"].map { Array($0.utf8) }
    private static let longDays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"].map {
      Array($0.utf8)
    }
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"].map
    { Array($0.utf8) }

    mutating func weekday() -> Weekday? {
      let name = bytes[position...].prefix { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }
      position += name.count
      if Self.shortDays.contains(where: { name.elementsEqual($0) }) { return .short }
      return Self.longDays.contains { name.elementsEqual($0) } ? .long : nil
    }

    mutating func skip(_ text: StaticString) -> Bool {
      let isThere = text.withUTF8Buffer { text in bytes[position...].starts(with: text.lazy.map(FieldBytes.lowercased))
      }
      if isThere { position += text.utf8CodeUnitCount }
      return isThere
    }

    private mutating func number(digits: Int) -> Int64? {
      guard bytes.count - position >= digits else { return nil }
      defer { position += digits }
      return FieldBytes.number(bytes[position..<position + digits])
    }

    private mutating func month() -> Int64? {
      guard bytes.count - position >= 3 else { return nil }
      defer { position += 3 }
      return Self.months.firstIndex { $0.elementsEqual(bytes[position..<position + 3]) }.map { Int64($0) + 1 }
    }

    /// Seconds of the day. A leap second counts as the one before it.
    private mutating func time() -> Int64? {
      guard let hour = number(digits: 2), skip(":"), let minute = number(digits: 2), skip(":"),
        let second = number(digits: 2),
        hour < 24, minute < 60, second <= 60
      else { return nil }
      return hour * 3600 + minute * 60 + min(second, 59)
    }

    private func seconds(_ year: Int64, _ month: Int64, _ day: Int64, _ time: Int64) -> Int64? {
      guard position == bytes.count, day >= 1 else { return nil }
      let days = HTTPDate.days(year: year, month: month, day: day)
      // The 31st of a shorter month is no date.
      guard HTTPDate.civil(days).day == day else { return nil }
      return days * 86_400 + time
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, behind the comma.
    mutating func preferred() -> Int64? {
      guard let day = number(digits: 2), skip(" "), let month = month(), skip(" "), let year = number(digits: 4),
        skip(" "),
        let time = time(), skip(" GMT")
      else { return nil }
      return seconds(year, month, day, time)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`, behind the comma.
    mutating func obsolete(now: CacheTime) -> Int64? {
      guard let day = number(digits: 2), skip("-"), let month = month(), skip("-"), let short = number(digits: 2),
        skip(" "),
        let time = time(), skip(" GMT")
      else { return nil }
      let thisYear = HTTPDate.civil(now.seconds / 86_400).year
      var year = thisYear - thisYear % 100 + short
      if year > thisYear + 50 { year -= 100 } else if year <= thisYear - 50 { year += 100 }
      return seconds(year, month, day, time)
    }

    /// `Sun Nov  6 08:49:37 1994`, behind the first space.
    mutating func asctime() -> Int64? {
      guard let month = month(), skip(" "), let day = skip(" ") ? number(digits: 1) : number(digits: 2), skip(" "),
        let time = time(),
        skip(" "), let year = number(digits: 4)
      else { return nil }
      return seconds(year, month, day, time)
    }
  }
}
