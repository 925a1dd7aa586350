import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore
import WaylayHAR
import WaylayRecording

@Suite("A message as an entry of an archive", .heavy, .timeLimit(.minutes(10)))
struct RecordingTests {
  @Test("keeps method, URL, fields in order with duplicates, and the body")
  func request() throws {
    var fields = HTTPFields()
    fields.append(HTTPField(name: .accept, value: "a/b"))
    fields.append(HTTPField(name: .contentType, value: "text/plain"))
    fields.append(HTTPField(name: .accept, value: "c/d"))
    let request = InterceptedRequest(.post, "https://api.test/v1?page=2#top", fields: fields, body: .text("Ada"))
    let recorded = HAR.Request(request)
    #expect(recorded.method == "POST" && recorded.url == "https://api.test/v1?page=2")
    #expect(recorded.headers == [.init("Accept", "a/b"), .init("Content-Type", "text/plain"), .init("Accept", "c/d")])
    #expect(recorded.body?.text == "Ada" && recorded.body?.mediaType == "text/plain" && recorded.bodySize == 3)
    #expect(recorded.query == [.init("page", "2")])
    #expect(HAR.Request(InterceptedRequest(.get, "https://api.test/")).body == nil)
  }

  @Test("says when only the beginning of a body is kept")
  func truncated() throws {
    let request = InterceptedRequest(.post, "https://api.test/", body: .text("0123456789"))
    let entry = HAR.Entry(
      request, body: SeenBody(Data("0123".utf8), size: 10), InterceptedResponse(to: request, body: .text("x")),
      responseBody: SeenBody(Data([0, 1]), size: 9), started: Date(), elapsed: .seconds(1))
    #expect(entry.request.body?.isTruncated == true && entry.request.bodySize == 10)
    #expect(entry.response.body.isTruncated && entry.response.body.size == 9)
    let text = String(decoding: HAR(entries: [entry]).data(), as: UTF8.self)
    #expect(
      text.contains("The first 4 of 10 bytes.") && text.contains("The first 2 of 9 bytes.") && text.contains("base64"))
    #expect(HARFormat.problems(in: HAR(entries: [entry]).data()) == [])
  }

  @Test("gives an answer that comes back from the archive as it was: cookies apart, trailers too")
  func roundTrip() throws {
    let request = InterceptedRequest(.get, "https://api.test/")
    var fields = HTTPFields()
    for value in ["a=1; Path=/", "b=2"] { fields.append(HTTPField(name: .setCookie, value: value)) }
    fields[.contentType] = "application/octet-stream"
    var answer = InterceptedResponse(to: request, status: .created, fields: fields, body: .data(Data([0, 255, 1])))
    answer.trailers = [.init("X-Sum")!: "9"]
    let entry = HAR.Entry(request, answer, started: Date(), elapsed: .zero)
    let read = try HAR(data: HAR(entries: [entry]).data()).entries[0]
    let again = try #require(InterceptedResponse(read.response, to: request))
    #expect(again.status == .created && again.fields == fields && again.body.inMemory == Data([0, 255, 1]))
    #expect(again.trailers == answer.trailers && again.url == request.url)
    answer.trailers = [:]
    let without = HAR.Entry(request, answer, started: Date(), elapsed: .zero)
    #expect(without.response.extensions["_trailers"] == nil)
  }

  @Test("makes answers of browsers' archives fit to be given again")
  func browser() throws {
    let headers: [HAR.Field] = [
      .init(":status", "200"), .init("content-encoding", "gzip"), .init("content-length", "20"),
      .init("transfer-encoding", "chunked"),
      .init("set-cookie", "a=1\nb=2"), .init("x-note", "one\r\ntwo"), .init("not a name", "x"),
    ]
    let request = InterceptedRequest(.get, "https://api.test/")
    let answer = try #require(
      InterceptedResponse(HAR.Response(status: 200, headers: headers, body: HAR.Body(Data("hello".utf8))), to: request))
    #expect(answer.fields[values: .setCookie] == ["a=1", "b=2"])
    #expect(answer.fields[.transferEncoding] == nil && answer.fields[.contentEncoding] == "gzip")
    #expect(answer.fields[.init("x-note")!]?.contains("\n") == false)
    let plain = HAR.Response(status: 200, headers: [.init("Content-Length", "20")], body: HAR.Body(Data("hello".utf8)))
    #expect(InterceptedResponse(plain, to: request)?.fields[.contentLength] == "5")
    for status in [0, 100, 199, 1000, -1, Int.max] {
      #expect(InterceptedResponse(HAR.Response(status: status), to: request) == nil)
    }
  }

  @Test("has times that add up to what was seen, whatever the transport says", arguments: [false, true])
  func timings(isKept: Bool) {
    var metrics = LoadMetrics()
    metrics.nameLookup = .milliseconds(4)
    metrics.connect = .milliseconds(10)
    metrics.secureConnection = .milliseconds(30)
    metrics.firstByte = .milliseconds(80)
    metrics.total = .milliseconds(90)
    metrics.isConnectionReused = isKept
    let timings = HAR.Timings(metrics, elapsed: .milliseconds(100))
    #expect(timings.total == 100 && timings.receive == 10 && timings.blocked == 10)
    #expect(
      timings.dns == (isKept ? nil : 4) && timings.connect == (isKept ? nil : 26) && timings.ssl == (isKept ? nil : 20))
    var numbers = SplitMix(state: 7)
    for _ in 0..<2000 {
      func any() -> Duration? {
        Int.random(in: 0..<4, using: &numbers) == 0 ? nil : .milliseconds(Int.random(in: -100..<200, using: &numbers))
      }
      var metrics = LoadMetrics()
      (metrics.nameLookup, metrics.connect, metrics.secureConnection) = (any(), any(), any())
      (metrics.firstByte, metrics.total) = (any(), any())
      metrics.isConnectionReused = isKept
      let request = InterceptedRequest(.get, "https://api.test/")
      let answer = InterceptedResponse(url: request.url, metrics: metrics)
      let entry = HAR.Entry(request, answer, started: Date(), head: any(), elapsed: any() ?? .zero)
      #expect(HARFormat.problems(in: HAR(entries: [entry]).data()) == [])
    }
  }

  @Test("says the address that was dialled without its port")
  func address() {
    for (address, host) in [
      ("203.0.113.7:443", "203.0.113.7"), ("[2001:db8::7]:443", "2001:db8::7"), ("2001:db8::7", "2001:db8::7"),
    ] {
      var metrics = LoadMetrics()
      metrics.address = address
      #expect(metrics.host == host)
    }
  }

  @Test("of a real exchange is one that other tools take")
  func real() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry(logger: .recording())
      let request = InterceptedRequest(URLRequest(url: origin.url("/hello")))
      let start = ContinuousClock.now
      let response = try await registry.load(request.urlRequest)
      let body = try await response.body.collect(upTo: 1 << 20)
      let entry = HAR.Entry(request, response, responseBody: SeenBody(body), started: Date(), elapsed: .now - start)
      #expect(entry.serverAddress == "127.0.0.1" && entry.response.httpVersion == "HTTP/1.1")
      #expect(entry.response.body.data == body && entry.time > 0)
      #expect(HARFormat.problems(in: HAR(entries: [entry]).data()) == [])
    }
  }
}
