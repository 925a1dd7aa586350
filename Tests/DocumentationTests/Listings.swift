import Foundation
import Waylay
import WaylayInterceptors

// Every listing of the README and the articles stands here word for word, so that it compiles; `ListingTests` compares
// them. What the listings of a page take for granted is in the parameters of the functions round them, and at the end
// of the page.

func readmeOpening() async throws {
  struct AddLanguage: RequestInterceptor {
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      var request = request
      request.fields[.acceptLanguage] = "eo"
      return try await next(request)
    }
  }

  let registry = InterceptorRegistry { AddLanguage() }
  let session = URLSession(configuration: .default.intercepted(by: registry))
  let url = URL(string: "https://api.example.com/users/1")!
  let (data, response) = try await session.data(from: url)
  _ = (data, response)
}

func readmeMocks() {
  let mock = MockInterceptor {
    Stub(.get, "https://api.example.com/users/:id", .json(["name": "Ada"]))
    Stub(.post, "https://api.example.com/users", .status(201)).where(.body(.json(["name": "Ada"])))
  }
  let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { mock }))
  _ = session
}

func readmeInterceptor() {
  let registry = InterceptorRegistry {
    ValidateStatus()
    Retry(attempts: 3)
    SetField(.xAPIKey, "…", for: .host("api.example.com"))
    RequestLogger(.fields, logger: Logger(label: "http"))
    Intercept("language") { request, next in
      var request = request
      request.fields[.acceptLanguage] = "eo"
      return try await next(request)
    }
  }
  let session = URLSession(configuration: .default.intercepted(by: registry))
  _ = session
}

func readmeArchive() {
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("articles")
  let archive = ArchiveCache(at: directory)
  let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { archive }))
  archive.mode = .offline  // answer from what is stored, however old
  _ = session
}

func readmeRoutes() {
  let rewriter = HostRewriter(["api.example.com": ["203.0.113.7", "2001:db8::7"]])
  let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { rewriter }))
  _ = session
}

func troubleshooting() async throws {
  let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry()))
  let url = URL(string: "https://api.example.com/users/1")!
  do {
    _ = try await session.data(from: url)
  } catch let error as URLError {
    print(error.loadError ?? error)
  }
}

private struct AddLanguage: RequestInterceptor {
  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    try await next(request)
  }
}

func readmeDirectWay(registry: InterceptorRegistry, request: URLRequest, file: URL, destination: URL) async throws {
  let response = try await registry.load(request)  // returns with the head; the body comes as it is read
  for try await chunk in response.body { print(chunk.count) }

  let (data, head) = try await registry.data(for: request)
  let (bytes, _) = try await registry.bytes(for: request)
  for try await line in bytes.lines { print(line) }
  let (answer, _) = try await registry.upload(for: request, from: .file(file))
  try await registry.download(for: request, to: destination) { print($0.fraction ?? 0) }
  _ = (data, head, answer)
}

func writingAnInterceptor(registry: InterceptorRegistry, sign: @escaping @Sendable (Data) -> String) {
  let watched = InterceptorRegistry {
    Intercept(request: { $0.fields[.userAgent] = "app/1.0" })
    Intercept("timing") { request, next in
      let start = ContinuousClock.now
      defer { print(request.url.path, ContinuousClock.now - start) }
      return try await next(request)
    }
  }
  _ = watched

  struct AskElsewhere: RequestInterceptor {
    let host: String

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      let response = try await next(request)
      guard response.status == .notFound, request.isSafe, request.body.isReplayable,
        var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
      else { return response }
      parts.host = host
      var elsewhere = request
      elsewhere.url = parts.url ?? request.url
      return try await next(elsewhere)
    }
  }

  struct SignRequest: RequestInterceptor {
    let signature: @Sendable (Data) -> String

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      let body = try await request.body.collect(upTo: 1 << 20)
      var signed = request
      signed.body = .data(body)
      signed.fields[.xSignature] = signature(body)
      return try await next(signed)
    }
  }

  registry.register(
    InterceptorChain("api", for: .host("api.example.com")) {
      AskElsewhere(host: "old.example.com")
      SignRequest(signature: sign)
    })

  struct Maintenance: InlineResponding {
    func canInit(with request: URLRequest) -> Bool { request.url?.path != "/status" }

    func respondInline(_ request: InterceptedRequest) -> InlineResponse {
      .response(
        InterceptedResponse(
          to: request, status: .serviceUnavailable, fields: [.contentType: "text/plain", .retryAfter: "60"],
          body: .text("back in a minute")))
    }
  }

  struct UnixLineEnds: RequestInterceptor {
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      var response = try await next(request)
      response.body = .stream(response.body.map { chunk in Data(chunk.filter { $0 != UInt8(ascii: "\r") }) })
      response.fields[.contentLength] = nil
      return response
    }
  }
  _ = (Maintenance(), UnixLineEnds())
}

func testingIt(url: URL) async throws {
  let next = InterceptorChain.Next { request in
    InterceptedResponse(to: request, status: request.fields[.acceptLanguage] == "eo" ? .ok : .notAcceptable)
  }
  let response = try await AddLanguage().startLoading(InterceptedRequest(.get, url), next: next)
  _ = response
}

// MARK: WritingAnInterceptor

extension HTTPField.Name {
  static let xName = HTTPField.Name("X-Name")!
}

extension HTTPField.Name {
  static let xSignature = HTTPField.Name("X-Signature")!
}

func firstSteps() async throws {
  struct Greeter: RequestInterceptor {
    func canInit(with request: URLRequest) -> Bool { request.url?.path == "/greeting" }

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      let name = request.fields[.xName] ?? "whoever you are"
      return InterceptedResponse(to: request, fields: [.contentType: "text/plain"], body: .text("hello, \(name)"))
    }
  }

  struct AddName: RequestInterceptor {
    let userName: String

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      var request = request
      request.fields[.xName] = userName
      print("out:  \(request.method) \(request.url.path)")
      let response = try await next(request)
      print("back: \(response.status.code)")
      return response
    }
  }

  let registry = InterceptorRegistry {
    AddName(userName: "Ada")
    Greeter()
  }
  let session = URLSession(configuration: .default.intercepted(by: registry))
  let url = URL(string: "https://api.example.com/greeting")!
  let (data, response) = try await session.data(from: url)
  if let head = response as? HTTPURLResponse {
    print(head.statusCode, String(decoding: data, as: UTF8.self))
  }

  registry.register(
    InterceptorChain("greetings", for: .host("api.example.com")) {
      AddName(userName: "Ada")
      Greeter()
    })
}

// MARK: Bodies

func kindsOfBodies(
  json: Data, file: URL, makeRows: @escaping @Sendable () -> AsyncStream<Data>, rows: AsyncStream<Data>
) {
  let bodies: [MessageBody] = [
    .data(json),
    .text("hello"),
    .file(file),
    .stream(replaying: makeRows),
    .stream(rows, length: 4096),
    .stream(reading: InputStream(data: json)),
  ]
  _ = bodies
}

func readingABody(response: InterceptedResponse) async throws {
  for try await chunk in response.body { print(chunk.count) }

  for try await byte in response.body.bytes { print(byte) }

  for try await line in response.body.lines where line.hasPrefix("data: ") { print(line.dropFirst(6)) }

  let whole = try await response.body.collect(upTo: 1 << 20)
  _ = whole
}

struct MakeReplayable: RequestInterceptor {
  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    guard !request.body.isReplayable else { return try await next(request) }
    var request = request
    let data = try await request.body.collect(upTo: 1 << 20)
    request.body = .data(data)
    return try await next(request)
  }
}

struct Counted: AsyncSequence, Sendable {
  typealias Element = Data
  let body: MessageBody
  let whenDone: @Sendable (Int) -> Void

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(chunks: body.makeAsyncIterator(), whenDone: whenDone)
  }

  struct AsyncIterator: AsyncIteratorProtocol {
    var chunks: MessageBody.AsyncIterator
    let whenDone: @Sendable (Int) -> Void
    var count = 0

    mutating func next() async throws -> Data? {
      guard let chunk = try await chunks.next() else {
        whenDone(count)
        return nil
      }
      count += chunk.count
      return chunk
    }
  }
}

struct CountResponses: RequestInterceptor {
  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    var response = try await next(request)
    let path = request.url.path
    response.body = .stream(
      Counted(body: response.body) { print("\(path): \($0) bytes") }, length: response.body.length)
    return response
  }
}

func droppingABody(registry: InterceptorRegistry, request: URLRequest) async throws {
  do {
    let response = try await registry.load(request)
    for try await line in response.body.lines {
      print(line)
      if line == "end" { break }
    }
  }  // `response` ends here, and its transfer with it
}

// MARK: RedirectsCookiesCredentials

func redirectPolicy() {
  let registry = InterceptorRegistry(redirects: RedirectPolicy(maximumHops: 5, allowsDowngrade: false)) {
    AddLanguage()
  }
  _ = registry
}

private struct AddKey: RequestInterceptor {
  let key: String

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    var request = request
    request.fields[.xAPIKey] = key
    return try await next(request)
  }
}

func addingAKey(registry: InterceptorRegistry, key: String) {
  registry.register(
    InterceptorChain("key", for: .host("api.example.com")) {
      AddKey(key: key)
    })
}

struct Fallback: RequestInterceptor {
  let file: URL

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    do {
      return try await next(request)
    } catch is TransportError {
      return InterceptedResponse(
        to: request, fields: [.contentType: "application/json"], body: .file(file),
        source: .init("fallback", storesCookies: false))
    }
  }
}

final class Login: NSObject, URLSessionTaskDelegate, Sendable {
  let password: @Sendable (String) -> String?

  init(password: @escaping @Sendable (String) -> String?) {
    self.password = password
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    let space = challenge.protectionSpace
    guard space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic, let known = password(space.host) else {
      return completionHandler(.performDefaultHandling, nil)
    }
    completionHandler(.useCredential, URLCredential(user: "ada", password: known, persistence: .forSession))
  }
}

func loggingIn(registry: InterceptorRegistry, passwords: [String: String]) {
  let session = URLSession(
    configuration: .default.intercepted(by: registry), delegate: Login { passwords[$0] }, delegateQueue: nil)
  _ = session
}

func storingACredential(password: String) {
  let space = URLProtectionSpace(
    host: "api.example.com", port: 443, protocol: NSURLProtectionSpaceHTTPS, realm: "staff",
    authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
  let configuration = URLSessionConfiguration.default
  configuration.urlCredentialStorage?.setDefaultCredential(
    URLCredential(user: "ada", password: password, persistence: .forSession), for: space)
}

// MARK: ErrorsAndTimeouts

func readingTheCause(session: URLSession, url: URL) async throws {
  do {
    let (data, _) = try await session.data(from: url)
    print(data.count)
  } catch let error as URLError {
    if let cause = error.cause(as: WaylayError.self) {
      print(cause.code, cause.interceptor ?? "", cause.message)
    } else if let cause = error.cause(as: TransportError.self) {
      print(cause.phase, cause.address ?? "", cause.message)
    } else {
      print(error.code.rawValue, error.failingURL ?? url)
    }
  }
}

struct ImpatientFirstTry: RequestInterceptor {
  func canInit(with request: URLRequest) -> Bool { request.httpMethod == "GET" }

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    var first = request
    first.options.timeout = 5
    do {
      return try await next(first)
    } catch let error as TransportError where error.code == .timedOut {
      return try await next(request)
    }
  }
}

// MARK: HowAChainRuns

struct Audit: RequestInterceptor {
  let registry: InterceptorRegistry
  let auditURL: URL

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    let response = try await next(request)
    var report = URLRequest(url: auditURL)
    report.httpMethod = "POST"
    report.httpBody = Data("\(request.method) \(response.status.code)".utf8)
    _ = try await registry.data(for: report)
    return response
  }
}

func auditing(registry: InterceptorRegistry, auditURL: URL) {
  registry.register(
    InterceptorChain("audit", for: .host("api.example.com").excludingPath("/audit/**")) {
      Audit(registry: registry, auditURL: auditURL)
    })
}

func guarding(auditURL: URL) {
  let gate = LoopGuard(name: "Gate")
  let reports = InterceptorRegistry {
    gate
    AddLanguage()
  }
  let api = InterceptorRegistry {
    gate
    Audit(registry: reports, auditURL: auditURL)
  }
  _ = api
}

func sharedSession(registry: InterceptorRegistry, url: URL) async throws {
  let interception = registry.interceptSharedSession()
  defer { interception.end() }
  let (data, _) = try await URLSession.shared.data(from: url)
  _ = data
}

// MARK: Transports

func messageLimits() {
  var limits = MessageLimits()
  limits.fieldCount = 200
  let registry = InterceptorRegistry(limits: limits) { AddLanguage() }
  _ = registry
}

// On Apple platforms there is no CurlTransport.
#if canImport(FoundationNetworking)
  func curlOptions(companyAuthority: URL) throws {
    var options = CurlTransport.Options()
    options.additionalAuthorities = [try Data(contentsOf: companyAuthority)]
    options.maximumConnectionsPerHost = 8
    options.connectTimeout = 5
    options.bufferSize = 1 << 20
    let registry = InterceptorRegistry(transport: CurlTransport(options: options)) { AddLanguage() }
    _ = registry
  }

  func whichLibcurl() {
    if let reason = CurlTransport.unavailableReason {
      print("no libcurl: \(reason)")
    } else {
      print(CurlTransport.libraryVersion ?? "")
    }
  }
#endif

func readingMetrics(registry: InterceptorRegistry, request: URLRequest) async throws {
  let response = try await registry.load(request)
  let body = try await response.body.collect(upTo: 1 << 20)
  if let metrics = response.metrics { print(body.count, metrics.address ?? "", metrics.total ?? .zero) }
}

struct DialInTurn: RequestInterceptor {
  let addresses: [String]

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    var failure: any Error = URLError(.cannotFindHost)
    for address in addresses {
      var attempt = request
      attempt.route = try Route(address)
      do {
        return try await next(attempt)
      } catch let error as TransportError where error.requestBytesSent == 0 && request.body.isReplayable {
        failure = error
      }
    }
    throw failure
  }
}

struct Answers: Transport {
  let capabilities: TransportCapabilities = []
  let bodies: [String: String]

  func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    guard let text = bodies[request.url.path] else {
      throw TransportError(
        .cannotConnectToHost, phase: .connecting, requestBytesSent: 0, message: "nobody answers here.")
    }
    return InterceptedResponse(to: request, fields: [.contentType: "text/plain"], body: .text(text), source: .network)
  }
}

// MARK: Pins

func pinned(_ current: String, _ backup: String, certificate: Data, key: Data) throws -> URLSession {
  let security = TransportSecurity(
    pins: try Pins(["api.example.com": ["sha256/\(current)", "sha256/\(backup)"]]),
    clientCertificates: [try .pem(certificate: certificate, key: key, for: "api.example.com")])
  return URLSession(configuration: .default.intercepted(by: InterceptorRegistry(security: security)))
}
