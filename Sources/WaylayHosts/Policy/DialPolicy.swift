extension HostRewriter {
  /// Why an address must not be dialled for a host, whoever names it: the policy for answers (DNS rebinding), for what
  /// is dialled without one. `nil` when it may be: a rule lists the address, or the name may have a private one.
  package func refusal(of address: HostAddress, for authority: HostAuthority) -> String? {
    let rule = (try? ruleSource.match(authority.host, port: authority.port)) ?? nil
    if rule?.endpoints.contains(where: { $0.address == address }) ?? false { return nil }
    let exceptions = cache?.privateHosts ?? []
    if authority.host.isLocal || exceptions.contains(where: { $0.matches(authority.host, port: authority.port) }) {
      return nil
    }
    return address.specialPurpose
  }
  /// Reports what has happened to a tunnel on the loopback address.
  package func happened(_ kind: HostEvent.Kind, _ error: any Error) {
    guard let url = URL(string: "http://127.0.0.1/"), let host = try? HostName("127.0.0.1") else { return }
    reporter.happened(kind, request: InterceptedRequest(.connect, url), host: host, error: error)
  }
}
