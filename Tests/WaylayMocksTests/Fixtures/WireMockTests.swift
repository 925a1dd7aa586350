import Foundation
import Testing
import WaylayCore
import WaylayMocks

@Suite("WireMock mappings", .timeLimit(.minutes(5))) struct WireMockTests {
  private func mocked(_ mapping: String, _ files: [String: String] = [:], ignoring: Set<String> = []) throws -> Mocked {
    let folder = try TemporaryFolder(files.merging(["mappings/a.json": mapping]) { $1 })
    return Mocked(try Stub.wireMock(at: folder.url, ignoring: ignoring), in: folder)
  }

  private func request(_ request: String) -> String { #"{"request": \#(request), "response": {"body": "yes"}}"# }

  @Test(
    "the forms of a URL",
    arguments: [
      (
        #"{"method": "GET", "url": "/a/b?x=1&y=2"}"#, ["/a/b?x=1&y=2", "/a/b?y=2&x=1"],
        ["/a/b", "/a/b?x=1", "/a/b?x=1&y=2&z=3", "/a/c?x=1&y=2"]
      ),
      (#"{"method": "GET", "url": "/a"}"#, ["/a"], ["/a?x=1", "/a/", "/b"]),
      (#"{"method": "GET", "urlPath": "/a*/:b/(c)"}"#, ["/a*/:b/(c)", "/a*/:b/(c)?x=1"], ["/ax/1/(c)"]),
      (
        #"{"method": "ANY", "urlPathPattern": "/users/[0-9]+"}"#, ["/users/42", "/users/42?x=1"],
        ["/users/x", "/a/users/42", "/users/42/x"]
      ),
      (#"{"urlPattern": "/users\\?id=[0-9]+"}"#, ["/users?id=42"], ["/users", "/users?id=x", "/users?id=42&b=1"]),
      (
        #"{"method": "GET", "urlPathTemplate": "/users/{id}/posts/{post}"}"#, ["/users/1/posts/2"],
        ["/users/1/posts", "/users//posts/2"]
      ),
      (#"{"method": "GET"}"#, ["/", "/a/b?c"], []),
    ])
  func urls(pattern: String, good: [String], bad: [String]) async throws {
    let mocked = try mocked(request(pattern))
    for target in good { #expect(await mocked.ask(target) == "200 yes", "\(target)") }
    for target in bad { #expect(await mocked.ask(target).hasPrefix("error"), "\(target)") }
  }

  @Test("the method counts, unless it is ANY")
  func methods() async throws {
    let mocked = try mocked(request(#"{"method": "POST", "urlPath": "/a"}"#))
    #expect(await mocked.ask("/a", "POST") == "200 yes")
    #expect(await mocked.ask("/a", "PUT").hasPrefix("error"))
  }

  @Test(
    "conditions on query items",
    arguments: [
      (#"{"equalTo": "x"}"#, ["?q=x", "?q=y&q=x"], ["", "?q=X", "?q"]),
      (#"{"equalTo": "x", "caseInsensitive": true}"#, ["?q=X"], ["?q=xx"]),
      (#"{"contains": "a.b"}"#, ["?q=1a.b2"], ["?q=aXb", ""]), (#"{"doesNotContain": "a"}"#, ["?q=b"], ["?q=a", ""]),
      (#"{"matches": "[a-c]+"}"#, ["?q=abc"], ["?q=abcd", ""]),
      (#"{"doesNotMatch": "[a-c]+"}"#, ["?q=abcd"], ["?q=abc", ""]),
      (#"{"absent": true}"#, ["", "?r=1"], ["?q=1", "?q"]), (#"{"absent": false}"#, ["?q"], [""]),
      (#"{"or": [{"equalTo": "1"}, {"equalTo": "2"}]}"#, ["?q=2"], ["?q=3"]),
      (#"{"and": [{"contains": "1"}, {"contains": "2"}]}"#, ["?q=21"], ["?q=1"]),
      (#"{"not": {"equalTo": "1"}}"#, ["?q=2"], ["?q=1", ""]),
    ])
  func query(condition: String, good: [String], bad: [String]) async throws {
    let mocked = try mocked(request(#"{"method": "GET", "urlPath": "/a", "queryParameters": {"q": \#(condition)}}"#))
    for query in good { #expect(await mocked.ask("/a" + query) == "200 yes", "\(query)") }
    for query in bad { #expect(await mocked.ask("/a" + query).hasPrefix("error"), "\(query)") }
  }

  @Test(
    "conditions on header fields",
    arguments: [
      (#"{"equalTo": "x"}"#, ["x"], ["y", nil]), (#"{"contains": "b"}"#, ["abc"], ["ac", nil]),
      (#"{"matches": "a|b"}"#, ["b"], ["ab", nil]),
      (#"{"absent": true}"#, [nil], ["x"]), (#"{"doesNotMatch": "a"}"#, ["b"], ["a", nil]),
    ] as [(String, [String?], [String?])])
  func headers(condition: String, good: [String?], bad: [String?]) async throws {
    let mocked = try mocked(request(#"{"method": "GET", "urlPath": "/a", "headers": {"X-Q": \#(condition)}}"#))
    for value in good {
      #expect(await mocked.ask("/a", fields: value.map { ["x-q": $0] } ?? [:]) == "200 yes", "\(value ?? "none")")
    }
    for value in bad {
      #expect(await mocked.ask("/a", fields: value.map { ["x-q": $0] } ?? [:]).hasPrefix("error"), "\(value ?? "none")")
    }
  }

  @Test(
    "conditions on bodies",
    arguments: [
      (#"{"equalTo": "abc"}"#, ["abc"], ["abcd", ""]), (#"{"contains": "b"}"#, ["abc"], ["ac"]),
      (#"{"matches": "a.c"}"#, ["abc"], ["abcd"]),
      (#"{"absent": true}"#, [""], ["x"]), (#"{"binaryEqualTo": "YWJj"}"#, ["abc"], ["abd"]),
      (#"{"not": {"contains": "b"}}"#, ["ac"], ["abc"]),
      (
        #"{"equalToJson": {"a": 1, "b": [1, 2]}}"#, [#"{"b":[1,2],"a":1.0}"#],
        [#"{"a":1,"b":[2,1]}"#, #"{"a":1,"b":[1,2],"c":3}"#, "no"]
      ),
      (#"{"equalToJson": "{\"a\": 1}"}"#, [#"{"a":1}"#], [#"{"a":2}"#]),
      (
        #"{"equalToJson": {"a": [1, [2, 3]]}, "ignoreArrayOrder": true, "ignoreExtraElements": true}"#,
        [#"{"a":[[3,2],5,1],"b":0}"#],
        [#"{"a":[1,[2]]}"#]
      ),
      (
        #"{"equalToJson": {"a": "${json-unit.any-number}", "b": "${json-unit.ignore}", "c": "${json-unit.any-string}"}}"#,
        [#"{"a":7,"b":[],"c":"x"}"#], [#"{"a":"7","b":[],"c":"x"}"#]
      ),
      (#"{"matchesJsonPath": "$.a[0].b"}"#, [#"{"a":[{"b":null}]}"#], [#"{"a":[]}"#, "no"]),
      (
        #"{"matchesJsonPath": {"expression": "$.a", "equalTo": "1"}}"#, [#"{"a":1}"#, #"{"a":"1"}"#],
        [#"{"a":2}"#, "{}"]
      ),
      (
        #"{"matchesJsonPath": {"expression": "$.a[*].b", "contains": "x"}}"#, [#"{"a":[{"b":"y"},{"b":"ax"}]}"#],
        [#"{"a":[{"b":"y"}]}"#]
      ),
      (#"{"matchesJsonPath": {"expression": "$.a", "absent": true}}"#, ["{}"], [#"{"a":1}"#]),
    ])
  func bodies(condition: String, good: [String], bad: [String]) async throws {
    let mocked = try mocked(request(#"{"method": "POST", "urlPath": "/a", "bodyPatterns": [\#(condition)]}"#))
    for body in good { #expect(await mocked.ask("/a", "POST", body: body) == "200 yes", "\(body)") }
    for body in bad { #expect(await mocked.ask("/a", "POST", body: body).hasPrefix("error"), "\(body)") }
  }

  @Test("elements in any order are told apart though the first fits several")
  func assignment() async throws {
    let wanted =
      #"{"equalToJson": ["${json-unit.any-number}", 1, "${json-unit.any-number}"], "ignoreArrayOrder": true}"#
    let mocked = try mocked(request(#"{"method": "POST", "urlPath": "/a", "bodyPatterns": [\#(wanted)]}"#))
    #expect(await mocked.ask("/a", "POST", body: "[1, 2, 3]") == "200 yes")
    #expect(await mocked.ask("/a", "POST", body: "[4, 2, 3]").hasPrefix("error"))
  }

  @Test("Basic credentials are looked for")
  func basic() async throws {
    let mocked = try mocked(
      request(#"{"method": "GET", "urlPath": "/a", "basicAuthCredentials": {"username": "ada", "password": "x"}}"#))
    #expect(await mocked.ask("/a", fields: ["Authorization": "Basic YWRhOng="]) == "200 yes")
    #expect(await mocked.ask("/a").hasPrefix("error"))
  }

  @Test(
    "the forms of a response",
    arguments: [
      (#"{"status": 404, "body": "none"}"#, "404 none"),
      (#"{"status": 201, "statusMessage": "Made", "jsonBody": {"b": 1, "a": [2.50]}}"#, #"201 {"b":1,"a":[2.50]}"#),
      (#"{"base64Body": "YWJj"}"#, "200 abc"), (#"{"bodyFileName": "deep/file.txt"}"#, "200 from a file"),
      (#"{"status": 200, "body": "x", "fixedDelayMilliseconds": 60000}"#, "200 x"),
      (#"{"body": "x", "delayDistribution": {"type": "lognormal", "median": 80000, "sigma": 0.4}}"#, "200 x"),
      (#"{"body": "x", "delayDistribution": {"type": "uniform", "lower": 60000, "upper": 70000}}"#, "200 x"),
      (
        #"{"body": "0123456789", "chunkedDribbleDelay": {"numberOfChunks": 5, "totalDuration": 60000}}"#,
        "200 0123456789"
      ),
      (#"{"fault": "EMPTY_RESPONSE"}"#, "error -1005"), (#"{"fault": "CONNECTION_RESET_BY_PEER"}"#, "error -1005"),
      (#"{"fault": "RANDOM_DATA_THEN_CLOSE"}"#, "error -1011"),
      (#"{"fault": "MALFORMED_RESPONSE_CHUNK"}"#, "error -1005"),
    ])
  func responses(response: String, answer: String) async throws {
    let mocked = try mocked(
      #"{"request": {"method": "GET", "url": "/a"}, "response": \#(response)}"#,
      ["__files/deep/file.txt": "from a file"])
    #expect(await mocked.ask("/a") == answer)
  }

  @Test("delays are those of the mapping")
  func delays() async throws {
    let folder = try TemporaryFolder([
      "one.json": #"{"request": {"url": "/a"}, "response": {"fixedDelayMilliseconds": 1500}}"#
    ])
    let clock = MockClock(isAutomatic: true)
    _ = await Mocked(try Stub.wireMock(at: folder.url.appendingPathComponent("one.json")), clock: clock).ask("/a")
    #expect(clock.now.offset == .milliseconds(1500))
  }

  @Test("header fields may have several values")
  func fields() async throws {
    let mocked = try mocked(
      #"{"request": {"url": "/a"}, "response": {"headers": {"Content-Type": "text/x", "Set-Cookie": ["a=1", "b=2"]}, "body": "x"}}"#
    )
    #expect(await mocked.ask("/a") == "200 x")
    #expect(mocked.session.configuration.httpCookieStorage?.cookies?.count == 2)
  }

  @Test("the lowest priority goes first, and then the last mapping")
  func priorities() async throws {
    let mocked = try mocked(
      #"""
      {"mappings": [
        {"priority": 1, "request": {"url": "/a"}, "response": {"body": "first"}},
        {"request": {"url": "/a"}, "response": {"body": "second"}},
        {"request": {"url": "/b"}, "response": {"body": "third"}},
        {"priority": 5, "request": {"url": "/b"}, "response": {"body": "fourth"}},
        {"priority": 10, "request": {"urlPattern": ".*"}, "response": {"status": 404, "body": "rest"}}
      ], "meta": {"total": 5}}
      """#)
    #expect(await mocked.ask("/a") == "200 first")
    #expect(await mocked.ask("/b") == "200 fourth")
    #expect(await mocked.ask("/c") == "404 rest")
  }

  @Test("scenarios move from Started on, across files")
  func scenarios() async throws {
    let folder = try TemporaryFolder([
      "mappings/get-empty.json":
        #"{"scenarioName": "cart", "requiredScenarioState": "Started", "request": {"method": "GET", "url": "/cart"}, "response": {"body": "empty"}}"#,
      "mappings/put.json":
        #"{"scenarioName": "cart", "newScenarioState": "full", "request": {"method": "PUT", "url": "/cart"}, "response": {"status": 201}}"#,
      "mappings/sub/get-full.json":
        #"{"scenarioName": "cart", "requiredScenarioState": "full", "request": {"method": "GET", "url": "/cart"}, "response": {"body": "full"}}"#,
    ])
    let mocked = Mocked(try Stub.wireMock(at: folder.url.appendingPathComponent("mappings")))
    #expect(await mocked.ask("/cart") == "200 empty")
    #expect(await mocked.ask("/cart", "PUT") == "201 ")
    #expect(await mocked.ask("/cart") == "200 full")
    #expect(mocked.mock.issues.isEmpty)
  }

  @Test("what means nothing to a mock is passed over")
  func passedOver() async throws {
    let mocked = try mocked(
      #"""
      {"id": "x", "uuid": "x", "name": "a", "persistent": true, "metadata": {"k": 1}, "insertionIndex": 3,
       "request": {"url": "/a"}, "response": {"body": "x", "transformers": ["response-template"]}}
      """#, ignoring: ["transformers"])
    #expect(await mocked.ask("/a") == "200 x")
  }

  @Test(
    "what is not understood is a mistake with file, line and mapping",
    arguments: [
      (
        "{\"name\": \"cart\",\n\"request\": {\"url\": \"/a\"}, \"response\": {\n\"transformers\": []}}",
        "a.json, line 3, mapping (cart): \"transformers\" is not understood"
      ),
      (
        "{\"mappings\": [\n{\"request\": {\"url\": \"/a\"}},\n{\"response\": {}}]}",
        "a.json, line 2, mapping 1: the mapping has no \"response\""
      ),
      ("{\"request\": {\"url\": \"/a\"}, \"response\": {\"proxyBaseUrl\": \"http://x\"}}", "proxyBaseUrl"),
      ("{\"request\": {\"url\": \"/a\", \"cookies\": {}}, \"response\": {}}", "cookies"),
      ("{\"request\": {\"url\": \"/a\"}, \"response\": {}, \"postServeActions\": []}", "postServeActions"),
      ("{\"request\": {\"url\": \"/a\"}, \"response\": {\"status\": 99}}", "99 is not a valid status code"),
      (
        "{\"request\": {\"url\": \"/a\"}, \"response\": {\"body\": \"\",\n\"jsonBody\": {}}}",
        "a.json, line 2: the response has body and jsonBody"
      ),
      ("{\"request\": {\"url\": \"/a\"}, \"response\": {\"bodyFileName\": \"gone.txt\"}}", "gone.txt is not in"),
      ("{\"request\": {\"url\": \"/a\"}, \"response\": {\"base64Body\": \"!\"}}", "Base64"),
      ("{\"request\": {\"url\": \"/a\"}, \"response\": {\"fault\": \"NONE\"}}", "is not a known fault"),
      ("{\"request\": {\"url\": \"/a\"}, \"response\": {\"fixedDelayMilliseconds\": -5}}", "below zero"),
      (
        "{\"request\": {\"url\": \"/a\"}, \"response\": {\"delayDistribution\": {\"type\": \"normal\"}}}",
        "is not a known distribution"
      ),
      (
        """
        {\"request\": {\"url\": \"/a\"}, \"response\": {\"delayDistribution\": {\"type\": \"uniform\", \"lower\": 5, \
        \"upper\": 1}}}
        """,
        "shorter one first"
      ),
      (
        """
        {\"request\": {\"url\": \"/a\"}, \"response\": {\"delayDistribution\": {\"type\": \"lognormal\", \"median\": \
        5}}}
        """,
        "sigma"
      ),
      ("{\"request\": {\"url\": \"a\"}, \"response\": {}}", "is not a URL path"),
      ("{\"request\": {\"urlPathPattern\": \"[\"}, \"response\": {}}", "regular expression"),
      ("{\"request\": {\"url\": \"/a\", \"urlPath\": \"/b\"}, \"response\": {}}", "url and urlPath"),
      (
        "{\"request\": {\"url\": \"/a\", \"headers\": {\"A\": {\"like\": 1}}}, \"response\": {}}",
        "\"like\" is not understood"
      ),
      ("{\"request\": {\"url\": \"/a\", \"headers\": {\"A\": \"x\"}}, \"response\": {}}", "expected an object"),
      (
        "{\"request\": {\"url\": \"/a\", \"queryParameters\": {\"A\": {\"matches\": \"(\"}}}, \"response\": {}}",
        "regular expression"
      ),
      (
        "{\"request\": {\"url\": \"/a\", \"bodyPatterns\": [{\"matchesXPath\": \"//a\"}]}, \"response\": {}}",
        "matchesXPath"
      ),
      ("{\"request\": {\"url\": \"/a\", \"bodyPatterns\": [{}]}, \"response\": {}}", "no condition"),
      ("{\"request\": {\"url\": \"/a\", \"bodyPatterns\": [{\"equalToJson\": \"{\"}]}, \"response\": {}}", "not JSON"),
      (
        """
        {\"request\": {\"url\": \"/a\", \"bodyPatterns\": [{\"equalToJson\": {\"a\": \"${json-unit.regex}x\"}}]}, \
        \"response\": {}}
        """,
        "json-unit.regex"
      ),
      (
        """
        {\"request\": {\"url\": \"/a\", \"bodyPatterns\": [{\"matchesJsonPath\": \"$.a[?(@.b)]\"}]}, \"response\": \
        {}}
        """,
        "JSON path"
      ),
      ("{\"request\": {\"url\": \"/a\"}, \"response\": {}, \"newScenarioState\": \"x\"}", "no \"scenarioName\""),
      ("{\"request\": {\"url\": \"/a\",\n\"method\": 7}, \"response\": {}}", "a.json, line 2: \"method\" is a number"),
      ("{\n\"request\": }", "a.json, line 2: column 12"), ("[]", "expected an object"),
    ])
  func mistakes(mapping: String, hint: String) throws {
    let folder = try TemporaryFolder(["mappings/a.json": mapping])
    let message = try #require(mistake { () throws(MockError) in try Stub.wireMock(at: folder.url) })
    #expect(message.contains(hint))
    #expect(
      try #require(mistake { () throws(MockError) in try Stub.wireMock(at: folder.url.appendingPathComponent("x")) })
        .contains(
          "no such file"))
  }

  @Test("mappings with bytes changed never trap")
  func fuzz() throws {
    let random = MockRandom(seed: 11)
    let seed = Array(
      #"{"priority":1,"scenarioName":"s","requiredScenarioState":"Started","newScenarioState":"t","request":{"method":"GET","urlPathPattern":"/a+","queryParameters":{"q":{"matches":"x*"}},"bodyPatterns":[{"equalToJson":{"a":[1]},"ignoreArrayOrder":true},{"matchesJsonPath":{"expression":"$.a[0]","equalTo":"1"}}]},"response":{"status":201,"headers":{"A":["b"]},"jsonBody":{"a":1e5},"delayDistribution":{"type":"uniform","lower":1,"upper":2}}}"#
        .utf8)
    let folder = try TemporaryFolder([:])
    let file = folder.url.appendingPathComponent("a.json")
    for _ in 0..<400 {
      var bytes = seed
      for _ in 0..<Int(random.unit() * 3) + 1 {
        bytes[Int(random.unit() * Double(bytes.count))] = UInt8(0x20 + random.unit() * 0x5F)
      }
      try Data(bytes).write(to: file)
      _ = try? Stub.wireMock(at: file)
    }
  }
}
