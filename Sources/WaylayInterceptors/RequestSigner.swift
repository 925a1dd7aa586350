#if Cryptography
  import Crypto
  public import WaylayCore

  /// An interceptor that signs requests to certain hosts. Requires the trait `Cryptography` of this package.
  ///
  /// ```swift
  /// RequestSigner.hmac(key: key, over: [.contentType, .date], into: .signature, for: .host("api.example.com"))
  /// RequestSigner.aws(region: "eu-central-1", service: "s3", for: .host("*.amazonaws.com")) { await vault.credentials }
  /// ```
  ///
  /// The body is read for it chunk by chunk, and once more when it is sent: data, files and streams that can be made
  /// again. One that can be read once cannot be signed, and its load fails with `WaylayError.bodyConsumed`.
  ///
  /// Put it behind whatever changes requests, and behind `Retry`: each attempt is signed anew.
  public struct RequestSigner: OrderedInterceptor {
    private let hosts: InterceptorChain.Scope
    private let sign: @Sendable (_ request: inout InterceptedRequest, _ digest: String) async throws -> Void

    /// Makes an interceptor that signs in a way of your own.
    ///
    /// - Parameters:
    ///   - hosts: The requests that are signed.
    ///   - sign: Gets the request, and the SHA-256 of its body in hexadecimal, and sets the fields that say so.
    public init(
      for hosts: InterceptorChain.Scope,
      sign: @escaping @Sendable (_ request: inout InterceptedRequest, _ digest: String) async throws -> Void
    ) {
      (self.hosts, self.sign) = (hosts, sign)
    }

    /// Signs by HMAC-SHA256 over the lines method, target, each of the fields as `name:value` with its name in lower
    /// case, and the SHA-256 of the body in hexadecimal, with a line feed between them.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - fields: The fields that are signed; one that a request lacks counts as empty.
    ///   - signature: The field that gets the signature, in hexadecimal.
    ///   - hosts: The requests that are signed.
    public static func hmac(
      key: Data, over fields: [HTTPField.Name], into signature: HTTPField.Name, for hosts: InterceptorChain.Scope
    ) -> RequestSigner {
      RequestSigner(for: hosts) { request, digest in
        let path = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
        let query = path?.percentEncodedQuery.map { "?\($0)" } ?? ""
        let target = path?.percentEncodedPath ?? ""
        let lines =
          [request.method.rawValue, (target.isEmpty ? "/" : target) + query]
          + fields.map { "\($0.canonicalName):\(request.fields[$0] ?? "")" } + [digest]
        request.fields[signature] = Digest.hmac(lines.joined(separator: "\n"), key: key).hexadecimal
      }
    }

    /// Signs, and passes the request on.
    public func startLoading(
      _ request: InterceptedRequest, next: InterceptorChain.Next
    ) async throws -> InterceptedResponse {
      guard hosts.covers(request.url) else { return try await next(request) }
      guard request.body.isReplayable else {
        throw WaylayError(
          .bodyConsumed,
          "RequestSigner cannot sign a body that can be read once: pass data, a file, or a stream that is made anew.",
          interceptor: name, url: request.url, requestID: request.id)
      }
      var request = request
      var hash = SHA256()
      for try await chunk in request.body { hash.update(data: chunk) }
      try await sign(&request, Data(hash.finalize()).hexadecimal)
      return try await next(request)
    }

    /// What of the scope cannot be read, and what stands behind it that belongs before it.
    public func problems(in chain: InterceptorChain) -> [String] {
      hosts.problems.map { "does not cover what was intended: \($0.message)" } + misplaced(in: chain)
    }
  }

  /// The keys of an account of AWS, or of what signs as it does.
  public struct AWSCredentials: Sendable {
    /// The name of the key.
    public var accessKeyID: String
    /// The key.
    public var secretAccessKey: String
    /// The token of credentials that are for a while.
    public var sessionToken: String?

    /// Makes credentials.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
      (self.accessKeyID, self.secretAccessKey, self.sessionToken) = (accessKeyID, secretAccessKey, sessionToken)
    }
  }

  extension RequestSigner {
    /// Signs by AWS Signature Version 4, in the `Authorization` field.
    /// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html)
    ///
    /// - Parameters:
    ///   - region: The region, such as `eu-central-1`.
    ///   - service: The service, such as `s3`.
    ///   - fields: The fields that are signed, beside `Host`, `Content-Type` and those that begin with `X-Amz-`.
    ///   - hosts: The requests that are signed.
    ///   - now: The time.
    ///   - credentials: The credentials, asked for with every request.
    public static func aws(
      region: String, service: String, over fields: Set<HTTPField.Name> = [], for hosts: InterceptorChain.Scope,
      now: @escaping @Sendable () -> Date = { Date() },
      credentials: @escaping @Sendable () async throws -> AWSCredentials
    ) -> RequestSigner {
      RequestSigner(for: hosts) { request, digest in
        let (keys, time) = (
          try await credentials(),
          now().formatted(Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
        )
        request.fields[.amzDate] = time
        request.fields[.amzToken] = keys.sessionToken
        if service == "s3" { request.fields[.amzDigest] = digest }
        let (canonical, names) = request.canonical(digest, service, fields)
        let scope = "\(time.prefix(8))/\(region)/\(service)/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Data(SHA256.hash(data: Data(canonical.utf8))).hexadecimal)"
        let key = scope.split(separator: "/").reduce(Data("AWS4\(keys.secretAccessKey)".utf8)) {
          Digest.hmac(String($1), key: $0)
        }
        request.fields[.authorization] =
          "AWS4-HMAC-SHA256 Credential=\(keys.accessKeyID)/\(scope), SignedHeaders=\(names), "
          + "Signature=\(Digest.hmac(text, key: key).hexadecimal)"
      }
    }
  }

  extension InterceptedRequest {
    /// The canonical request of Signature Version 4, and the names of its fields.
    fileprivate func canonical(
      _ digest: String, _ service: String, _ chosen: Set<HTTPField.Name>
    ) -> (text: String, names: String) {
      let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
      var lines: [String: [String]] = [:]
      for field in fields {
        let name = field.name.canonicalName
        guard name == "content-type" || name.hasPrefix("x-amz-") || chosen.contains(field.name) else { continue }
        let words = field.value.split(whereSeparator: { $0 == " " || $0 == "\t" })
        lines[name, default: []].append(words.joined(separator: " "))
      }
      let port = url.port.flatMap { $0 == URL.defaultPort(of: url.scheme?.lowercased()) ? nil : ":\($0)" } ?? ""
      lines["host"] = [fields[HTTPField.Name("Host")!] ?? (parts?.percentEncodedHost ?? url.host ?? "") + port]
      let names = lines.keys.sorted()
      let query = (parts?.queryItems ?? []).map { ($0.name.encoded, ($0.value ?? "").encoded) }.sorted { $0 < $1 }
      let text = [
        method.rawValue, Self.canonicalPath(parts?.percentEncodedPath ?? "", service),
        query.map { "\($0)=\($1)" }.joined(separator: "&"),
        names.map { "\($0):\((lines[$0] ?? []).joined(separator: ","))\n" }.joined(), names.joined(separator: ";"),
        digest,
      ]
      return (text.joined(separator: "\n"), names.joined(separator: ";"))
    }

    /// The path as it is signed: by S3 as it is sent, by the others without empty and dot segments, and encoded again.
    private static func canonicalPath(_ path: String, _ service: String) -> String {
      guard service != "s3" else { return path.isEmpty ? "/" : path }
      var segments: [Substring] = []
      for segment in path.split(separator: "/") where segment != "." {
        if segment == ".." { _ = segments.popLast() } else { segments.append(segment) }
      }
      let isFolder = path.hasSuffix("/") || path.hasSuffix("/.") || path.hasSuffix("/..")
      return "/" + segments.map { String($0).encoded }.joined(separator: "/")
        + (isFolder && !segments.isEmpty ? "/" : "")
    }
  }

  private enum Digest {
    static func hmac(_ text: String, key: Data) -> Data {
      Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: key)))
    }
  }

  extension String {
    /// Percent-encoded but for the unreserved characters (RFC 3986, section 2.3).
    fileprivate var encoded: String {
      addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? ""
    }

    private static let unreserved = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
  }

  extension HTTPField.Name {
    fileprivate static let amzDate = HTTPField.Name("X-Amz-Date")!
    fileprivate static let amzDigest = HTTPField.Name("X-Amz-Content-Sha256")!
    fileprivate static let amzToken = HTTPField.Name("X-Amz-Security-Token")!
  }
#else
  /// Signatures of requests, which need the trait `Cryptography` of this package.
  @available(*, unavailable, message: "Enable the trait Cryptography of the package waylay to sign requests.")
  public struct RequestSigner: Sendable {}
#endif
