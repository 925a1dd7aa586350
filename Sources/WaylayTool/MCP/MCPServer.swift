#if CommandLineTool
  import ArgumentParser
  import Foundation
  import WaylayHAR

  /// Serves the Model Context Protocol over standard input and output: JSON-RPC 2.0, one message a line.
  struct MCPServer {
    /// The revisions that `initialize` negotiates, the preferred one first.
    private static let revisions = ["2025-11-25", "2025-06-18"]
    /// The revision that needs no handshake: each request names it.
    private static let stateless = "2026-07-28"
    /// The maximum number of bytes of a message.
    private static let limit = 4 << 20

    let tools: MCPTools

    /// Serves until the input ends.
    func run() async throws {
      while let line = Self.line() {
        guard !line.allSatisfy({ $0.isBlank || $0 == UInt8(ascii: "\r") }) else { continue }
        if let response = await respond(to: line) { try Output.write(Data((response.description + "\n").utf8)) }
      }
    }

    /// The next line of the input, as far as it may be read; `nil` at the end.
    private static func line() -> Data? {
      var line = Data()
      while case let byte = getchar_unlocked(), byte != UInt8(ascii: "\n") {
        guard byte != EOF else { return line.isEmpty ? nil : line }
        if line.count <= limit { line.append(UInt8(truncatingIfNeeded: byte)) }
      }
      return line
    }

    /// An error of JSON-RPC, section 5.1.
    private struct Failure: Error {
      let code: Int
      let message: String
      var data: JSONValue?
    }

    /// The response to a line; `nil` for a notification, and for a response.
    private func respond(to line: Data) async -> JSONValue? {
      var id: JSONValue?
      do throws(Failure) {
        guard line.count <= Self.limit else {
          throw Failure(code: -32600, message: "A message has at most \(Self.limit) bytes.")
        }
        guard let message = try? JSONValue(reading: line) else {
          throw Failure(code: -32700, message: "The line is not JSON.")
        }
        let (given, method, parameters) = (message["id"], message["method"], message["params"] ?? [:])
        if given?.string != nil || given?.double != nil { id = given }
        if method == nil, message["result"] != nil || message["error"] != nil { return nil }
        guard message["jsonrpc"] == "2.0", let method = method?.string, parameters.members != nil,
          (given == nil) == (id == nil)
        else {
          throw Failure(
            code: -32600,
            message:
              "A message is an object with jsonrpc: \"2.0\", method, params, if any, and an id: a text or a number.")
        }
        guard let id else { return nil }
        return ["jsonrpc": "2.0", "id": id, "result": JSONValue(try await result(of: method, parameters))]
      } catch {
        var members: [String: JSONValue] = ["code": JSONValue(error.code), "message": JSONValue(error.message)]
        members["data"] = error.data
        return ["jsonrpc": "2.0", "id": id ?? nil, "error": JSONValue(members)]
      }
    }

    private func result(of method: String, _ parameters: JSONValue) async throws(Failure) -> [String: JSONValue] {
      let (key, meta) = ("io.modelcontextprotocol/", parameters["_meta"])
      let all = JSONValue([Self.stateless] + Self.revisions)
      let revision = meta?[key + "protocolVersion"]
      let isStateless = revision != nil || method == "server/discover"
      if isStateless {
        guard let revision = revision?.string, meta?[key + "clientCapabilities"]?.members != nil else {
          throw Failure(code: -32602, message: "_meta needs \(key)protocolVersion and clientCapabilities.")
        }
        guard revision == Self.stateless else {
          throw Failure(
            code: -32022, message: "The revision is not supported.",
            data: ["supported": all, "requested": JSONValue(revision)])
        }
      }
      var result: [String: JSONValue]
      switch method {
      case "server/discover":
        result = Self.identity
        result["_meta"] = [key + "serverInfo": result["serverInfo"] ?? nil]
        result["supportedVersions"] = all
      case "initialize" where !isStateless:
        guard let revision = parameters["protocolVersion"]?.string else {
          throw Failure(code: -32602, message: "initialize needs protocolVersion.")
        }
        result = Self.identity
        result["protocolVersion"] = JSONValue(Self.revisions.contains(revision) ? revision : Self.revisions[0])
      case "ping" where !isStateless: result = [:]
      case "tools/list" where parameters["cursor"] == nil: result = ["tools": JSONValue(tools.all.map(\.json))]
      case "tools/list", "tools/call":
        guard let tool = tools.all.first(where: { JSONValue($0.name) == parameters["name"] }),
          let arguments = (parameters["arguments"] ?? [:]).object
        else {
          throw Failure(
            code: -32602, message: "This needs the name of a tool and an object of arguments, or no cursor.")
        }
        result = await tools.call(tool, arguments)
      default: throw Failure(code: -32601, message: "There is no such method.")
      }
      if isStateless {
        if method != "tools/call" { (result["ttlMs"], result["cacheScope"]) = (0, "private") }
        result["resultType"] = "complete"
      }
      return result
    }

    /// The name and the capabilities of this server.
    private static var identity: [String: JSONValue] {
      [
        "capabilities": ["tools": [:]], "instructions": JSONValue(MCPTools.instructions),
        "serverInfo": ["name": "waylay", "version": JSONValue(WaylayCommand.configuration.version)],
      ]
    }
  }
#endif
