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
    let bytes = text.utf8.map(\.lowercased)
    let day = String(decoding: bytes.prefix { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }, as: UTF8.self)
    let rest = bytes.dropFirst(day.utf8.count)
    if weekdayNames.contains(where: { $0.lowercased() == day }) {
      return read(rest, as: ", DD MMM YYYY HH:NN:SS gmt", now) ?? read(rest, as: " MMM _D HH:NN:SS YYYY", now)
    }
    return longWeekdayNames.contains(day) ? read(rest, as: ", DD-MMM-YY HH:NN:SS gmt", now) : nil
  }

  /// - Parameter pattern: Letter by letter: capitals for the digits of the day, the month's name, and the digits of year,
  ///   hour, minute and second; an underscore for a digit of the day or a space.
  private static func read(_ text: ArraySlice<UInt8>, as pattern: String, _ now: Int64) -> Int64? {
    guard text.count == pattern.utf8.count else { return nil }
    var (name, numbers) = ("", [Character: Int64]())
    for (byte, kind) in zip(text, pattern) {
      switch kind {
      case "M": name.unicodeScalars.append(Unicode.Scalar(byte))
      case "_" where byte == 0x20: break
      case "D", "Y", "H", "N", "S", "_":
        guard byte.isASCIIDigit else { return nil }
        numbers[kind == "_" ? "D" : kind, default: 0] *= 10
        numbers[kind == "_" ? "D" : kind, default: 0] += Int64(byte & 15)
      default: guard byte == kind.asciiValue else { return nil }
      }
    }
    guard let day = numbers["D"], var year = numbers["Y"], let hour = numbers["H"], let minute = numbers["N"],
      let second = numbers["S"], let month = monthNames.firstIndex(where: { $0.lowercased() == name }), day >= 1,
      hour < 24, minute < 60, second <= 60
    else { return nil }
    if !pattern.contains("YYYY") {
      let thisYear = civil(now / 86_400).year
      year += thisYear - thisYear % 100
      if year > thisYear + 50 { year -= 100 } else if year <= thisYear - 50 { year += 100 }
    }
    let days = days(year: year, month: Int64(month) + 1, day: day)
    // The 31st of a shorter month is no date. A leap second counts as the one before it.
    guard civil(days).day == day else { return nil }
    return days * 86_400 + hour * 3600 + minute * 60 + min(second, 59)
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
  private static let longWeekdayNames = [
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
  ]
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
