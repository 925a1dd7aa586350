import ArgumentParser
import Foundation
import WaylayCore
import WaylayHAR
import WaylayInspector
import WaylayInspectorServer

/// `waylay watch`.
struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Show traffic in a browser: that of a file, or that of programs, by a proxy.",
    discussion: """
      With a FILE the page shows what the archive holds, and nothing goes to the network. Without one a proxy listens on \
      the loopback address, and the page shows what programs send by it: `http_proxy=http://127.0.0.1:8118 \
      https_proxy=http://127.0.0.1:8118 program`.

      Plain HTTP is shown whole. HTTPS goes through a tunnel that is shown as what it is: host, port, bytes each way and \
      time. It is not decrypted, and no certificate is made. To see the requests of an app of your own, use an \
      Inspector in it.

      It goes on until SIGINT (Ctrl-C) or SIGTERM, and then ends with 0. With --json: one object on each line, \
      {"event": "ready", "page", "proxy", "exchanges", "leftOut"}, then {"event": "exchange", "id", "method", "url", "state", "status", \
      "sentBytes", "receivedBytes", "milliseconds", "note", "error"} as each ends; "event" is "tunnel" for a tunnel, \
      with "host" and "port".
      """)
  @Argument(help: "An HTTP archive to look at; a proxy without one.") var file: String?
  @Option(help: ArgumentHelp("The port of the proxy; 0 for one that is free.", valueName: "number"))
  var proxyPort: UInt16 = 8118
  @Option(help: ArgumentHelp("The port of the page; 0 for one that is free.", valueName: "number")) var port: UInt16 = 0
  @Option(help: ArgumentHelp("How many exchanges are kept, the newest.", valueName: "count")) var keep = 10_000
  @Option(
    help: ArgumentHelp("Write what was seen to an HTTP archive in the end, without credentials.", valueName: "file"))
  var har: String?
  @Flag(help: "Replace a file that is there already.") var force = false
  @OptionGroup var secrets: RedactionOptions
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard keep > 0 else { throw ValidationError("--keep must be 1 or more exchanges.") }
    if file != nil, har != nil {
      throw ValidationError("--har writes what the proxy records: leave it out with a file.")
    }
  }

  func run() async throws {
    let trace = try har.map { try OutputFile($0, mayReplace: force) }
    let inspector = Inspector(
      limits: Inspector.Limits(exchanges: keep, bytes: 512 << 20, bodyBytes: 4 << 20), redaction: secrets.redaction)
    if let file { try HARFile(file).forEach { _, entry in inspector.add(entry) } }
    let stop = StopSignal()
    let proxy = try file == nil ? ForwardProxy(inspector, port: proxyPort) : nil
    // Requests of the page go the way that those of programs go.
    let again = proxy.map { _ in InterceptorRegistry { inspector } }
    let session = again.map { URLSession(configuration: .ephemeral.intercepted(by: $0)) }
    var options = InspectorServer.Options()
    (options.port, options.logger) = (port, nil)
    let server = InspectorServer(inspector, session: session, options: options)
    let page: URL
    do { page = try await server.start() } catch let error as InspectorServerError {
      throw ToolFailure(.failed, "\(error.code)", error.message)
    }
    let report = WatchReport(isJSON: common.json)
    let events = proxy == nil ? nil : inspector.events()
    do {
      try report.begin(page: page, proxyPort: proxy?.port, shown: inspector.count, dropped: inspector.dropped)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await stop.wait() }
        if let events {
          // What prints ends when nobody reads any more, and the rest with it.
          group.addTask { try await report.print(events) }
        }
        if let proxy { group.addTask { await proxy.run() } }
        defer {
          proxy?.stop()
          stop.end()
          group.cancelAll()
        }
        try await group.next()
      }
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
    session?.invalidateAndCancel()
    if let trace {
      await inspector.flush()
      try trace.write(inspector)
    }
  }
}
