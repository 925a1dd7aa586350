import Foundation

/// A server in a process of its own, so that the clients are measured and not what answers them: nginx on loopback, with
/// `small`, 300 bytes, and `large`, 32 MiB.
final class Server {
  let url: URL
  private let process: Process?
  private let folder: URL

  /// Uses the one at a URL, or starts one.
  init(at url: URL?) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("peers-\(UUID().uuidString)")
    if let url {
      (self.url, process) = (url, nil)
      return
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(repeating: 0x61, count: 300).write(to: folder.appendingPathComponent("small"))
    try Data(repeating: 0x61, count: 32 << 20).write(to: folder.appendingPathComponent("large"))
    // A port of the dynamic range that hardly anybody has.
    let port = Int.random(in: 20_000..<30_000)
    let configuration = """
      daemon off; worker_processes 1; pid \(folder.path)/pid; error_log stderr crit;
      events { worker_connections 4096; }
      http {
        access_log off; keepalive_requests 1000000000; keepalive_timeout 3600s; default_type text/plain;
        open_file_cache max=10; open_file_cache_valid 3600s; sendfile on; root \(folder.path);
        client_body_temp_path \(folder.path)/body; proxy_temp_path \(folder.path)/proxy;
        fastcgi_temp_path \(folder.path)/fastcgi; uwsgi_temp_path \(folder.path)/uwsgi; scgi_temp_path \(folder.path)/scgi;
        server { listen 127.0.0.1:\(port) backlog=4096; }
      }
      """
    let file = folder.appendingPathComponent("nginx.conf")
    try Data(configuration.utf8).write(to: file)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "PATH=\(ProcessInfo.processInfo.environment["PATH"] ?? ""):/usr/sbin", "nginx", "-c", file.path,
    ]
    if getuid() == 0 {
      // Its worker is another user otherwise, who may not read the folder.
      process.arguments?.append(contentsOf: ["-g", "user root;"])
    }
    try process.run()
    self.process = process
    self.url = URL(string: "http://127.0.0.1:\(port)")!
  }

  func url(_ path: String) -> String { url.appendingPathComponent(path).absoluteString }

  func stop() {
    guard let process else { return }
    process.terminate()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }
}
