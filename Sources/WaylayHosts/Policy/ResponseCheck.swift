/// What an answer over plain `http` must look like to be taken for the host's own.
///
/// ```swift
/// var policy = HostRewriter.Policy.prefer
/// policy.responseCheck = .header("X-Served-By", equals: "example") && .redirectsStay(within: ["example.com"])
/// ```
///
/// Nothing proves who has answered without TLS: a check recognises captive portals and injected pages, not an attacker
/// who knows it. An answer that is rejected bans its address as a suspected hijack, and an idempotent request goes to
/// the next one. Not asked for `https`.
public struct ResponseCheck: Sendable {
  private let reject: @Sendable (InterceptedRequest?, InterceptedResponse) -> String?

  /// Makes a check from a closure.
  ///
  /// - Parameter reject: Why the answer is not the host's own, for a person; `nil` to take it. It must not read the
  ///   body.
  public init(_ reject: @escaping @Sendable (InterceptedResponse) -> String?) {
    self.reject = { _, response in reject(response) }
  }

  /// Makes a check from a closure that looks at the request too.
  ///
  /// - Parameter reject: Why the answer is not the host's own, for a person; `nil` to take it. It must not read the
  ///   bodies.
  public init(byRequest reject: @escaping @Sendable (InterceptedRequest, InterceptedResponse) -> String?) {
    self.reject = { request, response in request.flatMap { reject($0, response) } }
  }

  private init(both reject: @escaping @Sendable (InterceptedRequest?, InterceptedResponse) -> String?) {
    self.reject = reject
  }

  /// Why an answer is not taken; `nil` when it is.
  ///
  /// - Parameters:
  ///   - response: The answer.
  ///   - request: What it answers; without, checks that look at the request take every answer.
  public func rejection(of response: InterceptedResponse, to request: InterceptedRequest? = nil) -> String? {
    reject(request, response)
  }

  /// The status is one of these.
  public static func status(in statuses: ClosedRange<Int>) -> ResponseCheck {
    ResponseCheck { statuses.contains($0.status.code) ? nil : "the status \($0.status.code) is not one of \(statuses)" }
  }

  /// A header field is there, with that value where one is given. Names are compared without regard to case.
  public static func header(_ name: String, equals value: String? = nil) -> ResponseCheck {
    ResponseCheck { response in
      let values = response.fields.filter { $0.name.rawName.lowercased() == name.lowercased() }.map(\.value)
      if let value { return values.contains(value) ? nil : "the field \(name) is not \"\(value)\"" }
      return values.isEmpty ? "the field \(name) is missing" : nil
    }
  }

  /// A redirect leads to one of these hosts, to a host below one of them, or stays where it is.
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

  /// Both hold.
  public static func && (one: ResponseCheck, other: ResponseCheck) -> ResponseCheck {
    ResponseCheck(both: { one.reject($0, $1) ?? other.reject($0, $1) })
  }

  /// One of them holds.
  public static func || (one: ResponseCheck, other: ResponseCheck) -> ResponseCheck {
    ResponseCheck(both: { request, response in
      guard let first = one.reject(request, response), let second = other.reject(request, response) else { return nil }
      return "\(first), and \(second)"
    })
  }
}
