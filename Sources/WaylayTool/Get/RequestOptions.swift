import ArgumentParser
import Foundation
import WaylayCore

/// What is asked for.
struct RequestOptions: ParsableArguments {
  @Option(name: [.customShort("X"), .long], help: ArgumentHelp("The method: GET, or POST with -d.", valueName: "name"))
  var method: String?
  @Option(
    name: [.customShort("H"), .long],
    help: ArgumentHelp("A header field. May be given several times.", valueName: "name: value"))
  var header: [String] = []
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The body; @FILE for the bytes of a file. A form unless a Content-Type is given.", valueName: "text"))
  var data: String?
  @Option(help: ArgumentHelp("How long to wait while nothing comes.", valueName: "seconds")) var timeout: Double = 60

  func validate() throws {
    guard timeout > 0, timeout <= 86_400 else {
      throw ValidationError("--timeout must be a number of seconds, up to a day.")
    }
    if let method, HTTPRequest.Method(method) == nil {
      throw ValidationError("\"\(method)\" cannot be sent as a method.")
    }
  }

  func body() throws -> Data? {
    guard let data else { return nil }
    guard data.hasPrefix("@") else { return Data(data.utf8) }
    let file = String(data.dropFirst())
    do { return try Data(contentsOf: URL(fileURLWithPath: file)) } catch {
      throw ToolFailure(.files, "file.unreadable", "\(file) cannot be read: \((error as NSError).localizedDescription)")
    }
  }

  func request(to url: URL) throws -> URLRequest {
    var request = URLRequest(url: url, timeoutInterval: timeout)
    request.httpMethod = method ?? (data == nil ? "GET" : "POST")
    for (name, value) in try Addresses.fields(header) { request.addValue(value, forHTTPHeaderField: name) }
    if request.value(forHTTPHeaderField: "User-Agent") == nil {
      request.setValue("waylay/0.1.0", forHTTPHeaderField: "User-Agent")
    }
    if data != nil, request.value(forHTTPHeaderField: "Content-Type") == nil {
      request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
    }
    return request
  }
}
