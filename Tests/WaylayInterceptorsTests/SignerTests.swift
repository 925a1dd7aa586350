#if Cryptography
  import Crypto
  import Foundation
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayInterceptors
  import WaylayMocks

  @Suite("RequestSigner", .timeLimit(.minutes(5)))
  struct SignerTests {
    /// Of aws-sig-v4-test-suite, which AWS has published: the request and the signature, each for the key AKIDEXAMPLE at
    /// 2015-08-30T12:36:00Z in us-east-1 for a service called `service`.
    struct Vector: Sendable, CustomTestStringConvertible {
      var testDescription: String
      var method = HTTPRequest.Method.get
      var target = "/"
      var fields: [(String, String)] = []
      var body = ""
      var names = "host;x-amz-date"
      var token: String?
      var signature: String
    }

    static let vectors: [Vector] = [
      Vector(
        testDescription: "get-vanilla", signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
      Vector(
        testDescription: "get-unreserved",
        target: "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"),
      Vector(
        testDescription: "get-slashes", target: "//example//",
        signature: "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"),
      Vector(
        testDescription: "get-vanilla-query-order-key-case", target: "/?Param2=value2&Param1=value1",
        signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
      Vector(
        testDescription: "get-vanilla-query-order-value", target: "/?Param1=value2&Param1=value1",
        signature: "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"),
      Vector(
        testDescription: "get-vanilla-utf8-query", target: "/?%E1%88%B4=bar",
        signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
      Vector(
        testDescription: "get-header-value-order",
        fields: [
          ("My-Header1", "value4"), ("My-Header1", "value1"), ("My-Header1", "value3"), ("My-Header1", "value2"),
        ],
        names: "host;my-header1;x-amz-date",
        signature: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"),
      Vector(
        testDescription: "get-header-key-duplicate",
        fields: [("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1")],
        names: "host;my-header1;x-amz-date",
        signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"),
      Vector(
        testDescription: "get-header-value-trim", fields: [("My-Header1", " value1"), ("My-Header2", "\"a   b   c\"")],
        names: "host;my-header1;my-header2;x-amz-date",
        signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
      Vector(
        testDescription: "post-x-www-form-urlencoded", method: .post,
        fields: [("Content-Type", "application/x-www-form-urlencoded")], body: "Param1=value1",
        names: "content-type;host;x-amz-date",
        signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
      Vector(
        testDescription: "get-vanilla-with-session-token", names: "host;x-amz-date;x-amz-security-token",
        token: "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267",
        signature: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"),
    ]

    @Test("signatures are those of the suite that AWS has published", arguments: vectors)
    func aws(vector: Vector) async throws {
      let date = try Date("2015-08-30T12:36:00Z", strategy: .iso8601)
      let signer = RequestSigner.aws(
        region: "us-east-1", service: "service",
        over: Set(vector.fields.compactMap { HTTPField.Name($0.0) }), for: .host("example.amazonaws.com"),
        now: { date }
      ) {
        AWSCredentials(
          accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
          sessionToken: vector.token)
      }
      let url = try #require(URL(string: "https://example.amazonaws.com\(vector.target)"))
      var fields = HTTPFields()
      for (name, value) in vector.fields { fields.append(HTTPField(name: try #require(.init(name)), value: value)) }
      let chunks = vector.body.map { Data(String($0).utf8) }
      // As a stream that is made again, too: it is hashed as it is read.
      for body in [
        MessageBody.text(vector.body),
        .stream(replaying: {
          AsyncStream<Data> { stream in
            for chunk in chunks { stream.yield(chunk) }
            stream.finish()
          }
        }),
      ] {
        let script = Script(.ok)
        _ = try await signer.load(InterceptedRequest(vector.method, url, fields: fields, body: body), script)
        let sent = try #require(script.requests.all.first)
        #expect(
          sent.fields[.authorization]
            == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            + "SignedHeaders=\(vector.names), Signature=\(vector.signature)")
        #expect(try await sent.body.collect(upTo: 100) == Data(vector.body.utf8))
      }
    }

    @Test(
      "an HMAC is over method, target, fields and body; nobody else gets one, and a body that is read once is refused")
    func hmac() async throws {
      let name = try #require(HTTPField.Name("X-Signature"))
      let signer = RequestSigner.hmac(
        key: Data("key".utf8), over: [.contentType, .date], into: name, for: .host("api.example.com"))
      let request = InterceptedRequest(
        .post, "http://api.example.com/a%20b?c=%2F", fields: [.contentType: "text/plain"], body: .text("hello"))
      let script = Script(.ok)
      _ = try await signer.load(request, script)
      let digest = SHA256.hash(data: Data("hello".utf8)).map { String(format: "%02x", $0) }.joined()
      let text = "POST\n/a%20b?c=%2F\ncontent-type:text/plain\ndate:\n\(digest)"
      let expected = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: Data("key".utf8)))
        .map { String(format: "%02x", $0) }.joined()
      #expect(script.requests.all.first?.fields[name] == expected)
      _ = try await signer.load(InterceptedRequest(.get, "http://other.example/"), script)
      #expect(script.requests.all.last?.fields[name] == nil)
      var oneShot = request
      oneShot.body = .stream(AsyncStream<Data> { $0.finish() })
      let error = await failure { try await signer.load(oneShot, script) } as? WaylayError
      #expect(error?.code == .bodyConsumed && script.requests.all.count == 2)
    }
  }
#endif
