/// A check that a response over plain `http` must pass to be accepted as the host's own.
///
/// ```swift
/// var policy = HostRewriter.Policy.prefer
/// policy.responseCheck = .header("X-Served-By", equals: "example") && .redirectsStay(within: ["example.com"])
/// ```
///
/// Without TLS, nothing proves who has responded: a check detects captive portals and injected pages, not an attacker
/// who knows it. A rejected response bans its address as a suspected hijack, and an idempotent request goes to the next
/// address. The check does not apply to `https`.
public struct ResponseCheck: Sendable {
  private let reject: @Sendable (InterceptedRequest?, InterceptedResponse) -> String?

  /// Makes a check from a closure.
  ///
  /// - Parameter reject: Returns a human-readable reason why the response is not the host's own; `nil` to accept it. It
  ///   must not read the body.
  public init(_ reject: @escaping @Sendable (InterceptedResponse) -> String?) {
    self.reject = { _, response in reject(response) }
  }

  /// Makes a check from a closure that also inspects the request.
  ///
  /// - Parameter reject: Returns a human-readable reason why the response is not the host's own; `nil` to accept it. It
  ///   must not read the bodies.
  public init(byRequest reject: @escaping @Sendable (InterceptedRequest, InterceptedResponse) -> String?) {
    self.reject = { request, response in request.flatMap { reject($0, response) } }
  }

  private init(both reject: @escaping @Sendable (InterceptedRequest?, InterceptedResponse) -> String?) {
    self.reject = reject
  }

  /// Returns why a response is rejected; `nil` if it is accepted.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - request: The request; without it, checks that inspect the request accept every response.
  public func rejection(of response: InterceptedResponse, to request: InterceptedRequest? = nil) -> String? {
    reject(request, response)
  }

  /// Requires a status in the given range.
  public static func status(in statuses: ClosedRange<Int>) -> ResponseCheck {
    ResponseCheck { statuses.contains($0.status.code) ? nil : "the status \($0.status.code) is not one of \(statuses)" }
  }

  /// Requires a header field, with the given value if there is one. The name is case-insensitive.
  public static func header(_ name: String, equals value: String? = nil) -> ResponseCheck {
    ResponseCheck { response in
      let values = response.fields.filter { $0.name.rawName.lowercased() == name.lowercased() }.map(\.value)
      if let value { return values.contains(value) ? nil : "the field \(name) is not \"\(value)\"" }
      return values.isEmpty ? "the field \(name) is missing" : nil
    }
  }

  /// Requires that a redirect leads to one of these hosts, to a host below one of them, or stays on the same host.
  public static func redirectsStay(within hosts: [String]) -> ResponseCheck {
    let allowed = hosts.map { (try? HostName($0))?.description ?? $0.lowercased() }
    return ResponseCheck { response in
      guard (300..<400).contains(response.status.code), let location = response.fields[.location],
        let target = URL(string: location, relativeTo: response.url)?.host
      else { return nil }
      let host = (try? HostName(target))?.description ?? target.lowercased()
      if host == response.url.host.map({ (try? HostName($0))?.description ?? $0 }) { return nil }
      return allowed.contains { host == $0 || host.hasSuffix(".\($0)") } ? nil : "the redirect leads to \(host)"
    }
  }

  /// Requires both checks to accept.
  public static func && (one: ResponseCheck, other: ResponseCheck) -> ResponseCheck {
    ResponseCheck(both: { one.reject($0, $1) ?? other.reject($0, $1) })
  }

  /// Requires at least one of the checks to accept.
  public static func || (one: ResponseCheck, other: ResponseCheck) -> ResponseCheck {
    ResponseCheck(both: { request, response in
      guard let first = one.reject(request, response), let second = other.reject(request, response) else { return nil }
      return "\(first), and \(second)"
    })
  }
}
