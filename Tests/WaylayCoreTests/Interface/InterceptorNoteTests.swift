import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("A note on a request", .timeLimit(.minutes(10)))
struct InterceptorNoteTests {
  @Test("is seen by canInit and startLoading, through a redirect, and by no server", arguments: [true, false])
  func seen(bySession: Bool) async throws {
    try await withOrigin { origin in
      let (asked, loaded) = (Log<String?>(), Log<String?>())
      let registry = InterceptorRegistry(configuration: .ephemeral) {
        Link { request, next in
          loaded.add(request.urlRequest.interceptorNote)
          return try await next(request)
        }
        Link.pass(
          "Optional",
          accepts: { request in
            asked.add(request.interceptorNote)
            return request.interceptorNote != "un cached?/ä"
          })
      }
      var request = URLRequest(url: origin.url("/redirect/302?to=/echo"))
      request.mainDocumentURL = URL(string: "https://example.com/page")
      request.interceptorNote = "un cached?/ä"
      #expect(request.interceptorNote == "un cached?/ä")
      let loader: any URLLoader = bySession ? URLSession.intercepted(by: registry) : registry
      _ = try await loader.data(for: request)
      #expect(loaded.all == ["un cached?/ä", "un cached?/ä"])
      #expect(Set(asked.all) == ["un cached?/ä"])
      #expect(!origin.rawBytes.joined().contains("cached"))
      registry.invalidate()
    }
  }

  @Test("leaves the main document alone, and can be taken back")
  func document() throws {
    let page = try #require(URL(string: "https://example.com/page?a=b"))
    var request = URLRequest(url: .example)
    request.mainDocumentURL = page
    #expect(request.interceptorNote == nil)
    for note in ["first", "second"] { request.interceptorNote = note }
    let intercepted = InterceptedRequest(request)
    #expect(intercepted.options.mainDocumentURL == page)
    #expect(intercepted.urlRequest.interceptorNote == "second")
    request.interceptorNote = nil
    #expect(request.mainDocumentURL == page && request.interceptorNote == nil)
  }
}
