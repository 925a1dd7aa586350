#if CommandLineTool
  import ArgumentParser
  import Foundation
  import WaylayCore
  import WaylayHosts

  /// Options for the addresses of connections.
  struct RouteOptions: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        "Dial this address for that host, and no other: api.example.com=203.0.113.7, *.example.com=[2001:db8::7]:8443. "
          + "May be given several times.",
        valueName: "host=address")) var route: [String] = []
    @Option(help: ArgumentHelp("Ask this server for addresses, by DNS over HTTPS.", valueName: "url")) var doh: String?
    @Option(
      help: ArgumentHelp(
        "The address of that server, unless its URL contains one. May be given several times.", valueName: "address"))
    var dohAddress: [String] = []
    @Flag(help: "Accept private addresses from that server for public hosts.") var allowPrivate = false
    @Option(
      name: .customLong("cacert"),
      help: ArgumentHelp("Trust the authorities of this PEM file too. Linux only.", valueName: "file"))
    var authorityFile: String?

    func authority() throws -> Data? { try authorityFile.map(InputFile.data) }

    /// The rewriter of the given options; `nil` without any.
    ///
    /// - Parameters:
    ///   - url: The requested URL: its host gets a rule of its own even if the `*` rule does not match it.
    ///   - others: Additional rules.
    func rewriter(for url: URL?, _ others: [HostRule] = []) throws -> HostRewriter? {
      var rules = try table() + others
      guard doh != nil || !rules.isEmpty else { return nil }
      var resolver: ResolutionCache?
      if let doh {
        var options = ResolutionCache.Options()
        if allowPrivate { options.privateHosts = [try HostPattern("*")] }
        resolver = ResolutionCache(try self.resolver(doh), options: options)
        if let host = url?.host, let pattern = try? HostPattern(host), pattern.name?.isAddress != true,
          !rules.contains(where: { $0.pattern == pattern })
        {
          rules.append(HostRule(pattern))
        }
        if !rules.contains(where: { $0.pattern.description == "*" }) { rules.append(try HostRule("*")) }
      }
      return HostRewriter(rules: try HostRules(rules), resolver: resolver, policy: .require)
    }

    private func table() throws -> [HostRule] {
      var table: [String: [String]] = [:]
      for text in route {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex,
          text.index(after: equals) != text.endIndex
        else {
          throw ToolFailure(.usage, "usage.route", "\"\(text)\" is not a route: write api.example.com=203.0.113.7.")
        }
        table[String(text[..<equals]), default: []].append(String(text[text.index(after: equals)...]))
      }
      do { return try table.sorted { $0.key < $1.key }.map { try HostRule($0.key, endpoints: $0.value) } } catch let
        error
        as HostError
      {
        throw ToolFailure(.usage, "usage.route", "--route: \(error.message)")
      }
    }

    private func resolver(_ text: String) throws -> DoHResolver {
      do {
        return try DoHResolver(
          Addresses.url(text), addresses: dohAddress, transport: Transports.make(authority: authority()))
      } catch let error as HostError {
        throw ToolFailure(.usage, "usage.doh", "--doh: \(error.message) See --doh-address.")
      }
    }
  }
#endif
