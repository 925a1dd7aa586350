import Driver
import Foundation
import HTTPTypes

@testable import WaylayCore

@main
enum Target {
  static func main() { fuzz(test) }
}

/// One input: a challenge, or the lines of heads and trailers as libcurl hands them over.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  guard let kind = bytes.first else { return 0 }
  if kind % 4 == 0 {
    challenge(String(decoding: bytes.dropFirst(), as: UTF8.self))
  } else {
    head(Array(bytes.dropFirst()))
  }
  return 0
}

private func head(_ bytes: [UInt8]) {
  var head = ResponseHead()
  var trailers: Int?
  for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
    // Over a limit, it is the end.
    guard (try? (line + [UInt8(ascii: "\n")]).withUnsafeBytes({ try head.add($0) })) != nil else { return }
    if head.isComplete, trailers == nil {
      trailers = 0
      require(head.status >= 200 || head.status == 101, "a status that is not final")
    }
    _ = (head.length, head.hasUnknownCoding(features: 0))
  }
  require(head.length.map { $0 >= 0 } ?? true, "less than nothing")
  for method in [HTTPRequest.Method.get, .head] { _ = head.hasNoBody(for: method) }
  // A length that is believed is the one that there is.
  if head.framingFault(for: .get) == nil, let length = head.length, let value = head.fields[values: .contentLength].first {
    require(value.split(separator: ",").allSatisfy { Int64($0.trimmingCharacters(in: .whitespaces)) == length }, "another length: \(value)")
  }
  // What is kept of a field can be written in one line, and read again as the same.
  for field in head.fields {
    require(!field.value.utf8.contains { $0 == 13 || $0 == 10 || $0 == 0 }, "a value that breaks its line")
    require(!field.name.rawName.isEmpty, "not what it was")
  }
  _ = head.trailers.count
}

private func challenge(_ text: String) {
  let credential = URLCredential(user: "user\"\\", password: "pass", persistence: .none)
  guard let url = URL(string: "http://example.com/a?b") else { return }
  for challenge in HTTPChallenge.parse([text]) {
    require(!challenge.scheme.isEmpty, "not what it was")
    guard let digest = DigestChallenge(challenge, clientNonce: "nonce") else { continue }
    guard let field = digest.field(for: credential, method: "GET", url: url, count: 1) else { continue }
    require(!field.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "an answer that breaks its line")
    require(digest.field(for: credential, method: "GET", url: url, count: 1) == field, "not what it was")
  }
}
