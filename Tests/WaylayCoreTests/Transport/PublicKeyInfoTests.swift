import Foundation
import TestOrigin
import Testing

@testable import WaylayCore

/// Pins are compared by it on Apple platforms; on Linux libcurl does.
@Suite("The public key of a certificate")
struct PublicKeyInfoTests {
  @Test("has the digest that a pin has, and no other; what is cut or changed anywhere is read without a trap")
  func digest() throws {
    let description = TestOrigin.TLS.Certificate(names: ["a.test", "*.b.test"])
    let der = try TestAuthority().clientIdentity(description).der
    let digest = try #require(PublicKeyInfo.digest(ofCertificate: der))
    #expect("sha256/" + digest.base64EncodedString() == description.pin)
    for length in 0..<der.count / 2 { _ = PublicKeyInfo.digest(ofCertificate: der.prefix(length)) }
    for position in der.indices {
      for byte in [0, 0x7F, 0x80, 0x81, 0x84, 0xFF] as [UInt8] {
        var changed = der
        changed[position] = byte
        _ = PublicKeyInfo.digest(ofCertificate: changed)
      }
    }
    #expect(PublicKeyInfo.digest(ofCertificate: Data()) == nil)
    #expect(PublicKeyInfo.digest(ofCertificate: der.dropFirst()) == nil)
  }
}
