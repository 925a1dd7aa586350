import Foundation
import Testing
import WaylayHAR
import WaylayMocks

/// A folder for one test, which is removed with it.
final class CassetteFolder: Sendable {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-cassettes-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  func path(_ name: String = "tape.har") -> String { url.appendingPathComponent(name).path }

  func data(_ name: String = "tape.har") -> Data? { FileManager.default.contents(atPath: path(name)) }

  /// Everything in the folder, the folders in it aside.
  var names: [String] { ((try? FileManager.default.subpathsOfDirectory(atPath: url.path)) ?? []).sorted() }

  func archive(_ name: String = "tape.har") throws -> HAR { try HAR(contentsOf: URL(fileURLWithPath: path(name))) }

  /// Writes a cassette by hand.
  func write(_ entries: [HAR.Entry], _ name: String = "tape.har") throws {
    try HAR(entries: entries).write(to: URL(fileURLWithPath: path(name)))
  }

  /// A cassette in this folder, which does not look at the environment of the process.
  func cassette(
    _ mode: Cassette.Mode = .environment, _ name: String = "tape.har", environment: [String: String] = [:],
    calls: AtomicFile.Calls = .init(), changed change: (inout Cassette.Options) -> Void = { _ in }
  ) -> Cassette {
    var options = Cassette.Options()
    change(&options)
    return Cassette(
      path(name), mode: mode, options: options,
      location: MockSourceLocation(fileID: #fileID, filePath: #filePath, line: 1, column: 1), environment: environment,
      calls: calls)
  }
}

extension HAR.Entry {
  /// An entry as a test writes it.
  static func made(
    _ method: String, _ url: String, _ answer: String = "", status: Int = 200, at second: Double = 1_790_000_000,
    body: String? = nil, type: String = "application/json", headers: [HAR.Field] = [], timings: HAR.Timings = .init()
  ) -> HAR.Entry {
    HAR.Entry(
      started: Date(timeIntervalSince1970: second),
      request: HAR.Request(
        method: method, url: url, headers: headers, body: body.map { HAR.Body(Data($0.utf8), mediaType: type) }),
      response: HAR.Response(status: status, body: HAR.Body(Data(answer.utf8), mediaType: "text/plain")),
      timings: timings)
  }
}

extension Cassette {
  /// Asks without a session. Nothing goes further, unless there is somebody to answer.
  func ask(
    _ method: HTTPRequest.Method, _ url: String, body: MessageBody = .empty, fields: HTTPFields = [:],
    network: @escaping @Sendable (InterceptedRequest) async throws -> InterceptedResponse = { _ in
      throw URLError(.notConnectedToInternet)
    }
  ) async throws -> InterceptedResponse {
    let request = InterceptedRequest(method, URL(string: url)!, fields: fields, body: body)
    return try await startLoading(request, next: InterceptorChain.Next(network))
  }

  /// The text of an answer.
  func text(
    _ method: HTTPRequest.Method, _ url: String, body: MessageBody = .empty, fields: HTTPFields = [:],
    network: @escaping @Sendable (InterceptedRequest) async throws -> InterceptedResponse = { _ in
      throw URLError(.notConnectedToInternet)
    }
  ) async throws -> String {
    let response = try await ask(method, url, body: body, fields: fields, network: network)
    return String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
  }
}

/// A network that answers with what it was asked for, one after the other.
func echo(_ request: InterceptedRequest) async throws -> InterceptedResponse {
  InterceptedResponse(to: request, fields: [.contentType: "text/plain"], body: .text("answer to \(request.url.path)"))
}

/// What a request without an entry fails with.
func cassetteError(_ error: (any Error)?) -> MockError? { (error as? URLError)?.cause(as: MockError.self) }
