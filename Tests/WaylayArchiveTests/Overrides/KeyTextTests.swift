import Foundation
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("The text of a key", .timeLimit(.minutes(5)))
struct KeyTextTests {
  @Test(
    "equal URLs have one text, different ones two",
    arguments: [
      ("http://example.com/a?b=C", "http://example.com/a?b=C"), ("HTTP://Example.COM/A", "http://example.com/A"),
      ("http://example.com", "http://example.com/"), ("http://example.com?q", "http://example.com/?q"),
      ("http://example.com:80/a", "http://example.com/a"), ("https://example.com:443/", "https://example.com/"),
      ("http://example.com:8080/a", "http://example.com:8080/a"),
      ("https://example.com:80/", "https://example.com:80/"),
      ("http://example.com/a#part", "http://example.com/a"), ("http://[::1]:80/a", "http://[::1]/a"),
      ("http://[::1]/a", "http://[::1]/a"),
      ("http://user:secret@example.com/a", "http://example.com/a"), ("mailto:someone", "mailto:someone"),
    ])
  func text(_ url: String, _ text: String) throws {
    let address = try #require(URL(string: url))
    #expect(KeyText(address).text == text)
    // The long way, which rules take, says the same.
    #expect(KeyText(address, rules: [.ignoringFields(["x"])]).text == text)
  }

  @Test("user info is told, and is no part of the text")
  func userInfo() throws {
    #expect(KeyText(try #require(URL(string: "http://user:secret@example.com/"))).userInfo == "user:secret")
    #expect(KeyText(try #require(URL(string: "http://example.com/"))).userInfo == nil)
  }

  @Test("rules leave query items out, by name and by prefix, and sort the others")
  func rules() throws {
    let url = try #require(URL(string: "http://example.com/a?z=1&utm_source=x&sig=2&a=3&signal=4&empty"))
    #expect(
      KeyText(url, rules: [.ignoringQueryItems(["utm_*", "sig"])]).text == "http://example.com/a?z=1&a=3&signal=4&empty"
    )
    #expect(KeyText(url, rules: [.ignoringQueryItems(["*"])]).text == "http://example.com/a")
    #expect(
      KeyText(url, rules: [.ignoringQueryItems(["utm_*"]), .sortingQuery()]).text
        == "http://example.com/a?a=3&empty&sig=2&signal=4&z=1")
  }
}
