public import Foundation
import HTTPTypes

extension MockResponse {
  /// A complete HTTP message, as sent on the wire or as printed by `curl -i`.
  ///
  /// ```swift
  /// Stub(.get, "/users/42") {
  ///   .raw("""
  ///     HTTP/1.1 200 OK
  ///     Content-Type: application/json
  ///
  ///     {"name": "Ada"}
  ///     """)
  /// }
  /// ```
  ///
  /// If there are several heads, as `curl -iL` prints them for interim responses, redirects, challenges and proxies,
  /// the last one counts. Lines of the head end with CRLF or LF. A chunked body is decoded; a body that curl has
  /// already decoded is used unchanged. `Content-Length` is set to the actual length of the body, so that you can edit
  /// a message. A body that is still compressed fails the load: save it with `curl --compressed`.
  ///
  /// A message that cannot be parsed fails the load with ``MockError/Code/invalidResponse`` and the line.
  public static func raw(_ message: String) -> MockResponse {
    raw(Data(message.utf8))
  }

  /// A complete HTTP message as bytes.
  public static func raw(_ message: Data) -> MockResponse {
    raw(message, in: "a raw message") { head in .data(message.dropFirst(head.end)) }
  }

  /// A complete HTTP message from a file. The head is read at once; the body is read on demand unless it is short or
  /// chunked.
  ///
  /// A missing file fails the load with ``MockError/Code/unreadableFile``.
  public static func raw(contentsOf file: URL) -> MockResponse {
    do {
      let whole = try MessageBody.existing(file)
      let handle = try FileHandle(forReadingFrom: file)
      defer { try? handle.close() }
      let beginning = try handle.read(upToCount: headLimit) ?? Data()
      return raw(beginning, in: "the file \(file.path)") { head in
        if beginning.count < headLimit { return .data(beginning.dropFirst(head.end)) }
        // What has to be decoded has to be read as a whole.
        if head.isChunked { return .data(try Data(contentsOf: file).dropFirst(head.end)) }
        return whole.slice(Int64(head.end)..<max(Int64(head.end), whole.length ?? 0))
      }
    } catch {
      return .broken(
        error as? MockError
          ?? MockError(.unreadableFile, "the file \(file.path) cannot be read: \(error.redacted).", underlying: error))
    }
  }

  /// The bytes in which a file's head must end.
  private static let headLimit = 256 * 1024

  private static func raw(_ beginning: Data, in place: String, _ body: (RawHead) throws -> MessageBody) -> MockResponse
  {
    do {
      var head = try RawHead(beginning)
      guard head.status.code >= 200 else {
        throw MockError(
          .invalidResponse, "\(place) has only the interim status \(head.status.code): the final response is missing.")
      }
      if head.fields[.contentEncoding] != nil, beginning.dropFirst(head.end).starts(with: [0x1F, 0x8B]) {
        throw MockError(
          .invalidResponse,
          "\(place) has a compressed body: save it with curl --compressed, or remove the Content-Encoding field.")
      }
      let body = try head.content(body(head))
      return MockResponse(.message(Message(status: head.status, fields: head.fields, body: .message(body))))
    } catch let error as RawHead.Failure {
      return .broken(
        MockError(.invalidResponse, "\(place) is not an HTTP message: \(error.redacted)", underlying: error))
    } catch {
      return .broken(
        error as? MockError
          ?? MockError(.unreadableFile, "\(place) cannot be read: \(error.redacted).", underlying: error))
    }
  }

  /// An answer that only fails.
  static func broken(_ mistake: MockError) -> MockResponse { MockResponse(.message(Message()), defect: mistake) }
}

extension RawHead {
  fileprivate var isChunked: Bool { fields[.transferEncoding]?.lowercased().hasSuffix("chunked") ?? false }

  /// The content of a message with this head; takes the fields away that were about its way over the wire.
  fileprivate mutating func content(_ body: MessageBody) throws -> MessageBody {
    var body = body
    if let data = body.inMemory {
      if isChunked, let content = ChunkedCoding.decoded(data) { body = .data(content) }
      // An editor may have ended the last line.
      if let length = fields[.contentLength].flatMap({ Int($0) }), length >= 0, data.count > length,
        data.dropFirst(length).allSatisfy({ $0 == 0x0A || $0 == 0x0D })
      {
        body = .data(data.prefix(length))
      }
    }
    fields[.transferEncoding] = nil
    // An answer to HEAD has a length and no body.
    if !body.isEmpty { fields[.contentLength] = nil }
    return body
  }
}
