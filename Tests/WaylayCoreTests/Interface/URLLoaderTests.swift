import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("What loads URLs: a session or a registry", .timeLimit(.minutes(10)))
struct URLLoaderTests {
  /// Code of an app that knows its loader by the protocol alone.
  private struct Client {
    let loader: any URLLoader

    func everything(_ origin: TestOrigin) async throws -> [String] {
      var post = URLRequest(url: origin.url("/echo"))
      post.httpMethod = "POST"
      let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try Data("from a file".utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      let datas = [
        try await loader.data(for: URLRequest(url: origin.url("/hello"))),
        try await loader.data(from: origin.url("/hello")),
      ]
      let sent = [
        try await loader.upload(for: post, from: Data("from data".utf8)),
        try await loader.upload(for: post, fromFile: file),
      ]
      let files = [
        try await loader.download(for: URLRequest(url: origin.url("/hello"))),
        try await loader.download(from: origin.url("/hello")),
      ]
      for (url, response) in files { #expect(url.isFileURL && (response as? HTTPURLResponse)?.statusCode == 200) }
      defer { for (url, _) in files { try? FileManager.default.removeItem(at: url) } }
      return try datas.map { String(decoding: $0.0, as: UTF8.self) }
        + files.map { String(decoding: try Data(contentsOf: $0.0), as: UTF8.self) }
        + zip(["from data", "from a file"], sent).map { String(decoding: $1.0, as: UTF8.self).contains($0) ? $0 : "?" }
    }
  }

  @Test("code that has the protocol alone gets the same from a session, an intercepted one and a registry")
  func same() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry { Link.pass() }
      let loaders: [any URLLoader] = [
        URLSession(configuration: .ephemeral), URLSession.intercepted(by: registry), registry,
      ]
      for loader in loaders {
        let seen = try await Client(loader: loader).everything(origin)
        #expect(seen == ["hello", "hello", "hello", "hello", "from data", "from a file"])
      }
      registry.invalidate()
    }
  }

  @Test("calls on a registry itself return an HTTPURLResponse, as before")
  func concrete() async throws {
    let registry = InterceptorRegistry { Link.answer("chain") }
    let (_, head) = try await registry.data(for: URLRequest(url: .example))
    #expect(head.statusCode == 200)
    let (_, sent) = try await registry.upload(for: URLRequest(url: .example), from: Data())
    #expect(sent.statusCode == 200)
    let (body, _) = try await registry.data(from: .example)
    #expect(String(decoding: body, as: UTF8.self) == "chain")
    registry.invalidate()
  }
}
