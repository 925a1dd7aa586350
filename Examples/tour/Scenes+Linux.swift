import Foundation
import TestOrigin
import Waylay

#if canImport(FoundationNetworking)
  extension Tour {
    /// What only the transport on libcurl can show.
    static let platformScenes: [Scene] = [.route, .hijack, .download]
  }

  extension Scene {
    /// Dials one address for a host, whatever the system's resolver says.
    private struct Dial: RequestInterceptor {
      let target: Route

      func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse
      {
        var request = request
        request.route = target
        return try await next(request)
      }
    }

    static let route = Scene(
      title: "HTTPS dialled to another address: the certificate is still checked against the name"
    ) { _, report in
      let authority = try TestAuthority()
      let server = try await TestOrigin.start(
        hosts: ["127.0.0.2"], tls: .init(authority: authority, names: ["api.example.com"]))
      var options = CurlTransport.Options()
      options.additionalAuthorities = [Data(authority.pem.utf8)]
      let target = try Route("127.0.0.2", port: server.port)
      let registry = InterceptorRegistry(transport: CurlTransport(options: options)) { Dial(target: target) }
      let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
      guard let url = URL(string: "https://api.example.com/hello"),
        let other = URL(string: "https://www.example.com/hello")
      else { return }
      let (data, response) = try await session.data(from: url)
      report.note("app asked for", url.absoluteString)
      report.note("app got", "\(String(decoding: data, as: UTF8.self)), from \(response.url?.absoluteString ?? "")")
      if let connection = server.connections.first {
        report.note("server saw", "a connection to \(connection.localAddress), server name \(connection.sni ?? "none")")
        report.expect("the name in TLS", connection.sni, "api.example.com")
      }
      do {
        _ = try await session.data(from: other)
        report.expect("another name is refused", was: "a response", false)
      } catch let error as URLError {
        report.note("app got", "for www.example.com: \(error.localizedDescription)")
        report.expect("another name is refused", error.code, .serverCertificateUntrusted)
        report.expect("nothing of that request was sent", server.requests.count, 1)
      }
      registry.invalidate()
      await server.stop()
    }

    static let download = Scene(title: "A large download, streamed into a file while the server is held back") {
      origin, report in
      let size = 64 << 20
      let registry = InterceptorRegistry(configuration: .ephemeral)
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-tour-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      let line = ProgressLine()
      try await registry.download(for: URLRequest(url: origin.url("/bytes/\(size)")), to: file) { line.show($0) }
      line.end()
      let written = (try? FileManager.default.attributesOfItem(atPath: file.path)[.size]) as? Int
      report.note("file", "\((written ?? 0) >> 20) MiB")
      report.expect("all of it", written, size)
      registry.invalidate()
    }
  }

  /// A line that is written over as the download goes on; on a terminal only.
  private final class ProgressLine: Sendable {
    private let isTerminal = isatty(STDOUT_FILENO) == 1

    func show(_ progress: InterceptorRegistry.DownloadProgress) {
      guard isTerminal else { return }
      write(String(format: "\r   %3d %%  %d MiB", Int((progress.fraction ?? 0) * 100), progress.receivedBytes >> 20))
    }

    func end() {
      if isTerminal { write("\r                         \r") }
    }

    private func write(_ text: String) {
      FileHandle.standardOutput.write(Data(text.utf8))
    }
  }
#else
  extension Tour {
    static let platformScenes: [Scene] = []
  }
#endif
