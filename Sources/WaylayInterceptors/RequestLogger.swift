public import Logging
public import WaylayCore
public import WaylayHAR

/// An interceptor that logs requests and responses, without their credentials.
///
/// ```swift
/// RequestLogger(.body, logger: Logger(label: "http"))
/// ```
///
/// Its place in the chain determines its view: put it first to log the requests of the app, last to log those on the
/// network, each attempt and each hop. It logs the request when it passes, the response when its head arrives, and a
/// body once it has been read, or its logged prefix. It does not read, buffer or delay bodies. A response is logged
/// with its source: the network, an archive, a mock. Its URL is without user info, fragment and values of the query, as
/// in all messages of this package.
///
/// With the detail `fields`, the metadata key `curl` has the request as a redacted `curl` command.
public struct RequestLogger: OrderedInterceptor {
  /// The level of detail.
  public enum Detail: Int, Sendable, Comparable {
    /// Nothing.
    case none
    /// A line for the request, and one for the response.
    case basic
    /// The header fields in addition.
    case fields
    /// The bodies in addition.
    case body

    /// Compares the amount of detail.
    public static func < (one: Detail, other: Detail) -> Bool { one.rawValue < other.rawValue }
  }

  private let detail: Detail
  private let logger: Logger
  private let level: Logger.Level
  private let redaction: Redaction
  private let bodyLimit: Int

  /// Makes the interceptor.
  ///
  /// - Parameters:
  ///   - detail: The level of detail.
  ///   - logger: The logger.
  ///   - level: The log level. If the logger ignores this level, the interceptor costs nothing.
  ///   - redaction: The values to remove from fields, bodies and the `curl` command.
  ///   - bodyLimit: The maximum number of logged bytes per body.
  public init(
    _ detail: Detail = .basic, logger: Logger, at level: Logger.Level = .info, redaction: Redaction = .standard,
    bodyLimit: Int = 4096
  ) {
    (self.detail, self.logger, self.level, self.bodyLimit) = (detail, logger, level, max(0, bodyLimit))
    var redaction = redaction
    // Writing a log cannot fail: unread bodies are left out.
    redaction.unread = .remove
    self.redaction = redaction
  }

  /// `true`: the logger logs requests of interceptors, too.
  public var takesPartInNestedRequests: Bool { true }

  /// Logs the request, passes it on, and logs the response.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    guard detail > .none, logger.logLevel <= level else { return try await next(request) }
    let title = title(of: request)
    let metadata: Logger.Metadata = ["waylay.load": "\(request.id)"]
    let exchange = detail > .basic ? LoggedExchange(request, title, metadata) : nil
    var request = request
    if detail >= .body, let exchange {
      if let data = request.body.inMemory {
        exchange.request.add(data, upTo: bodyLimit)
      } else {
        request.body = observed(request.body, as: exchange.request, "→ body of", of: exchange)
      }
    }
    log("→ \(title)", metadata, exchange, request.fields, body: exchange?.request, curl: true)
    let start = ContinuousClock.now
    do {
      var response = try await next(request)
      let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
      let head = "← \(response.status.code) from \(response.source) in \(Int(milliseconds)) ms, \(title)"
      exchange?.answer(with: response)
      guard detail >= .body, let exchange else {
        log(head, metadata, exchange, response.fields)
        return response
      }
      if let data = response.body.inMemory {
        exchange.response.add(data, upTo: bodyLimit)
        log(head, metadata, exchange, response.fields, body: exchange.response)
      } else {
        log(head, metadata, exchange, response.fields)
        response.body = observed(response.body, as: exchange.response, "← body of", of: exchange)
      }
      return response
    } catch {
      log("← \(Self.text(of: error)), \(title)", metadata, exchange, [:])
      throw error
    }
  }
}

extension RequestLogger {
  private func title(of request: InterceptedRequest) -> String {
    "\(request.method) \(request.url.redacted)" + (request.attempt > 1 ? ", attempt \(request.attempt)" : "")
      + (request.hop > 0 ? ", hop \(request.hop)" : "")
  }

  /// The safe part of an error: the text of this package's errors, and the type of any other error.
  private static func text(of error: any Error) -> String {
    switch error {
    case let error as any LoadError: error.description
    case let error as URLError: error.loadError?.description ?? "URLError \(error.code.rawValue)"
    default: String(describing: type(of: error))
    }
  }

  private func observed(
    _ body: MessageBody, as seen: LoggedBody, _ title: String, of exchange: LoggedExchange
  ) -> MessageBody {
    body.observed({ seen.add($0, upTo: bodyLimit) }) { error in
      let end = error == nil ? "" : error is CancellationError ? ", not read to its end" : ", failed"
      log("\(title) \(exchange.title)\(end)", exchange.metadata, exchange, [:], body: seen)
    }
  }

  private func log(
    _ text: String, _ metadata: Logger.Metadata, _ exchange: LoggedExchange?, _ fields: HTTPFields,
    body: LoggedBody? = nil, curl: Bool = false
  ) {
    var metadata = metadata
    guard let exchange else { return logger.log(level: level, "\(Self.printable(text))", metadata: metadata) }
    let entry = redaction.redacted(exchange.entry(withBodies: body != nil))
    var lines = [text]
    let isRequest = body === exchange.request || curl
    if !fields.isEmpty {
      lines += (isRequest ? entry.request.headers : entry.response.headers).map { "\($0.name): \($0.value)" }
    }
    if let body, body.size > 0, let shown = isRequest ? entry.request.body : entry.response.body {
      lines.append("(\(body.size) bytes\(body.isWhole ? "" : ", the first \(body.data.count) of them logged"))")
      if let text = shown.text {
        lines += text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
      }
    }
    if curl { metadata["curl"] = "\(Self.printable(entry.request.curlCommand(isMultiline: false)))" }
    // Indented, so that no text of a message can imitate a line of the log.
    logger.log(level: level, "\(lines.map(Self.printable).joined(separator: "\n  "))", metadata: metadata)
  }

  /// A text in which no scalar moves the cursor, begins a line or changes the direction: those are written as in Swift.
  private static func printable(_ text: String) -> String {
    func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
      // The properties of a scalar are looked up in tables, which would take most of the time of a line.
      if scalar.isASCII { return scalar == "\t" || scalar.value >= 0x20 && scalar.value != 0x7F }
      let (kind, isBidi) = (scalar.properties.generalCategory, scalar.properties.isBidiControl)
      return !isBidi && ![.control, .lineSeparator, .paragraphSeparator].contains(kind)
    }
    guard !text.unicodeScalars.allSatisfy(isHarmless) else { return text }
    return text.unicodeScalars.map { isHarmless($0) ? String($0) : "\\u{\(String($0.value, radix: 16))}" }.joined()
  }
}

/// A request and its response, as observed so far.
private final class LoggedExchange: Sendable {
  let original: InterceptedRequest
  let title: String
  let metadata: Logger.Metadata
  let request = LoggedBody()
  let response = LoggedBody()
  private let head = Locked<InterceptedResponse?>(nil)

  init(_ request: InterceptedRequest, _ title: String, _ metadata: Logger.Metadata) {
    var request = request
    request.body = .empty
    (original, self.title, self.metadata) = (request, title, metadata)
  }

  func answer(with response: InterceptedResponse) {
    var response = response
    response.body = .empty
    head.withLock { $0 = response }
  }

  /// The exchange as a HAR entry; the redaction of HAR files parses bodies by their type.
  func entry(withBodies: Bool) -> HAR.Entry {
    let head = head.withLock { $0 }
    return HAR.Entry(
      started: Date(),
      request: HAR.Request(
        method: original.method.rawValue, url: original.url.absoluteString, headers: Self.fields(original.fields),
        body: withBodies && request.size > 0 ? request.body(original.fields) : nil),
      response: HAR.Response(
        status: head?.status.code ?? 0, headers: Self.fields(head?.fields ?? [:]),
        body: withBodies ? response.body(head?.fields ?? [:]) : HAR.Body()))
  }

  private static func fields(_ fields: HTTPFields) -> [HAR.Field] {
    fields.map { HAR.Field($0.name.rawName, $0.value) }
  }
}

/// The prefix of an observed body.
private final class LoggedBody: Sendable {
  private let state = Locked((data: Data(), size: 0))

  var data: Data { state.withLock { $0.data } }
  var size: Int { state.withLock { $0.size } }
  var isWhole: Bool { state.withLock { $0.data.count == $0.size } }

  func add(_ chunk: Data, upTo limit: Int) {
    state.withLock { state in
      state.size += chunk.count
      if state.data.count < limit { state.data.append(chunk.prefix(limit - state.data.count)) }
    }
  }

  func body(_ fields: HTTPFields) -> HAR.Body {
    let (data, size) = state.withLock { $0 }
    return HAR.Body(data, mediaType: fields[.contentType] ?? "", size: size)
  }
}
