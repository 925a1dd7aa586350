import TestSupport
import Testing
import WaylayBase

@Suite("HTTP dates (RFC 9110, section 5.6.7)", .heavy, .timeLimit(.minutes(10)))
struct HTTPDateTests {
  private let now = Int64(1_795_262_400)  // November 2026

  @Test("The three forms of the RFC's own example are one moment")
  func forms() {
    for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
      #expect(HTTPDate.seconds(text, now: now) == 784_111_777)
    }
  }

  @Test("A year of two digits is never more than 50 years ahead")
  func centuries() {
    #expect(
      HTTPDate.seconds("Friday, 01-Jan-76 00:00:00 GMT", now: now)
        == HTTPDate.seconds("Fri, 01 Jan 2076 00:00:00 GMT", now: now))
    #expect(
      HTTPDate.seconds("Friday, 01-Jan-77 00:00:00 GMT", now: now)
        == HTTPDate.seconds("Fri, 01 Jan 1977 00:00:00 GMT", now: now))
    let late = HTTPDate.seconds("Fri, 01 Jan 2099 00:00:00 GMT", now: now) ?? 0
    #expect(
      HTTPDate.seconds("Friday, 01-Jan-01 00:00:00 GMT", now: late)
        == HTTPDate.seconds("Fri, 01 Jan 2101 00:00:00 GMT", now: now))
  }

  @Test("Leap days, leap seconds and the ends of the range")
  func edges() {
    #expect(HTTPDate.seconds("Thu, 29 Feb 2024 00:00:00 GMT", now: now) == 1_709_164_800)
    #expect(HTTPDate.seconds("Wed, 29 Feb 2023 00:00:00 GMT", now: now) == nil)
    #expect(HTTPDate.seconds("Thu, 29 Feb 1900 00:00:00 GMT", now: now) == nil)
    #expect(HTTPDate.seconds("Tue, 29 Feb 2000 00:00:00 GMT", now: now) == 951_782_400)
    #expect(HTTPDate.seconds("Sat, 31 Dec 2016 23:59:60 GMT", now: now) == 1_483_228_799)
    #expect(HTTPDate.seconds("Thu, 01 Jan 1970 00:00:00 GMT", now: now) == 0)
    #expect(HTTPDate.seconds("Sat, 01 Jan 0000 00:00:00 GMT", now: now) == -62_167_219_200)
    #expect(HTTPDate.seconds("Fri, 31 Dec 9999 23:59:59 GMT", now: now) == 253_402_300_799)
  }

  @Test("What is written is read as the same moment, from the year 0 to 9999")
  func roundTrip() {
    var seconds: Int64 = -62_167_219_200
    while seconds < 253_402_300_799 {
      let text = HTTPDate.text(seconds: seconds)
      #expect(text.utf8.count == 29)
      #expect(HTTPDate.seconds(text, now: now) == seconds)
      seconds += 86_400 * 97 + 12_345
    }
    #expect(HTTPDate.text(seconds: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate.text(seconds: .max) == "Fri, 31 Dec 9999 23:59:59 GMT")
    #expect(HTTPDate.text(seconds: .min) == "Sat, 01 Jan 0000 00:00:00 GMT")
  }
}
