import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayHAR

#if os(Linux) || os(macOS)
  @Suite("A request as a command for curl", .heavy)
  struct CurlCommandTests {
    /// Those of this machine: `dash` knows nothing that is not in POSIX.
    static let shells = ["/bin/bash", "/bin/dash", "/bin/zsh"].filter { FileManager.default.fileExists(atPath: $0) }

    /// What a shell makes of a command's words, without running it.
    private func words(_ command: String, by shell: String) async throws -> [Substring] {
      let script = "curl() { printf '%s\\0' \"$@\"; }\n" + command
      return try await Program(path: shell).run(["-c", script]).output.split(separator: "\0")
    }

    static let hostile = [
      "$(touch /tmp/owned)", "`id`", "'; id; '", "\"$HOME\"", "\\'", "a\nb\r\tc", "\u{1B}[2J", "!!", "~", "*",
      "@/etc/passwd", "\u{202E}abc", "ä€😀", "--help", "", " ",
      "'\u{301}; id; '\u{670}", "@\u{301}/etc/passwd", "\"\u{301}\\\u{301}", "\u{1}'; touch /tmp/owned; '\u{1}\u{1}7\\",
      "a\n\t\nb",
    ]

    @Test("never runs what is in the request, whatever it is, in no shell", arguments: hostile, shells)
    func quoting(text: String, shell: String) async throws {
      var request = HAR.Request(
        method: "POST", url: "https://api.test/?q=\(text)", headers: [.init("X-Test", text)],
        body: HAR.Body(Data("x\(text)".utf8)))
      request.url = "https://api.test/?q=\(text)"
      for isMultiline in [true, false] {
        let words = try await words(request.curlCommand(isMultiline: isMultiline), by: shell)
        #expect(words.contains("https://api.test/?q=\(text)"))
        #expect(words.contains(text.isEmpty ? "X-Test;" : "X-Test: \(text)"))
        #expect(words.contains(Substring("x\(text)")))
        // Pasting it does nothing to the terminal.
        #expect(!request.curlCommand().contains("\u{1B}") && !request.curlCommand().contains("\u{202E}"))
      }
    }

    @Test(
      "sends what was recorded, byte for byte", .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/curl")))
    func replayed() async throws {
      let origin = try await TestOrigin.start()
      let host = "127.0.0.1:\(origin.port)"
      let bodies: [Data?] = [
        nil, Data(), Data("a=1&b='2'\n\nend".utf8), Data("@/etc/passwd".utf8),
        Data("@\u{301}/etc/passwd'\u{301}".utf8), Data((0...255).map { UInt8($0) }),
        Data("{\"a\": \"$(id)\"}".utf8),
      ]
      for (number, body) in bodies.enumerated() {
        for method in ["GET", "POST", "DELETE", "HEAD"] where method != "HEAD" || body == nil {
          let fields: [HAR.Field] = [
            .init("Host", host), .init("X-Empty", ""), .init("Accept", "a/b"), .init("X-Number", "\(number)"),
            .init("x-twice", "1"), .init("x-twice", "2"),
          ]
          let request = HAR.Request(
            method: method, url: "http://\(host)/a/../b/[1]{2}?q=%20&r=[x]", headers: fields,
            body: body.map { HAR.Body($0) })
          let command = request.curlCommand() + " --silent --max-time 20 --output /dev/null"
          _ = try await Program(path: "/bin/bash").run(["-c", command])
          let sent = try #require(origin.rawBytes.last)
          var wanted = "\(method) /a/../b/[1]{2}?q=%20&r=[x] HTTP/1.1\r\n"
          wanted += fields.map { "\($0.name): \($0.value)".trimmingCharacters(in: .whitespaces) + "\r\n" }.joined()
          if let body {
            wanted += "Content-Length: \(body.count)\r\n\r\n" + String(decoding: body, as: UTF8.self)
          } else {
            wanted += "\r\n"
          }
          #expect(sent.replacing("X-Empty: \r\n", with: "X-Empty:\r\n") == wanted, "\(request.curlCommand())")
        }
      }
      await origin.stop()
    }
  }
#endif
