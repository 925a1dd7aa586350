/// An HTTP date (RFC 9110, section 5.6.7) as seconds since 1970.
///
/// Read strictly, because an invalid date makes a response stale (RFC 9111, section 5.3), but in any letter case, as
/// section 4.2 asks: the preferred form, the obsolete form of RFC 850, and that of C's `asctime`.
/// Zones other than `GMT` are no dates.
package enum HTTPDate {
  /// The seconds since 1970 of a date; `nil` when it is none.
  ///
  /// - Parameter now: Seconds since 1970, for the century of a year with two digits: none is more than 50 years ahead.
  package static func seconds(_ text: String, now: Int64) -> Int64? {
    var reader = Reader(Array(text.utf8))
    guard let day = reader.weekday() else { return nil }
    switch day {
    case .short where reader.skip(", "): return reader.preferred()
    case .short where reader.skip(" "): return reader.asctime()
    case .long where reader.skip(", "): return reader.obsolete(now: now)
    default: return nil
    }
  }

  /// The date in the preferred form, as `Date` has it.
  package static func text(seconds: Int64) -> String {
    // The form has four digits for the year: 0 to 9999.
    let seconds = min(max(seconds, -62_167_219_200), 253_402_300_799)
    let (dayQuotient, dayRemainder) = seconds.quotientAndRemainder(dividingBy: 86_400)
    let days = dayRemainder < 0 ? dayQuotient - 1 : dayQuotient
    let rest = dayRemainder < 0 ? dayRemainder + 86_400 : dayRemainder
    let (year, month, day) = civil(days)
    let weekday = Int(((days % 7) + 11) % 7)
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let yearText = String(repeating: "0", count: max(0, 4 - "\(year)".utf8.count)) + "\(year)"
    return "\(weekdayNames[weekday]), \(two(day)) \(monthNames[Int(month) - 1]) \(yearText) "
      + "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60)) GMT"
  }

  private static let weekdayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Days since 1970 of a date of the Gregorian calendar.
  static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The date of a number of days since 1970.
  static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9)
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

extension HTTPDate {
  fileprivate enum Weekday { case short, long }

  /// Reads the parts of a date from the beginning of a text.
  fileprivate struct Reader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes.map(\.lowercased) }

    private static let shortDays = HTTPDate.weekdayNames.map { $0.utf8.map(\.lowercased) }
    private static let longDays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"].map {
      Array($0.utf8)
    }
    private static let months = HTTPDate.monthNames.map { $0.utf8.map(\.lowercased) }

    mutating func weekday() -> Weekday? {
      let name = bytes[position...].prefix { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }
      position += name.count
      if Self.shortDays.contains(where: { name.elementsEqual($0) }) { return .short }
      return Self.longDays.contains { name.elementsEqual($0) } ? .long : nil
    }

    mutating func skip(_ text: StaticString) -> Bool {
      let isThere = text.withUTF8Buffer { text in bytes[position...].starts(with: text.lazy.map(\.lowercased)) }
      if isThere { position += text.utf8CodeUnitCount }
      return isThere
    }

    private mutating func number(digits: Int) -> Int64? {
      guard bytes.count - position >= digits else { return nil }
      defer { position += digits }
      return Int64(decimal: String(decoding: bytes[position..<position + digits], as: UTF8.self))
    }

    private mutating func month() -> Int64? {
      guard bytes.count - position >= 3 else { return nil }
      defer { position += 3 }
      return Self.months.firstIndex { $0.elementsEqual(bytes[position..<position + 3]) }.map { Int64($0) + 1 }
    }

    /// Seconds of the day. A leap second counts as the one before it.
    private mutating func time() -> Int64? {
      guard let hour = number(digits: 2), skip(":"), let minute = number(digits: 2), skip(":"),
        let second = number(digits: 2), hour < 24, minute < 60, second <= 60
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
        skip(" "), let time = time(), skip(" GMT")
      else { return nil }
      return seconds(year, month, day, time)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`, behind the comma.
    mutating func obsolete(now: Int64) -> Int64? {
      guard let day = number(digits: 2), skip("-"), let month = month(), skip("-"), let short = number(digits: 2),
        skip(" "), let time = time(), skip(" GMT")
      else { return nil }
      let thisYear = HTTPDate.civil(now / 86_400).year
      var year = thisYear - thisYear % 100 + short
      if year > thisYear + 50 { year -= 100 } else if year <= thisYear - 50 { year += 100 }
      return seconds(year, month, day, time)
    }

    /// `Sun Nov  6 08:49:37 1994`, behind the first space.
    mutating func asctime() -> Int64? {
      guard let month = month(), skip(" "), let day = skip(" ") ? number(digits: 1) : number(digits: 2), skip(" "),
        let time = time(), skip(" "), let year = number(digits: 4)
      else { return nil }
      return seconds(year, month, day, time)
    }
  }
}
