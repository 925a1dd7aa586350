#if CommandLineTool
  import ArgumentParser
  import Foundation
  import WaylayCore
  import WaylayHAR
  import WaylayHosts
  import WaylayInspector
  import WaylayInspectorServer
  import WaylayTunnel

  /// `waylay tunnel`.
  struct TunnelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "tunnel", abstract: "Run a program whose connections go to the addresses that you trust.",
      usage: "waylay tunnel --hosts <file> [options] -- <command> …",
      discussion: """
        The program gets the variables of a proxy (http_proxy, https_proxy, all_proxy) that listens on the loopback \
        address, dials the addresses of the list, and copies bytes: TLS stays the program's own. A program that ignores \
        these variables bypasses the tunnel. Hosts that are not in the list are refused unless --others is given.

        The variables hold a secret, which other programs of the same user can read in the environment of the program. \
        Without a command, the variables are written to a file that only its owner can read, as shell source, and \
        the tunnel runs until SIGINT (Ctrl-C) or SIGTERM.

        The status is that of the command, or 128 and the number of the signal that ended it. With --json: one object, \
        {"event": "ready", "port", "file", "page"}; with a command, it goes to standard error.
        """)
    @Option(help: ArgumentHelp("The list of hosts: see waylay hosts.", valueName: "file")) var hosts: String?
    @OptionGroup var ways: RouteOptions
    @Flag(help: "Forward hosts that are not in the list, by the system's resolver.") var others = false
    @Flag(help: "Show the connections in a browser: host, address, attempts, bytes, times.") var watch = false
    @Option(help: ArgumentHelp("Without a command: a new file for the variables.", valueName: "file")) var file: String?
    @OptionGroup var common: CommonOptions
    @Argument(parsing: .postTerminator, help: "The command and its arguments.") var command: [String] = []

    func validate() throws {
      if hosts == nil, ways.route.isEmpty, ways.doh == nil {
        throw ValidationError("Name the addresses of hosts: --hosts FILE, --route HOST=ADDRESS or --doh URL.")
      }
    }

    func run() async throws {
      let stop = StopSignal()
      let tunnel = try tunnel()
      do { try await tunnel.start() } catch let error as HostError {
        throw ToolFailure(.failed, "tunnel.\(error.code)", error.message)
      }
      let server = watch ? try await showing(tunnel) : nil
      let result: Result<Int32, any Error>
      do { result = .success(try await serve(tunnel, server?.url, stop)) } catch { result = .failure(error) }
      await server?.stop()
      await tunnel.stop()
      let status = try result.get()
      if status != 0 { throw ExitCode(status) }
    }

    private func serve(_ tunnel: HostTunnel, _ page: URL?, _ stop: StopSignal) async throws -> Int32 {
      guard command.isEmpty else {
        if watch || common.json { try say(tunnel, nil, page) }
        return try await run(with: tunnel.proxyVariables, until: stop)
      }
      let variables = try write(tunnel.proxyVariables)
      defer { try? FileManager.default.removeItem(at: variables) }
      try say(tunnel, variables, page)
      await stop.wait()
      return 0
    }

    private func tunnel() throws -> HostTunnel {
      let rules = try hosts.map { try HostRules(json: InputFile.data($0)).rules } ?? []
      guard let strict = try ways.rewriter(for: nil, rules) else {
        throw ToolFailure(.files, "hosts.empty", "the list routes no host: add one.")
      }
      var options = HostTunnel.Options()
      options.allowsOtherHosts = others
      // Hosts without a rule use the system resolver, which only the policy `.prefer` allows. Hosts with a rule have
      // addresses under either policy.
      let isPassing = others && ways.doh == nil
      return HostTunnel(
        isPassing ? HostRewriter(rules: strict.ruleSource.rules, policy: .prefer) : strict, options: options)
    }

    /// Starts an inspector that shows the traffic of the tunnel.
    private func showing(_ tunnel: HostTunnel) async throws -> InspectorServer {
      let inspector = Inspector()
      let records = tunnel.records.subscribe(bufferingNewest: 1000)
      Task { for await record in records { inspector.add(Self.entry(of: record)) } }
      var options = InspectorServer.Options()
      options.logger = nil
      let server = InspectorServer(inspector, options: options)
      _ = try await server.start()
      return server
    }

    private static func entry(of record: TunnelRecord) -> HAR.Entry {
      let fields = [
        HAR.Field("X-Attempts", "\(record.attempts)"), HAR.Field("X-Bytes-Sent", "\(record.bytesSent)"),
        HAR.Field("X-Failure", record.failure ?? "none"),
      ]
      let request = HAR.Request(method: "CONNECT", url: "https://\(record.host):\(record.port)/")
      let body = HAR.Body(size: record.bytesReceived)
      var entry = HAR.Entry(
        started: record.start, request: request,
        response: HAR.Response(status: record.address == nil ? 502 : 200, headers: fields, body: body),
        timings: HAR.Timings(receive: record.duration / .milliseconds(1)))
      entry.serverAddress = record.address
      return entry
    }

    /// Writes the variables as shell source to a file that only this user can read.
    private func write(_ variables: [String: String]) throws -> URL {
      let url =
        file.map { URL(fileURLWithPath: $0) }
        ?? FileManager.default.temporaryDirectory.appendingPathComponent("waylay-tunnel-\(UUID().uuidString)")
      let lines = variables.sorted { $0.key < $1.key }.map {
        $0.value.isEmpty ? "unset \($0.key)" : "export \($0.key)='\($0.value)'"
      }
      let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else {
        let reason = String(cString: strerror(errno))
        throw ToolFailure(.files, "file.unwritable", "\(url.path) cannot be written: \(reason); name a new file.")
      }
      try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(
        contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
      return url
    }

    private func run(with variables: [String: String], until stop: StopSignal) async throws -> Int32 {
      let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }.filter {
        !$0.value.isEmpty || variables[$0.key] == nil
      }
      let child = try ChildProcess(command, environment: environment)
      // The terminal sends SIGINT to the child as well.
      stop.onStop { if $0 != SIGINT || tcgetpgrp(STDIN_FILENO) != getpgrp() { child.send($0) } }
      return await child.waitUntilExit()
    }

    private func say(_ tunnel: HostTunnel, _ file: URL?, _ page: URL?) throws {
      let ready = Ready(event: "ready", port: tunnel.port ?? 0, file: file?.path, page: page?.absoluteString)
      let lines = [
        page.map { "The page: \($0.absoluteString)" },
        file.map { "The tunnel is at 127.0.0.1:\(ready.port). For a shell: . \($0.path)" },
      ].compactMap(\.self).joined(separator: "\n")
      let text = common.json ? String(decoding: try Output.encoded(ready), as: UTF8.self) : lines
      if command.isEmpty { try Output.line(text) } else { Output.tell(text) }
    }

    private struct Ready: Encodable {
      let event: String
      let port: Int
      let file, page: String?
    }
  }
#endif
