#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  /// What reaches a server, compared with what a plain session sends for the same request.
  @Suite("Bytes on the wire", .timeLimit(.minutes(5)))
  struct WireParityTests {
    enum Carried: String, CaseIterable { case nothing, httpBody, stream, uploadedData, uploadedFile }
    enum Fields: String, CaseIterable { case none, request, configuration }

    struct Case: CustomStringConvertible {
      let method: String
      let carried: Carried
      let fields: Fields
      var description: String { "\(method) \(carried.rawValue) \(fields.rawValue)" }
    }

    /// 120 cases.
    static let cases = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"].flatMap { method in
      Carried.allCases.flatMap { carried in Fields.allCases.map { Case(method: method, carried: carried, fields: $0) } }
    }

    /// A request as the server got it: the request line, the fields in an order of their own, the body.
    private struct Wire: Equatable, CustomStringConvertible {
      var line: String
      var fields: Set<String>
      var body: String

      init(_ request: TestOrigin.Request) {
        line = "\(request.method) \(request.target) \(request.httpVersion)"
        fields = Set(request.fields.map { "\($0.name): \($0.value)" })
        body = String(decoding: request.body, as: UTF8.self)
      }

      var description: String { "\(line) \(fields.sorted()) \(body)" }
    }

    /// Where we differ, and why that is right.
    private static func expected(_ plain: Wire, _ item: Case) -> Wire {
      var expected = plain
      // What HTTP/1.1 does anyway, and HTTP/2 forbids (RFC 9113, section 8.2.2).
      expected.fields.remove("Connection: keep-alive")
      // A method that foresees no content says nothing of its length (RFC 9110, section 8.6).
      if ["DELETE", "OPTIONS", "PROPFIND"].contains(item.method), plain.body.isEmpty {
        expected.fields.remove("Content-Length: 0")
      }
      return expected
    }

    private static let body = Data("name=value".utf8)

    /// Sends one request; `nil` when the session refuses to.
    private func send(_ item: Case, by session: URLSession, to origin: TestOrigin, file: URL) async throws -> Wire? {
      let before = origin.requests.count
      var request = URLRequest(url: origin.url("/a/../b/./\(item.method)?q=%41&r=a+b"))
      request.httpMethod = item.method
      if item.fields == .request {
        request.setValue("text/html", forHTTPHeaderField: "accept")
        request.setValue("", forHTTPHeaderField: "x-empty")
        request.setValue("de", forHTTPHeaderField: "Accept-Language")
      }
      switch item.carried {
      case .httpBody: request.httpBody = Self.body
      case .stream: request.httpBodyStream = InputStream(data: Self.body)
      default: break
      }
      let ready = request
      do {
        switch item.carried {
        case .uploadedData: _ = try await session.upload(for: ready, from: Self.body)
        case .uploadedFile: _ = try await session.upload(for: ready, fromFile: file)
        default: _ = try await session.data(for: ready)
        }
      } catch {
        return nil
      }
      return origin.requests.count > before ? origin.requests.last.map(Wire.init) : nil
    }

    private func session(_ fields: Fields, _ registry: InterceptorRegistry?) -> URLSession {
      let configuration = URLSessionConfiguration.ephemeral
      if fields == .configuration { configuration.httpAdditionalHeaders = ["header3": "a", "X-MIXED-case": "b"] }
      return URLSession(configuration: registry.map { configuration.intercepted(by: $0) } ?? configuration)
    }

    @Test("120 kinds of request are the bytes of a plain session's, but for two fields, each with its reason")
    func all() async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry { Link.pass() }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Self.body.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        for fields in Fields.allCases {
          let (plain, ours) = (session(fields, nil), session(fields, registry))
          for item in Self.cases where item.fields == fields {
            let theirs = try await send(item, by: plain, to: origin, file: file)
            let sent = try await send(item, by: ours, to: origin, file: file)
            // A plain session on Linux fails a GET with a body before it is sent; HTTP allows it (RFC 9110, section
            // 9.3.1).
            if item.method == "GET", item.carried != .nothing {
              #expect(theirs == nil && sent?.body == "name=value", "\(item)")
              continue
            }
            let expected = theirs.map { Self.expected($0, item) }
            #expect(
              sent == expected,
              "\(item): plain \(theirs.map { "\($0)" } ?? "failed"), ours \(sent.map { "\($0)" } ?? "failed")")
          }
          plain.invalidateAndCancel()
          ours.invalidateAndCancel()
        }
      }
    }
  }
#endif
