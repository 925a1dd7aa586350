import Driver
import Foundation
import HTTPTypes

@testable import WaylayCore

@main
enum Target {
  static func main() { fuzz(test) }
}

private let configuration: URLSessionConfiguration = {
  let configuration = URLSessionConfiguration.ephemeral
  configuration.httpCookieAcceptPolicy = .always
  return configuration
}()
private let context = LoadContext(configuration)
private let places = [
  "http://www.example.com/a/b", "https://www.example.com/", "http://example.com/a", "http://127.0.0.1/", "http://[::1]/", "https://com/",
  "http://www.example.org/a/bc",
].compactMap { URL(string: $0) }

/// One input: where it came from, and the lines of `Set-Cookie`. What is stored goes to whom it may, and to nobody else.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  guard let kind = bytes.first, let storage = context.cookieStorage else { return 0 }
  let from = places[Int(kind) % places.count]
  var fields = HTTPFields()
  for line in bytes.dropFirst().split(separator: UInt8(ascii: "\n")) { fields.append(HTTPField(name: .setCookie, value: Array(line))) }
  _ = context.storeCookies(of: InterceptedResponse(fields: fields, url: from, source: .network), for: URLRequest(url: from))
  guard let stored = storage.cookies, !stored.isEmpty else { return 0 }
  for place in places {
    var request = URLRequest(url: place)
    _ = context.prepare(&request, origin: nil, RedirectPolicy())
    guard let sent = request.value(forHTTPHeaderField: "Cookie") else { continue }
    require(!sent.utf8.contains { $0 == 13 || $0 == 10 || $0 == 0 }, "cookies that break their line")
    let host = place.host ?? ""
    let isRelated = host == from.host || (from.host ?? "").hasSuffix("example.com") && host.hasSuffix("example.com")
    require(isRelated, "a cookie of \(from) goes to \(place): \(sent)")
    if place.scheme == "http" {
      let open = stored.filter { !$0.isSecure }.map(\.name)
      require(stored.count > 1 || !open.isEmpty, "a secure cookie goes over http: \(sent)")
    }
  }
  for cookie in stored { storage.deleteCookie(cookie) }
  return 0
}
