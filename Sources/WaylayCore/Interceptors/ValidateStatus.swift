import Foundation
public import HTTPTypes

/// An interceptor that throws an error for a response with a status of 400 or more, for code that handles only errors.
///
/// ```swift
/// let registry = InterceptorRegistry { ValidateStatus() }
///
/// do {
///   return try await session.data(from: url).0
/// } catch let error as URLError {
///   if let refusal = error.cause(as: StatusError.self) { print(refusal.status, String(decoding: refusal.body, as: UTF8.self)) }
///   throw error
/// }
/// ```
///
/// The error has the part of the body that arrives within a second, up to 1 KiB.
///
/// Put it first: an interceptor before it never sees such responses. A challenge (401) is an error too, so the session
/// does not answer it with credentials.
public struct ValidateStatus: RequestInterceptor {
  private let clock: any Clock<Duration>

  /// Makes the interceptor.
  public init() { self.init(clock: ContinuousClock()) }

  package init(clock: any Clock<Duration>) { self.clock = clock }

  /// Passes the request on.
  ///
  /// - Throws: A `URLError` with the code `badServerResponse`, and ``StatusError`` beneath.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    let response = try await next(request)
    guard response.status.code >= 400 else { return response }
    let body = Locked(Data())
    do {
      // A stream of another interceptor may ignore cancellation: then it is left behind.
      _ = try await clock.value(within: .seconds(1)) {
        try await Interruptible().run {
          for try await chunk in response.body {
            let isFull = body.withLock { body in
              body.append(chunk.prefix(StatusError.mostBytes - body.count))
              return body.count == StatusError.mostBytes
            }
            if isFull { break }
          }
        }
      }
    } catch  where !(error is CancellationError) {
      // The received part of the body is more useful than the error that ended it.
    }
    let error = StatusError(
      status: response.status, fields: response.fields, body: body.withLock { $0 }, url: response.url,
      requestID: request.id)
    throw URLError(.badServerResponse, underlying: error)
  }
}

/// A response whose status reports a failure, as thrown by ``ValidateStatus``.
public struct StatusError: LoadError {
  /// The status.
  public let status: HTTPResponse.Status
  /// The response's header fields.
  public let fields: HTTPFields
  /// The first KiB of the body, as far as it arrived within a second.
  public let body: Data
  /// The URL that responded.
  public let url: URL?
  /// The load that failed.
  public let requestID: InterceptedRequest.ID?

  /// The status.
  public var code: HTTPResponse.Status { status }
  /// The status in words, without fields and body, which may contain secrets.
  public var message: String {
    "the server answered with the status \(status.code): see StatusError.body for what it says."
  }
  /// Always `nil`.
  public var underlying: (any Error)? { nil }

  static let mostBytes = 1024
}
