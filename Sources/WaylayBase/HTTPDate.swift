/// An HTTP date (RFC 9110, section 5.6.7) as seconds since 1970.
///
/// Read strictly, because an invalid date makes a response stale (RFC 9111, section 5.3), but in any letter case, as
/// section 4.2 asks: the preferred form, the obsolete form of RFC 850, and that of C's `asctime`.
/// Zones other than `GMT` are no dates.
package enum HTTPDate {
  /// The seconds since 1970 of a date; `nil` for an invalid date.
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
      let thisYear = Int64(parts(of: now).tm_year) + 1900
      year += thisYear - thisYear % 100
      if year > thisYear + 50 { year -= 100 } else if year <= thisYear - 50 { year += 100 }
    }
    var date = tm()
    (date.tm_year, date.tm_mon, date.tm_mday) = (Int32(year - 1900), Int32(month), Int32(day))
    // A leap second counts as the one before it.
    (date.tm_hour, date.tm_min, date.tm_sec) = (Int32(hour), Int32(minute), Int32(min(second, 59)))
    let time = timegm(&date)
    // The 31st of a shorter month is no date.
    return date.tm_mday == Int32(day) ? Int64(time) : nil
  }

  /// The date in the preferred form, as in the field `Date`.
  package static func text(seconds: Int64) -> String {
    // The form has four digits for the year: 0 to 9999.
    let seconds = min(max(seconds, -62_167_219_200), 253_402_300_799)
    let parts = parts(of: seconds)
    func digits(_ number: Int32, _ count: Int = 2) -> String {
      String(repeating: "0", count: max(0, count - "\(number)".utf8.count)) + "\(number)"
    }
    return "\(weekdayNames[Int(parts.tm_wday)]), \(digits(parts.tm_mday)) \(monthNames[Int(parts.tm_mon)]) "
      + "\(digits(parts.tm_year + 1900, 4)) \(digits(parts.tm_hour)):\(digits(parts.tm_min)):\(digits(parts.tm_sec)) GMT"
  }

  private static let weekdayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let longWeekdayNames = [
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
  ]
  private static let monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  private static func parts(of seconds: Int64) -> tm {
    var (time, parts) = (time_t(clamping: seconds), tm())
    gmtime_r(&time, &parts)
    return parts
  }
}
