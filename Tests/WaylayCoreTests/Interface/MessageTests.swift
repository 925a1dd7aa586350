import Foundation
import TestSupport
import Testing
import WaylayCore

@Suite("Requests, responses and bodies", .timeLimit(.minutes(5)))
struct MessageTests {
  @Test("a request made by hand moves its body out of the URLRequest")
  func separated() async throws {
    var urlRequest = URLRequest(url: .example)
    urlRequest.httpMethod = "post"
    urlRequest.httpBody = Data("body".utf8)
    let request = InterceptedRequest(urlRequest)
    #expect(request.urlRequest.httpBody == nil)
    #expect(request.method == .post)
    #expect(try await request.body.collect(upTo: 10) == Data("body".utf8))
    var copy = request
    copy.urlRequest.httpMethod = "PUT"
    copy.body = .empty
    #expect(request.method == .post && request.body.length == 4)
    #expect(copy.method == .put && copy.body.isEmpty)
  }

  @Test("fields keep their order and their duplicates; the head joins them as URLSession does")
  func fields() throws {
    var response = InterceptedResponse(to: InterceptedRequest(.get, .example), status: .created)
    response.fields.append(HTTPField(name: .setCookie, value: "a=1"))
    response.fields.append(HTTPField(name: .setCookie, value: "b=2"))
    response.fields.append(HTTPField(name: try #require(HTTPField.Name("X-a")), value: "1"))
    response.fields.append(HTTPField(name: try #require(HTTPField.Name("x-A")), value: "2"))
    #expect(response.fields[values: .setCookie] == ["a=1", "b=2"])
    let head = response.head
    #expect(head.statusCode == 201)
    #expect(head.value(forHTTPHeaderField: "Set-Cookie") == "a=1, b=2")
    #expect(head.value(forHTTPHeaderField: "X-A") == "1, 2")
    var copy = response
    copy.status = .accepted
    #expect(response.status == .created)
  }

  @Test("an interceptor is unit-tested with a next made of a closure")
  func unitTest() async throws {
    let retry = Link { request, next in
      let response = try await next(request)
      return response.status == .serviceUnavailable ? try await next(request) : response
    }
    let calls = Log<Int>()
    let next = InterceptorChain.Next { request in
      calls.add(1)
      return InterceptedResponse(to: request, status: calls.all.count == 1 ? .serviceUnavailable : .ok)
    }
    let response = try await retry.startLoading(InterceptedRequest(.get, .example), next: next)
    #expect(response.status == .ok)
    #expect(calls.all.count == 2)
  }

  @Test("data, file and replayable bodies are read again and again, a one-shot body once")
  func reading() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
    try large.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let replayable = MessageBody.stream(
      length: 3,
      replaying: {
        AsyncStream<Data> {
          $0.yield(Data("ab".utf8)); $0.yield(Data()); $0.yield(Data("c".utf8)); $0.finish()
        }
      })
    for _ in 0..<2 {
      #expect(try await MessageBody.file(file).collect(upTo: 1 << 20) == large)
      #expect(try await replayable.collect(upTo: 3) == Data("abc".utf8))
    }
    #expect(MessageBody.file(file).length == 200_000)
    #expect(replayable.isReplayable && MessageBody.empty.isEmpty)
    let once = MessageBody.stream(reading: InputStream(data: large))
    #expect(!once.isReplayable && once.length == nil)
    #expect(try await once.collect(upTo: 1 << 20) == large)
    let error = await failure { try await once.collect(upTo: 1) }
    #expect(error.flatMap(cause)?.code == .bodyConsumed)
  }

  @Test("bytes and lines")
  func lines() async throws {
    let body = MessageBody.stream(
      replaying: {
        AsyncStream<Data> {
          for part in ["one\ntw", "o\r", "\nthree\r\rfour"] { $0.yield(Data(part.utf8)) }; $0.finish()
        }
      })
    var lines: [String] = []
    for try await line in body.lines { lines.append(line) }
    #expect(lines == ["one", "two", "three", "", "four"])
    var bytes = 0
    for try await _ in body.bytes { bytes += 1 }
    #expect(bytes == 20)
  }

  @Test("errors read as sentences, without secrets")
  func errors() throws {
    let url = try #require(URL(string: "http://user:pw@example.com/a?token=secret"))
    let error = WaylayError(.timedOut, "nothing happened.", url: url)
    #expect("\(error)" == "WaylayError.timedOut: nothing happened. [http://example.com/a?token=REDACTED]")
    #expect(error.localizedDescription == "nothing happened.")
    let transport = TransportError(.cannotConnectToHost, phase: .connecting, address: "1.2.3.4:80", message: "refused")
    #expect(
      "\(transport)" == "TransportError.unreachable: refused [connecting, 1.2.3.4:80, URLError -1004]", "\(transport)")
  }
}
