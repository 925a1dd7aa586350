import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

extension HTTPField.Name {
  fileprivate static let xA = HTTPField.Name("X-A")!
  fileprivate static let xB = HTTPField.Name("X-B")!
}

@Suite("A request has parts of its own", .timeLimit(.minutes(5)))
struct RequestTests {
  private var repeated: HTTPFields {
    var fields: HTTPFields = [.xB: "1"]
    fields.append(HTTPField(name: .xA, value: "2"))
    fields.append(HTTPField(name: .xB, value: "3"))
    return fields
  }

  @Test(
    "fields reach the wire in their order, and those that occur twice as two", .enabled(if: Platform.isLinux, "libcurl")
  )
  func wire() async throws {
    try await withOrigin { origin in
      let fields = repeated
      let registry = InterceptorRegistry {
        Link { request, next in
          var request = request
          for field in fields { request.fields.append(field) }
          return try await next(request)
        }
      }
      _ = try await registry.data(for: URLRequest(url: origin.url("/hello")))
      let bytes = origin.rawBytes.joined()
      let lines = bytes.split(separator: "\r\n").filter { $0.hasPrefix("X-") }
      #expect(lines == ["X-B: 1", "X-A: 2", "X-B: 3"])
      registry.invalidate()
    }
  }

  @Test("the projection joins fields, keeps what has not changed apart, and takes what has")
  func projection() throws {
    var request = InterceptedRequest(.post, "https://api.example.com/a", fields: repeated, body: .text("body"))
    #expect(request.urlRequest.allHTTPHeaderFields == ["X-B": "1, 3", "X-A": "2"])
    #expect(request.urlRequest.httpMethod == "POST" && request.urlRequest.httpBody == nil)
    request.urlRequest.setValue("4", forHTTPHeaderField: "X-A")
    request.urlRequest.setValue("5", forHTTPHeaderField: "X-C")
    #expect(request.fields.map { "\($0.name.rawName): \($0.value)" } == ["X-B: 1", "X-A: 4", "X-B: 3", "X-C: 5"])
    request.urlRequest.setValue("6", forHTTPHeaderField: "X-B")
    #expect(request.fields[values: .xB] == ["6"])
    request.urlRequest.httpBody = Data("other".utf8)
    #expect(request.body.inMemory == Data("other".utf8) && request.urlRequest.httpBody == nil)
    request.options.timeout = 7
    request.method = .put
    #expect(request.urlRequest.timeoutInterval == 7 && request.urlRequest.httpMethod == "PUT")
  }

  @Test("the options of a request are those of its projection")
  func options() {
    var urlRequest = URLRequest(url: .example)
    urlRequest.allowsCellularAccess = false
    urlRequest.networkServiceType = .background
    var request = InterceptedRequest(urlRequest)
    #expect(request.options.networkAccess.contains(.cellular) == false)
    request.fields[.accept] = "text/plain"
    #expect(request.options.serviceType == .background && request.urlRequest.networkServiceType == .background)
    #expect(!request.urlRequest.allowsCellularAccess)
  }

  @Test("an app's own main document comes through a chain unharmed, with the loop guard's tag and without")
  func mainDocument() async throws {
    let document = try #require(URL(string: "https://app.example.com/page"))
    let seen = Log<URL?>()
    let registry = InterceptorRegistry {
      Link { request, next in
        seen.add(request.options.mainDocumentURL)
        var request = request
        request.urlRequest.setValue("1", forHTTPHeaderField: "X-A")
        seen.add(request.options.mainDocumentURL)
        return try await next(request)
      }
      Link { request, _ in
        seen.add(request.options.mainDocumentURL)
        return InterceptedResponse(to: request)
      }
    }
    var request = URLRequest(url: .example)
    request.mainDocumentURL = document
    _ = try await URLSession.intercepted(by: registry).data(for: request)
    _ = try await registry.data(for: request)
    #expect(seen.all == Array(repeating: document, count: 6))
    registry.invalidate()
  }

  // Not by `setValue`: Foundation leaves out what it takes for no field, and the request has nothing that is wrong.
  @Test("a request of the loading system that no message can carry is not sent, and says why")
  func defects() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry { Link.pass() }
      for change in [
        { (request: inout URLRequest) in request.httpMethod = "GET /\r\n" },
        { $0.allHTTPHeaderFields = ["X-A": "a\r\nb: c"] },
        { $0.allHTTPHeaderFields = ["X A": "a"] },
      ] {
        var request = URLRequest(url: origin.url("/hello"))
        change(&request)
        let error = await failure { [request] in try await registry.data(for: request) }
        #expect(error.flatMap(cause)?.code == .invalidRequest)
      }
      #expect(origin.rawBytes.joined().isEmpty)
      registry.invalidate()
    }
  }
}
