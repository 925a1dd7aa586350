import Foundation

/// One load: from an app's request to the response of its last hop.
///
/// It is what the bridge and the direct way share: the hops, the chains, cookies, redirects, timeouts and the report at the end.
final class Load: Sendable {
  struct State {
    /// The interceptors that are running, outermost first.
    var activeLinks: [any RequestInterceptor] = []
    /// The failure that travels up the chain, and the link it began in.
    var failure: (error: any Error, link: String?)?
    var clock = IdleClock()
    var onExpiry: (@Sendable (WaylayError) -> Void)?
    var chain: InterceptorChain.Name?
    var hasEnded = false
  }

  let id: InterceptedRequest.ID
  let first: InterceptedRequest
  let installation: Installation
  let snapshot: InterceptorRegistry.Snapshot
  /// The lineage of the code that started the load, before this load is added to it.
  let outer: Lineage?
  /// Whether the load began inside the loading system's own call, where the transport must not be reached (rule 9).
  let startedInline: Bool
  let redirects: (any RedirectDelegate)?
  let state = Locked(State())

  init(
    _ request: InterceptedRequest, in installation: Installation, outer: Lineage?,
    snapshot: InterceptorRegistry.Snapshot, inline: Bool = false, redirects: (any RedirectDelegate)? = nil
  ) {
    id = request.id
    first = request
    self.installation = installation
    self.snapshot = snapshot
    self.outer = outer
    startedInline = inline
    self.redirects = redirects
  }

  var url: URL? { first.url }

  /// The name of the innermost interceptor that is running.
  var activeLink: String? { state.withLock { $0.activeLinks.last }?.name }

  /// Runs the load up to the head of its last response.
  ///
  /// - Parameter selection: The first hop's chain, where it was looked up already.
  func respond(selection: ChainIndex.Selection?? = .none) async throws -> InterceptedResponse {
    report(.started)
    let lineage = try Lineage.deeper(than: outer, by: installation.registry.lineageEntry, load: self)
    return try await Lineage.$current.withValue(lineage) {
      try await self.followHops(lineage, firstSelection: selection)
    }
  }

  private func followHops(
    _ lineage: Lineage, firstSelection: ChainIndex.Selection??
  ) async throws -> InterceptedResponse {
    var base = first
    var chosen = firstSelection
    while true {
      guard base.url != nil else { throw Self.withoutURL(base) }
      var request = base
      installation.context.prepare(&request.urlRequest)
      let selection =
        if let chosen { chosen } else { isReentry ? nil : snapshot.index.select(request.urlRequest) }
      chosen = .none
      let response = try await perform(request, selection: selection, lineage: lineage)
      installation.context.storeCookies(of: response, for: base.urlRequest)
      guard let next = try await redirect(after: response, to: base) else { return response }
      report(.redirected, response: response)
      await response.body.discard()
      base = next
    }
  }

  /// Whether the load was started by code that runs inside this registry's own chain: then it goes to the bare transport.
  private var isReentry: Bool { outer?.contains(installation.registry.lineageEntry.origin) ?? false }

  private func perform(
    _ request: InterceptedRequest, selection: ChainIndex.Selection?, lineage: Lineage
  ) async throws -> InterceptedResponse {
    guard let selection else { return try await send(request) }
    state.withLock { $0.chain = selection.chain.name }
    if startedInline, !selection.answersInline { await Task.yield() }
    var request = request
    for link in selection.links { request.urlRequest = link.canonicalRequest(for: request.urlRequest) }
    try normalize(&request, from: selection.links.last)
    // An inline answer promises not to use the loading system, so its request needs no tag.
    if !selection.answersInline { RequestTag.tag(&request.urlRequest, with: lineage) }
    return try await Turn.run(request, through: selection.links[...], of: self)
  }

  /// The terminal link.
  func send(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    // Rule 9: whoever runs inside the loading system's call leaves it here (P18, P22).
    if startedInline { await Task.yield() }
    var request = request
    RequestTag.strip(&request.urlRequest)
    if let reader = request.body.consumedBy {
      throw MessageBody.consumed(by: reader, wantedBy: "the transport")
    }
    return try await installation.transport().load(request)
  }
}

/// Says where a redirect leads, in the app's place: the bridge asks the task's delegate.
protocol RedirectDelegate: Sendable {
  /// The request to follow, or `nil` to take the redirect's own response as the answer.
  func redirect(to request: URLRequest, after response: InterceptedResponse) async throws -> URLRequest?

  /// Another stream with the body of the load's request, when the first one has been read.
  func newBody() async -> MessageBody?
}
