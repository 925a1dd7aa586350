#if CommandLineTool
  import ArgumentParser
  import Foundation
  import WaylayCore
  import WaylayHAR
  import WaylayHosts

  /// `waylay hosts`.
  struct HostsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "hosts", abstract: "Check, sign and try out lists of hosts and their addresses.",
      discussion: """
        A list is JSON: {"rules": [{"host": "api.example.com", "addresses": ["203.0.113.7"]}]}, or a signed one as \
        `hosts sign` writes it. \
        Keys are Ed25519, in files: PEM as `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write it, 32 \
        bytes, or the \
        Base64 of them.
        """,
      subcommands: [Check.self, Sign.self, Explain.self])
  }

  /// Keys that lists are checked by.
  struct TrustOptions: ParsableArguments {
    @Option(
      help: ArgumentHelp("A public key that is trusted, with the name that lists call it by.", valueName: "name=file"))
    var key: [String] = []

    func keys() throws -> [HostListKey] { try key.map { try ListKeys.publicKey($0) } }
  }

  /// A list in a file, signed or not.
  struct ListFile {
    let rules: HostRules
    /// `nil` for one that is not signed.
    let signed: SignedHostList?

    init(_ path: String, _ trust: TrustOptions) throws {
      let data: Data
      do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
        throw ToolFailure(
          .files, "file.unreadable", "\(path) cannot be read: \((error as NSError).localizedDescription)")
      }
      guard try HostListDocument(data).isSigned else {
        guard trust.key.isEmpty else {
          throw ToolFailure(
            .failed, "hosts.listForged", "\(path) is not signed, but a key was given: its origin cannot be verified.")
        }
        rules = try HostRules(json: data)
        signed = nil
        return
      }
      let keys = try trust.keys()
      guard !keys.isEmpty else {
        throw ToolFailure(.usage, "usage.key", "\(path) is signed: name the keys that you trust with --key NAME=FILE.")
      }
      let list = try SignedHostList(data, keys: keys)
      (rules, signed) = (list.rules, list)
    }
  }

  extension HostsCommand {
    struct Check: ParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Read a list as an app would, and check its signature and its end.",
        discussion: """
          Status 1 for a list that an app would refuse. With --json: {"rules": 2, "isSigned": true, "key", "serial", \
          "expires", "isExpired"}.
          """)
      @Argument(help: "The list.") var list: String
      @OptionGroup var trust: TrustOptions
      @OptionGroup var common: CommonOptions

      func run() throws {
        let file = try ListFile(list, trust)
        let isExpired = file.signed.map { $0.expires <= Date() }
        if common.json {
          try Output.json(
            Report(
              rules: file.rules.rules.count, isSigned: file.signed != nil, key: file.signed?.keyName,
              serial: file.signed?.serial,
              expires: file.signed?.expires, isExpired: isExpired))
        } else {
          for rule in file.rules.rules { try Output.line("  \(rule)") }
          let seal = file.signed.map {
            let end = "\(isExpired == true ? "expired" : "good until") \($0.expires.formatted(.iso8601))"
            return "signed by \"\($0.keyName)\", number \($0.serial), \(end)"
          }
          try Output.line("\(file.rules.rules.count) rules, \(seal ?? "not signed").")
        }
        if isExpired == true { throw ExitCode(ExitStatus.failed.rawValue) }
      }

      private struct Report: Encodable {
        let rules: Int
        let isSigned: Bool
        let key: String?
        let serial: UInt64?
        let expires: Date?
        let isExpired: Bool?
      }
    }

    struct Sign: ParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Write the signed form of a list.",
        discussion: "With --json: {\"output\", \"serial\", \"expires\", \"keys\": [\"…\"]}.")
      @Argument(help: "The rules: {\"rules\": […]}, or the list alone.") var list: String
      @Option(
        help: ArgumentHelp(
          "A private key, with the name that the list calls it by. May be given several times.", valueName: "name=file")
      )
      var key: [String]
      @Option(help: ArgumentHelp("The list's number: higher than that of the list before.", valueName: "number"))
      var serial: UInt64
      @Option(
        help: ArgumentHelp("When it ends: 2027-01-31 or 2027-01-31T12:00:00Z.", valueName: "date"),
        transform: Dates.date)
      var expires: Date
      @Option(name: .shortAndLong, help: ArgumentHelp("The signed list.", valueName: "file")) var output: String
      @Flag(help: "Replace a file that is there already.") var force = false
      @OptionGroup var common: CommonOptions

      func run() throws {
        let target = try OutputFile(output, mayReplace: force)
        let signers = try key.map { try ListKeys.signer($0) }
        let file = try SignedHostList.sign(Self.rules(list), serial: serial, expires: expires, by: signers)
        try target.write(file)
        if common.json {
          try Output.json(Report(output: output, serial: serial, expires: expires, keys: signers.map(\.key.name)))
        } else {
          try Output.line("\(output): number \(serial), good until \(expires.formatted(.iso8601)).")
        }
      }

      /// The list of rules out of a file that has it in an object or alone.
      private static func rules(_ path: String) throws -> Data {
        let data: Data
        do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
          throw ToolFailure(
            .files, "file.unreadable", "\(path) cannot be read: \((error as NSError).localizedDescription)")
        }
        let json = try HostListDocument.json(data)
        guard json.array == nil else { return data }
        return Data(JSONValue(.array(try HostListDocument(json).entries("rules"))).description.utf8)
      }

      private struct Report: Encodable {
        let output: String
        let serial: UInt64
        let expires: Date
        let keys: [String]
      }
    }

    struct Explain: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Say where a request to a URL would go, and why. Nothing is dialled but a resolver.",
        discussion: """
          Status 2 when a resolver was asked and gave no response. With --json: {"host", "rule", "summary", "candidates": \
          [{"address", \
          "source", "state", "isStale"}], "error"}.
          """)
      @Argument(help: "The URL.") var url: String
      @Option(help: ArgumentHelp("A list of hosts.", valueName: "file")) var list: String?
      @OptionGroup var trust: TrustOptions
      @OptionGroup var ways: RouteOptions
      @OptionGroup var common: CommonOptions

      func run() async throws {
        let url = try Addresses.url(url)
        let rules = try list.map { try ListFile($0, trust).rules.rules } ?? []
        guard let rewriter = try ways.rewriter(for: url, rules) else {
          throw ToolFailure(
            .usage, "usage.rules", "say where hosts are: --list FILE, --route HOST=ADDRESS or --doh URL.")
        }
        let explanation = await rewriter.explain(url)
        let error = explanation.error.map { ToolFailure($0) }
        if common.json {
          try Output.json(Report(explanation, error?.message))
        } else {
          try Output.line(explanation.description)
        }
        if let error { throw ExitCode(error.status.rawValue) }
      }

      private struct Report: Encodable {
        struct Row: Encodable {
          let address: String
          let source: String
          let state: String
          let isStale: Bool
        }

        let host: String?
        let rule: String?
        let summary: String
        let candidates: [Row]
        let error: String?

        init(_ explanation: HostExplanation, _ error: String?) {
          host = explanation.host
          rule = explanation.rule?.description
          summary = explanation.summary
          candidates = explanation.rows.map {
            Row(
              address: $0.candidate.description, source: $0.candidate.source, state: $0.state,
              isStale: $0.candidate.isStale)
          }
          self.error = error
        }
      }
    }
  }
#endif
