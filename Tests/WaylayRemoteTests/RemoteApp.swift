#if InspectorServer && (os(Linux) || os(macOS))
  import Foundation
  import TestSupport
  import WaylayCore

  /// The example's app in a process of its own, which requests what it is told.
  final class RemoteApp: Sendable {
    let id: Int32
    private let lines: Locked<AsyncStream<String>.Iterator>
    /// The output's handler is called only while the handle lives.
    private let pipes: Locked<(input: FileHandle, output: FileHandle)>
    private let hasEnded = Locked(false)

    init(_ environment: [String: String]) throws {
      let (input, output) = (Pipe(), Pipe())
      let (stream, continuation) = AsyncStream.makeStream(of: String.self)
      let rest = Locked(Data())
      output.fileHandleForReading.readabilityHandler = { handle in
        let data = handle.availableData
        guard !data.isEmpty else {
          handle.readabilityHandler = nil
          return continuation.finish()
        }
        let whole = rest.withLock { rest in
          rest.append(data)
          var whole: [String] = []
          while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            whole.append(String(decoding: rest[..<end], as: UTF8.self))
            rest = Data(rest[(end + 1)...])
          }
          return whole
        }
        for line in whole { continuation.yield(line) }
      }
      id = try Program("remote-control").spawn(
        ["app"], environment,
        files: [
          .copy(input.fileHandleForReading.fileDescriptor), .copy(output.fileHandleForWriting.fileDescriptor),
          .open("/dev/null", O_WRONLY),
        ])
      try input.fileHandleForReading.close()
      try output.fileHandleForWriting.close()
      pipes = Locked((input.fileHandleForWriting, output.fileHandleForReading))
      lines = Locked(stream.makeAsyncIterator())
      // Reaped at once, because Swift Testing does not see the end of an exit test while another child is a zombie. A
      // thread of its own, because a wait holds one of the few that tasks have.
      Thread.detachNewThread { [id, hasEnded] in
        var info = siginfo_t()
        while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        hasEnded.withLock { $0 = true }
        while waitpid(id, nil, 0) < 0, errno == EINTR {}
      }
    }

    deinit { kill(SIGKILL) }

    func kill(_ signal: Int32) { hasEnded.withLock { if !$0 { Foundation.kill(id, signal) } } }

    /// Lets it request a URL, and returns the line that it prints; `nil` if it ended.
    func open(_ url: String) async throws -> String? {
      try pipes.withLock { try $0.input.write(contentsOf: Data((url + "\n").utf8)) }
      var iterator = lines.withLock { $0 }
      return await iterator.next()
    }

    /// Kills it, and waits for its end.
    func end() async {
      kill(SIGKILL)
      var iterator = lines.withLock { $0 }
      while await iterator.next() != nil {}
    }
  }
#endif
