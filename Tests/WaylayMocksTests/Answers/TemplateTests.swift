import Foundation
import Testing
import WaylayCore
import WaylayMocks

@Suite("Templates", .timeLimit(.minutes(5))) struct TemplateTests {
  private let request = URLRequest.mocked(
    "POST", body: #"{"user": {"name": "Ada \"L\"", "age": 36.50}, "tags": ["x", "y"], "none": null}"#,
    ["Accept-Language": "de"])

  @Test(
    "placeholders stand for parts of the request",
    arguments: [
      ("{{method}} {{path}}", "POST /v1/users/42"), ("{{host}}", "api.example.com"),
      ("{{url}}", URL.mocked.absoluteString),
      ("{{path.id}}", "42"), ("{{query.page}}/{{query.tag}}", "2/a b"), ("{{header.accept-language}}", "de"),
      ("{{call}}", "0"),
      ("{{body.user.name}}", "Ada \"L\""), ("{{ body.tags[1] }}", "y"), ("{{body.tags[-1]}}", "y"),
      ("{{body.user.age}}", "36.50"),
      ("{{body.tags}}", #"["x","y"]"#), ("{{body.none}}", "null"), ("{{query.missing|7}}", "7"),
      ("{{query.missing|}}", ""),
      ("a\\{{b}}", "a{{b}}"), ("no placeholder }}", "no placeholder }}"), ("", ""),
      ("{{method}}{{method}}", "POSTPOST"),
    ])
  func values(template: String, text: String) async throws {
    let response = try await MockResponse.template(template).direct(to: request, parameters: ["id": "42"])
    #expect(try await response.text == text)
  }

  @Test("the whole body is put in")
  func body() async throws {
    #expect(try await MockResponse.template("<{{body}}>").answer(to: .mocked("POST", body: "plain")).text == "<plain>")
  }

  @Test("in JSON, texts are escaped and values are values")
  func json() async throws {
    let template =
      #"{"name": "{{body.user.name}}", "age": {{body.user.age}}, "tags": {{body.tags}}, "q": "{{query.missing|"}}"}"#
    let answer = try await MockResponse.template(template, type: "application/problem+json; charset=utf-8").answer(
      to: request)
    #expect(answer.text == #"{"name": "Ada \"L\"", "age": 36.50, "tags": ["x","y"], "q": "\""}"#)
  }

  @Test(
    "an unknown placeholder fails every load, and says what there is",
    arguments: [
      "{{nothing}}", "{{path.}}", "{{query}}", "{{header}}", "{{method.x}}", "{{body[}}", "{{body..a}}", "{{}}",
      "{{open",
    ])
  func unknown(template: String) async throws {
    let response = MockResponse.template(template)
    #expect(response.defect != nil)
  }

  @Test(
    "a value that the request lacks fails the load",
    arguments: [
      ("{{path.name}}", "has id"), ("{{query.missing}}", "default"), ("{{header.X-No}}", "default"),
      ("{{body.user.city}}", "default"),
      ("{{body.tags[9]}}", "default"),
    ])
  func missing(template: String, hint: String) async throws {
    let mistake = try #require(await MockResponse.template(template).mistake(to: request, parameters: ["id": "42"]))
    #expect(mistake.code == .invalidTemplate)
    #expect(mistake.message.contains(hint))
  }

  @Test("a body that is no JSON fails the load where JSON is looked for")
  func noJSON() async throws {
    let mistake = try #require(await MockResponse.template("{{body.a}}").mistake(to: .mocked("POST", body: "plain")))
    #expect(mistake.message.contains("not JSON"))
  }

  @Test("only a template that looks at the body wants it")
  func needs() {
    #expect(!MockResponse.template("{{path.id}}").needsBody)
    #expect(MockResponse.template("{{body}}").needsBody)
    #expect(MockResponse.template("{{body.a}}").needsBody)
  }
}
