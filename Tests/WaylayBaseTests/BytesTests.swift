import Testing
import WaylayBase

@Suite("Bytes, numbers and escapes", .timeLimit(.minutes(5)))
struct BytesTests {
  @Test("sums, differences and products end at the ends of their type")
  func saturating() {
    #expect(Int64.max.saturating(adding: 1) == .max && Int64.min.saturating(adding: -1) == .min)
    #expect(Int64.min.saturating(subtracting: 1) == .min && Int64.max.saturating(subtracting: -1) == .max)
    #expect(UInt64(3).saturating(subtracting: 4) == 0 && UInt64.max.saturating(adding: 1) == .max)
    #expect(Int64.max.saturating(multipliedBy: 2) == .max && Int64.max.saturating(multipliedBy: -2) == .min)
    #expect(Int64.min.saturating(multipliedBy: -1) == .max && Int64(-3).saturating(multipliedBy: 4) == -12)
  }

  @Test("a number is digits alone")
  func decimal() {
    #expect(Int64(decimal: "0042") == 42 && Int64(decimal: "9223372036854775807") == .max)
    for text in ["", "+1", "-1", " 1", "1 ", "1_0", "٣", "9223372036854775808"] { #expect(Int64(decimal: text) == nil) }
  }

  @Test("hexadecimal has two digits a byte")
  func hexadecimal() {
    #expect([0, 9, 10, 0xA5, 255].hexadecimal == "00090aa5ff" && UInt8(7).hexadecimal == "07")
  }

  @Test("escapes are taken off where they are some, and left where they are none")
  func escapes() {
    func plain(_ text: String, _ escapes: Escapes) -> String {
      String(decoding: escapes.removed(from: Array(text.utf8)[...]), as: UTF8.self)
    }
    #expect(plain("a%2Fb%2fc%zz%+1%", .percent) == "a/b/c%zz%+1%")
    #expect(plain("a+b%20c", .form) == "a b c" && plain("a+b", .percent) == "a+b")
    #expect(plain(#"\/\u002F\ud83d\ude00\q"#, .backslash) == #"//😀\q"#)
    #expect(plain("&amp;&#47;&#x2F;&none;", .entity) == "&//&none;")
  }

  @Test("blanks are trimmed at both ends, and only those of HTTP")
  func blanks() {
    #expect(" \t a b\t "[...].trimmingBlanks == "a b" && " \t"[...].trimmingBlanks.isEmpty)
    #expect("\u{A0}a\n"[...].trimmingBlanks == "\u{A0}a\n")
  }
}
