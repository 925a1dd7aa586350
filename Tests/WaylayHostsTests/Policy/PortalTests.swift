import Foundation
import Testing
import WaylayCore
import WaylayHosts

/// What captive portals answer with, and what hosts do.
@Suite("The check for portals", .timeLimit(.minutes(5)))
struct PortalTests {
  private struct Answer: CustomTestStringConvertible {
    var url = "http://api.example.com/v1/list"
    var accept: String?
    var status = 200
    var fields: [String: String] = [:]

    var testDescription: String { "\(url) \(accept ?? "") \(status) \(fields)" }
  }

  private func rejection(_ answer: Answer) throws -> String? {
    var request = URLRequest(url: try #require(URL(string: answer.url)))
    if let accept = answer.accept { request.setValue(accept, forHTTPHeaderField: "Accept") }
    let intercepted = InterceptedRequest(request)
    var response = InterceptedResponse(
      to: intercepted, status: .init(code: answer.status), body: .empty, source: .network)
    for (name, value) in answer.fields { response.fields[try #require(.init(name))] = value }
    return ResponseCheck.noPortal(redirectsWithin: ["partner.test"]).rejection(of: response, to: intercepted)
  }

  private static let portals: [Answer] = [
    Answer(status: 511),
    Answer(status: 302, fields: ["Location": "http://login.hotel.example/"]),
    Answer(status: 307, fields: ["Location": "http://192.0.2.1/login"]),
    Answer(status: 302, fields: ["Location": "http://[2001:db8::1]/login"]),
    Answer(status: 302, fields: ["Location": "http://portal/"]),
    Answer(status: 302, fields: ["Location": "http://router.local/"]),
    Answer(status: 302, fields: ["Location": "http://evil-partner.test/"]),
    Answer(accept: "application/json", fields: ["Content-Type": "text/html; charset=utf-8"]),
    Answer(accept: "image/png, image/*;q=0.8", fields: ["Content-Type": "TEXT/HTML"]),
    Answer(url: "http://api.example.com/picture.PNG", fields: ["Content-Type": "text/html"]),
    Answer(url: "http://api.example.com/a.json?x", accept: "*/*", fields: ["Content-Type": "application/xhtml+xml"]),
  ]

  private static let hosts: [Answer] = [
    Answer(), Answer(status: 204), Answer(fields: ["Content-Type": "text/html"]),
    Answer(accept: "*/*", fields: ["Content-Type": "text/html"]),
    Answer(accept: "application/json, text/*;q=0.1", fields: ["Content-Type": "text/html"]),
    Answer(accept: "application/json", fields: ["Content-Type": "application/json"]),
    // A host's own page of an error.
    Answer(accept: "application/json", status: 404, fields: ["Content-Type": "text/html"]),
    Answer(status: 302, fields: ["Location": "/v2/list"]),
    Answer(status: 302, fields: ["Location": "https://api.example.com/"]),
    Answer(status: 302, fields: ["Location": "https://www.EXAMPLE.com/"]),
    Answer(status: 302, fields: ["Location": "https://example.com/"]),
    Answer(status: 302, fields: ["Location": "https://a.partner.test/"]), Answer(status: 304), Answer(status: 302),
    Answer(url: "http://192.0.2.1/a", status: 302, fields: ["Location": "http://192.0.2.1/b"]),
  ]

  @Test("rejects what only a portal answers")
  func portal() throws {
    for answer in Self.portals { #expect(try rejection(answer) != nil, "\(answer.testDescription)") }
  }

  @Test("takes what a host may answer")
  func host() throws {
    for answer in Self.hosts { #expect(try rejection(answer) == nil, "\(answer.testDescription)") }
  }

  @Test("with it a portal's page over http is left for the next address")
  func failover() async throws {
    var policy = HostRewriter.Policy.require
    policy.responseCheck = .noPortal()
    let rig = try Rig(["127.0.0.1": .answers(status: 511), "127.0.0.2": .answers()], policy: policy)
    #expect(try await rig.load("GET", "http://api.test/") == "127.0.0.2")
  }

  @Test("checks that look at the request are combined with others; without the request they take every answer")
  func combined() throws {
    let request = InterceptedRequest(URLRequest(url: try #require(URL(string: "http://a.example/"))))
    let response = InterceptedResponse(to: request, status: .init(code: 511), body: .empty, source: .network)
    let check = ResponseCheck.noPortal()
    #expect(check.rejection(of: response) == nil)
    #expect((check && .anything).rejection(of: response, to: request) != nil)
    #expect((check || .anything).rejection(of: response, to: request) == nil)
    #expect(
      (.succeeds || check).rejection(of: response, to: request)?.contains(
        "and the network requires a login (status 511)") == true)
  }
}

extension ResponseCheck {
  /// Takes everything.
  static let anything = ResponseCheck { _ in nil }

  /// Takes what says that the request has succeeded.
  static let succeeds = ResponseCheck { response in
    (200..<300).contains(response.status.code) ? nil : "the status is \(response.status.code)"
  }
}
