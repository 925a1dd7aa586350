import Foundation
import Testing
import WaylayCore

@Suite("Notes with optional values", .timeLimit(.minutes(5)))
struct OptionalNoteTests {
  private enum Tenant: InterceptedRequest.Key {
    static let defaultValue: String? = "nobody"
  }

  @Test("what was noted is read again, nothing included")
  func optional() throws {
    var request = InterceptedRequest(.get, try #require(URL(string: "http://example.com/")))
    #expect(request[Tenant.self] == "nobody")
    request[Tenant.self] = "acme"
    #expect(request[Tenant.self] == "acme")
    request[Tenant.self] = nil
    #expect(request[Tenant.self] == nil)
  }
}
