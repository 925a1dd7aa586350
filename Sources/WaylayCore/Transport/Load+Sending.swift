// The walk, 4 of 5: behind the last link the request loses its tag and gets the load's observer, and the installation
// names the transport: the registry's own, or the platform's, made on first use. `CurlTransport`, in
// `Platform/Linux/Curl`, sends it on Linux; `URLSessionTransport`, here, on Apple platforms and for what libcurl cannot
// do: an `Exchange` for each request, found by its task in `ExchangeTable`.

import Foundation

extension Load {
  /// Hands the request to the transport: the end of every chain.
  func send(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    var request = request
    let url = request.url
    if !leavesChallengesToTransport { request.moveUserInfo() }
    if let reader = request.body.consumedBy {
      throw MessageBody.consumed(by: reader, wantedBy: "the transport")
    }
    request.address(
      to: TransportObserver(load: self, lineage: Lineage.current, watchesTimeout: request.options.timeout == ownTimeout)
    )
    state.withLock { $0.transfers += 1 }
    defer { state.withLock { $0.transfers -= 1 } }
    let transport = try installation.transport(for: request.url)
    try check(request, fits: transport)
    var response: InterceptedResponse
    do {
      response = try await transport.load(request)
    } catch var error as TransportError {
      (error.url, error.requestID) = (error.url ?? url.withoutUserInfo, id)
      throw error
    }
    if url != request.url, response.url == request.url { response.url = url }
    return response
  }

  /// Refuses to hand a route to a transport that would dial another address.
  func check(_ request: InterceptedRequest, fits transport: any Transport) throws {
    guard let route = request.route else { return }
    try request.checkRoute()
    let name = String(describing: type(of: transport))
    guard transport.capabilities.contains(.routes) else {
      throw WaylayError(
        .transportIncapable,
        "the request has a route to \(route.address), but \(name) cannot connect to any address but the host's: use "
          + "CurlTransport, on Linux.",
        url: request.url, requestID: id)
    }
    guard route.gate == nil || transport.capabilities.contains(.gates) else {
      throw WaylayError(
        .transportIncapable,
        "\(name) cannot hold a request back at a gate: try one address at a time; CurlTransport needs libcurl 7.80 "
          + "for gates.",
        url: request.url, requestID: id)
    }
  }
}
