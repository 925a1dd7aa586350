import Testing
import WaylayHosts

@Suite("Endpoints", .timeLimit(.minutes(5)))
struct HostEndpointTests {
  @Test("come with ports in the usual forms, and in no others")
  func endpoints() throws {
    for text in ["203.0.113.7", "203.0.113.7:8443", "2001:db8::7", "[2001:db8::7]:8443"] {
      #expect(try HostEndpoint(text).description == text)
    }
    for text in ["203.0.113.7:0", "203.0.113.7:65536", "203.0.113.7:", "203.0.113.7:http", "host:80", "[::1]:+8"] {
      #expect(throws: HostError.self) { try HostEndpoint(text) }
    }
  }
}
