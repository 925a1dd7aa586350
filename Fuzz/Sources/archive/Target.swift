import Driver
import Foundation
import HTTPTypes

@testable import WaylayArchive
@testable import WaylayCore

@main
enum Target {
  static func main() { fuzz(test) }
}

private let policy = ArchivePolicy { bytes in Array(bytes.prefix(16)) + Array(repeating: 7, count: max(0, 16 - bytes.count)) }
private let now = CacheTime(seconds: 1_795_262_400)

/// One input: by its first byte a record in its binary form, or the lines of a request and a response.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let kind = bytes.first else { return 0 }
  if kind & 1 == 0 { record(Array(bytes.dropFirst())) } else { heads(bytes.dropFirst()) }
  return 0
}

/// A record that can be read is written and read again as the same, and nothing that is asked about it traps.
private func record(_ bytes: [UInt8]) {
  guard let record = CacheRecord(decoding: bytes) else { return }
  guard CacheRecord(decoding: record.encoded()) == record else { fatalError("another record") }
  let requests: [CacheRequest] = [
    CacheRequest(method: "GET", url: nil), CacheRequest(method: "GET", url: nil, fields: [.range: "bytes=1-", .acceptLanguage: "en"]),
    CacheRequest(method: "HEAD", url: nil, cachePolicy: .returnCacheDataElseLoad),
  ]
  for request in requests { use([record], request, ArchivePolicy.Response(status: 304, fields: [:], requestTime: now, responseTime: now)) }
  _ = record.completed(bodyLength: 3) ?? record.truncated(at: 3)
  _ = record.metadata(at: now)
}

// Two modules have it.
private let age = HTTPField.Name("Age") ?? .date
private let names: [HTTPField.Name] = [
  .cacheControl, .expires, .date, .eTag, .lastModified, .vary, .contentRange, .contentLength, .contentEncoding, age, .connection,
  .contentLocation, .location, .range, .ifRange, .ifNoneMatch, .ifModifiedSince, .ifMatch, .acceptLanguage, .accept, .acceptEncoding,
  .cookie, .pragma, .authorization,
]

/// Lines: the first byte says which field and whose, the rest is its value.
private func heads(_ bytes: ArraySlice<UInt8>) {
  var request = HTTPFields()
  var first = HTTPFields()
  var second = HTTPFields()
  var statuses = [200, 304]
  for line in bytes.split(separator: UInt8(ascii: "\n")) {
    guard let kind = line.first else { continue }
    if kind >= 240 {
      statuses = kind & 1 == 0 ? [206, 206] : [404, 503]
      continue
    }
    let field = HTTPField(name: names[Int(kind) % names.count], value: Array(line.dropFirst()))
    switch kind / 80 {
    case 0: request.append(field)
    case 1: first.append(field)
    default: second.append(field)
    }
  }
  let method = bytes.count % 7 == 0 ? "HEAD" : bytes.count % 11 == 0 ? "POST" : "GET"
  let asked = CacheRequest(method: method, url: URL(string: "http://example.com/a"), fields: request)
  let response = ArchivePolicy.Response(status: statuses[0], fields: first, requestTime: now, responseTime: now)
  _ = policy.invalidations(status: 200, fields: first, for: asked)
  guard case .store(let record) = policy.storability(of: response, to: asked) else { return }
  guard CacheRecord(decoding: record.encoded()) == record else { fatalError("another record") }
  use([record, record], asked, ArchivePolicy.Response(status: statuses[1], fields: second, requestTime: now, responseTime: now))
}

private func use(_ records: [CacheRecord], _ request: CacheRequest, _ response: ArchivePolicy.Response) {
  for mode in ArchiveMode.allCases {
    let decision = policy.decide(request, records: records, now: now, options: CacheOptions(mode: mode))
    switch decision.action {
    case .serve(let answer), .serveAndRevalidate(let answer): _ = policy.head(of: answer, record: records[answer.index], now: now)
    case .forward:
      let outcome = policy.receive(response, for: request, decision, records: records, options: CacheOptions(mode: mode))
      for update in outcome.updates {
        guard CacheRecord(decoding: update.record.encoded()) == update.record else { fatalError("another record") }
      }
    default: break
    }
  }
  _ = policy.fail(for: request, policy.decide(request, records: records, now: now), records: records, now: now)
}
