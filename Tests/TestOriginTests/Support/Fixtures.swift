import Foundation

extension URLSession {
  /// Status, fields and text of a reply, with a session that is used for nothing else.
  static func fetch(_ url: URL, fields: [String: String] = [:]) async throws -> (head: HTTPURLResponse, text: String) {
    let session = URLSession(configuration: .ephemeral)
    defer { session.invalidateAndCancel() }
    var request = URLRequest(url: url)
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    let (data, response) = try await session.data(for: request)
    guard let head = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    return (head, String(decoding: data, as: UTF8.self))
  }
}
