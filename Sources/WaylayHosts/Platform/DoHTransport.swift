/// What carries queries over HTTPS when a resolver was given no transport.
enum DoHTransport {
  static func make() -> any Transport {
    #if canImport(FoundationNetworking)
      if CurlTransport.isAvailable { return CurlTransport() }
    #endif
    return URLSessionTransport(configuration: .ephemeral)
  }
}
