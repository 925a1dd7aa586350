import Foundation
import Testing
import WaylayCore
import WaylayMocks

/// A folder that is gone after the test.
final class TemporaryFolder {
  let url: URL

  init(_ files: [String: String]) throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-fixtures-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    for (name, text) in files { try write(text, to: name) }
  }

  func write(_ text: String, to name: String) throws {
    let file = url.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }
}

/// A session whose requests are answered by stubs.
struct Mocked {
  let mock: MockInterceptor
  let session: URLSession
  /// Where the stubs' files are, until the session is gone.
  let folder: TemporaryFolder?

  init(_ stubs: [Stub], in folder: TemporaryFolder? = nil, clock: any Clock<Duration> = MockClock(isAutomatic: true)) {
    let mock = MockInterceptor(clock: clock) { stubs }
    self.mock = mock
    self.folder = folder
    session = URLSession(configuration: .ephemeral.intercepted(by: InterceptorRegistry { mock }))
  }

  /// Status and text, as in `200 found`; the code of a `URLError` for a failure.
  func ask(
    _ target: String, _ method: String = "GET", body: String? = nil, fields: [String: String] = [:]
  ) async -> String {
    guard let url = URL(string: target.hasPrefix("/") ? "http://api.example.com" + target : target) else {
      return "no URL"
    }
    var request = URLRequest(url: url)
    request.httpMethod = method
    request.httpBody = body.map { Data($0.utf8) }
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    do {
      let (data, response) = try await session.data(for: request)
      return "\((response as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: data, as: UTF8.self))"
    } catch {
      return "error \((error as? URLError)?.code.rawValue ?? 0)"
    }
  }
}

/// The mistake that reading fixtures ends with.
func mistake(_ read: () throws(MockError) -> [Stub]) -> String? {
  do throws(MockError) {
    _ = try read()
    return nil
  } catch {
    return error.code == .invalidFixture && error.location?.fileID.description.hasPrefix("WaylayMocksTests/") == true
      ? error.message : "\(error)"
  }
}

@Suite("Fixtures by name", .timeLimit(.minutes(5))) struct FixtureFolderTests {
  @Test("files are named by their requests")
  func names() async throws {
    let folder = try TemporaryFolder([
      "GET_users.json": "all", "GET_users_42.json": "ada", "GET_users_{id}.json": "some", "users/GET_43.txt": "eve",
      "GET_users?page=2.json": "page two", "POST_users.201.json": "made", "DELETE_users_42.204": "",
      "ANY_my__notes.txt": "notes",
      "GET_.html": "root", "PUT.txt": "put root", "GET_v1.2_info.json": "dots", "GET_a%20b_c*d.txt": "odd",
      "GET_gone.http": "HTTP/1.1 410 Gone\nX-A: 1\n\ngone", "README.md": "not a fixture", ".hidden": "",
      "GET_a_{x}_c.txt": "one",
      "GET_a_{x}_{y}.txt": "two",
    ])
    let mocked = Mocked(try Stub.fixtures(in: folder.url), in: folder)
    let expected = [
      ("GET", "/users", "200 all"), ("GET", "/users?page=1", "200 all"), ("GET", "/users?page=2", "200 page two"),
      ("GET", "/users/42", "200 ada"), ("GET", "/users/43", "200 eve"), ("GET", "/users/44", "200 some"),
      ("POST", "/users", "201 made"),
      ("DELETE", "/users/42", "204 "), ("GET", "/my_notes", "200 notes"), ("PATCH", "/my_notes", "200 notes"),
      ("GET", "/", "200 root"),
      ("PUT", "", "200 put root"), ("GET", "/v1.2/info", "200 dots"), ("GET", "/a%20b/c*d", "200 odd"),
      ("GET", "/gone", "410 gone"),
      ("GET", "/a/b/c", "200 one"), ("GET", "/a/b/d", "200 two"),
    ]
    for (method, target, answer) in expected {
      let url = "http://api.example.com" + target
      #expect(await mocked.ask(url, method) == answer, "\(method) \(target)")
    }
    #expect(mocked.mock.issues.isEmpty)
  }

  @Test("an origin narrows the requests, and nobody has to use all files")
  func origin() async throws {
    let folder = try TemporaryFolder(["GET_a.json": "{}", "GET_b.json": "{}"])
    let mocked = Mocked(try Stub.fixtures(in: folder.url, origin: "https://api.example.com/"))
    #expect(await mocked.ask("https://api.example.com/a") == "200 {}")
    #expect(mocked.mock.issues.isEmpty)
    #expect(await mocked.ask("http://api.example.com/a").hasPrefix("error"))
  }

  @Test("the type is that of the extension, and a large file is streamed")
  func files() async throws {
    let folder = try TemporaryFolder(["GET_big.json": String(repeating: " ", count: 300_000)])
    let mocked = Mocked(try Stub.fixtures(in: folder.url), in: folder)
    let (data, response) = try await mocked.session.data(from: try #require(URL(string: "http://x/big")))
    #expect(data.count == 300_000)
    #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Type") == "application/json")
  }

  @Test(
    "a name that cannot be read is a mistake that names the file",
    arguments: [
      ("users.json", "does not begin with a method"), ("get_users.json", "does not begin with a method"),
      ("GETusers.json", "underscore"),
      ("GET-users.json", "underscore"), ("GET_{a b}.json", "braces"), ("GET_{id}_{id}.json", "occurs twice"),
      ("deep/down/notes.txt", "deep/down/notes.txt: "),
    ])
  func mistakes(name: String, hint: String) throws {
    let folder = try TemporaryFolder([name: ""])
    let message = try #require(mistake { () throws(MockError) in try Stub.fixtures(in: folder.url) })
    #expect(message.hasPrefix(name))
    #expect(message.contains(hint))
  }

  @Test("all mistakes are said at once; two files for one request are one")
  func several() throws {
    let folder = try TemporaryFolder(["GET_users.json": "", "users/GET.404.json": "", "x.txt": "", "y.txt": ""])
    let message = try #require(mistake { () throws(MockError) in try Stub.fixtures(in: folder.url) })
    #expect(message.hasPrefix("3 mistakes"))
    #expect(message.contains("also answered by GET_users.json"))
    let missing = try #require(
      mistake { () throws(MockError) in try Stub.fixtures(in: folder.url.appendingPathComponent("none")) })
    #expect(missing.contains("cannot be read"))
    #expect(throws: MockError.self) { try Stub.fixtures("NoFixtures", in: .main) }
  }
}

@Suite("Fixtures by index", .timeLimit(.minutes(5))) struct FixtureIndexTests {
  @Test("an index says what there is")
  func index() async throws {
    let folder = try TemporaryFolder([
      "ada.json": #"{"name": "Ada"}"#, "not-a-stub.txt": "", "old.http": "HTTP/1.1 410 Gone\n\ngone",
      "index.json": #"""
      {
        "comment": "what the server said on Monday",
        "origin": "http://api.example.com",
        "stubs": [
          {"method": "GET", "url": "/users/:id", "headers": {"ETag": "\"1\"", "Set-Cookie": ["a=1", "b=2"]}, "file": \#
          "ada.json"},
          {"method": "get", "url": "/users/:id", "status": 429, "times": 1, "text": "later", "delay": 3600},
          {"url": "/json", "json": {"big": 12345678901234567890, "list": [1.0]}, "type": "application/vnd.api+json"},
          {"method": "ANY", "url": "/bytes", "base64": "AAEC"},
          {"method": "GET", "url": "/hello/:who", "template": "hello {{path.who}}", "comment": "x"},
          {"method": "GET", "url": "/gone", "file": "old.http"},
          {"method": "GET", "url": "/low", "text": "high", "priority": 1, "required": true},
          {"method": "GET", "url": "/low", "text": "low"},
          {"method": "GET", "url": "https://other.example.com/x", "status": 204},
          {"method": "GET", "url": "?q=*", "text": "any path"}
        ]
      }
      """#,
    ])
    let mocked = Mocked(try Stub.fixtures(in: folder.url), in: folder)
    #expect(await mocked.ask("/users/1") == "429 later")
    #expect(await mocked.ask("/users/1") == #"200 {"name": "Ada"}"#)
    #expect(mocked.session.configuration.httpCookieStorage?.cookies?.count == 2)
    #expect(await mocked.ask("/json") == #"200 {"big":12345678901234567890,"list":[1.0]}"#)
    #expect(await mocked.ask("/bytes", "PUT") == "200 \u{0}\u{1}\u{2}")
    #expect(await mocked.ask("/hello/ada") == "200 hello ada")
    #expect(await mocked.ask("/gone") == "410 gone")
    #expect(mocked.mock.issues.count == 1, "the required one was not used yet")
    #expect(await mocked.ask("/low") == "200 high")
    #expect(await mocked.ask("https://other.example.com/x") == "204 ")
    #expect(await mocked.ask("/whatever?q=1") == "200 any path")
    #expect(mocked.mock.issues.isEmpty)
  }

  @Test("a list alone is an index too")
  func list() async throws {
    let folder = try TemporaryFolder(["index.json": #"[{"url": "/a", "text": "a"}]"#])
    #expect(await Mocked(try Stub.fixtures(in: folder.url, origin: "http://api.example.com")).ask("/a") == "200 a")
  }

  @Test(
    "a mistake names file, line and entry",
    arguments: [
      (#"{"stubs": [{"url": "/a", "stats": 1}]}"#, "index.json, line 1, entry 1 (ANY /a): \"stats\" is not understood"),
      (
        "[\n{\"url\": \"/a\"},\n{\"url\": \"/b\",\n \"status\": 1000}]",
        "index.json, line 4, entry 2 (ANY /b): 1000 is not a valid status code"
      ),
      (
        "[\n{\"url\": \"/b\",\n \"status\": \"200\"}]",
        "index.json, line 3, entry 1 (ANY /b): \"status\" is a string: expected a whole number"
      ),
      (
        "[{\"url\": \"/b\",\n\"file\": \"gone.json\"}]",
        "line 2, entry 1 (ANY /b): the file gone.json is not in the folder"
      ),
      ("[{\"url\": \"/b\",\n\"text\": \"\", \"json\": 1}]", "text and json"),
      ("[\n{\"method\": \"GET\"}]", "line 2, entry 1: the entry has no \"url\""),
      ("[{\"url\": \"b\"}]", "is not a host"), ("[{\"url\": \"/b\", \"method\": \"G T\"}]", "is not a valid method"),
      ("[{\"url\": \"/b\", \"delay\": -1}]", "below zero"), ("[{\"url\": \"/b\", \"times\": 0}]", "at least once"),
      ("[{\"url\": \"/b\", \"base64\": \"?\"}]", "Base64"),
      ("[{\"url\": \"/b\", \"template\": \"{{x}}\"}]", "not a placeholder"),
      ("[{\"url\": \"/b\", \"headers\": {\"A\": 1}}]", "\"A\" must be a string"),
      ("[{\"url\": \"/b\", \"headers\": {\"A b\": \"1\"}}]", "not a valid header field name"),
      ("[{\"url\": \"/b\", \"url\": \"/c\"}]", "occurs twice"), ("[1]", "expected an object here"),
      ("{}", "\"stubs\" is missing"),
      ("[\n{\"url\": \"/a\" \"x\": 1}]", "index.json, line 2: column 14: ',' or '}' is missing"),
      ("", "a value is missing"),
      ("[{\"url\": \"/b\", \"status\": 1e99}]", "whole number"), ("[{\"url\": \"/b\", \"delay\": 1e999}]", ""),
    ])
  func mistakes(index: String, hint: String) throws {
    let folder = try TemporaryFolder(["index.json": index])
    let message = mistake { () throws(MockError) in try Stub.fixtures(in: folder.url) }
    if hint.isEmpty { return #expect(message == nil) }
    #expect(try #require(message).contains(hint))
  }
}
