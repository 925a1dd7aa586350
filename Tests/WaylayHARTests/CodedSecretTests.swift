import Foundation
import TestSupport
import Testing
import WaylayHAR

@Suite("Secrets that are coded")
struct CodedSecretTests {
  private static let mark = "pl4nted"
  private static let secret = "\(Self.mark)-hidden/value?"

  private func redacted(_ body: Data, _ mediaType: String) -> Data {
    let entry = HAR.Entry(
      started: Date(timeIntervalSince1970: 0),
      request: HAR.Request(method: "POST", url: "https://a.test/", body: HAR.Body(body, mediaType: mediaType)),
      response: HAR.Response(status: 200))
    return Redaction.standard.redacted(entry).request.body?.data ?? Data()
  }

  @Test("in JSON and in forms are found beside bytes that no text has")
  func binary() {
    let json = Data("{\"blob\":\"".utf8) + Data([0, 1, 0xFF]) + Data("\",\"token\":\"\(Self.secret)\"}".utf8)
    let parts =
      Data("--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a.png\"\r\n\r\n".utf8)
      + Data([0x89, 0x50, 0, 0, 0xFF, 0x0D, 0x0A])
      + Data("\r\n--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n\(Self.secret)\r\n--b--\r\n".utf8)
    for (body, type) in [(json, "application/json"), (parts, "multipart/form-data; boundary=b")] {
      let result = redacted(body, type)
      #expect(result.range(of: Data(Self.mark.utf8)) == nil, "\(type)")
      #expect(result.range(of: Data("REDACTED".utf8)) != nil && result.contains(0))
    }
  }

  @Test("that look like Base64 of JSON or XML themselves are found again")
  func lookalikes() {
    for secret in ["ezK3v9Q2mN8pL4sD", "W3K3v9Q2mN8pL4sD", "PDK3v9Q2mN8pL4sD"] {
      for text in [secret, "see \(secret)", "/a/\(secret)/b"] {
        var entry = Plantings.entry(headers: [.init("X-Api-Key", secret)])
        entry.comment = text
        let comment = Redaction.standard.redacted(entry).comment
        #expect(comment == text.replacing(secret, with: "REDACTED"))
      }
    }
  }

  @Test("what is base64 stays as it is, byte for byte")
  func shown() {
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
    #expect(redacted(Data(token.utf8), "text/plain") == Data("REDACTED".utf8), "a signed token is known by its looks")
    for text in [
      Data("{\"name\":\"Ada\"}".utf8).base64EncodedString(), "eyeeyeeyeeyeeyeeyeeyeeye", "WWWWWWWWWWWWWWWWW",
      String(repeating: "ey", count: 50_000),
    ] {
      #expect(redacted(Data(text.utf8), "text/plain") == Data(text.utf8))
    }
  }
}
