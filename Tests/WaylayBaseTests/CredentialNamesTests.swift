import Testing
import WaylayBase

@Suite("Names of credentials")
struct CredentialNamesTests {
  @Test("are fields that log somebody in, and items that do, in any spelling")
  func found() {
    for name in [
      "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "X-Auth-Token",
      "X-Amz-Security-Token", "X-Csrf-Token", "X-XSRF-TOKEN", "DPoP", "Ocp-Apim-Subscription-Key", "PHPSESSID",
    ] {
      for spelling in [name, name.lowercased(), name.uppercased(), name.replacing("-", with: "_")] {
        #expect(CredentialNames.isCredential(spelling), "\(spelling)")
      }
    }
    for name in [
      "access_token", "accessToken", "ACCESS-TOKEN", "id_token", "user[password]", "passwd", "client.secret", "sig",
      "X-Amz-Signature", "X-Amz-Credential", "AWSAccessKeyId", "jsessionid", "user_pin", "userPin", "code_verifier",
      "token\u{301}", "my_s\u{200D}secret\u{20DD}",
    ] { #expect(CredentialNames.isCredential(name), "\(name)") }
  }

  @Test("are none of those that only sound like one")
  func harmless() {
    for name in [
      "", "-", "Accept", "Content-Type", "Host", "Range", "ETag", "Idempotency-Key", "page", "patient_id", "toke",
      "monkey", "opinion", "design", "token_type", "max_tokens", "input_tokens", "spinning", "compass",
    ] { #expect(!CredentialNames.isCredential(name), "\(name)") }
  }

  @Test("compare without case and punctuation, in any script")
  func normalized() {
    #expect(CredentialNames.normalized("X-Api_Key[0]") == "xapikey0")
    #expect(CredentialNames.normalized("Schl\u{DC}ssel Wort") == CredentialNames.normalized("schl\u{FC}ssel-wort"))
  }
}
