import Foundation
import HTTPTypes

extension MockResponse {
  /// The response of the rest of the chain, ultimately from the network, for you to change on its way back.
  ///
  /// ```swift
  /// Stub(.get, "/me", .passThrough.mergingJSON(["plan": "premium"]).field("X-Patched", "1"))
  /// Stub(.get, "/health", .passThrough.status(503))
  /// ```
  ///
  /// Without changes, the request passes through.
  public static var passThrough: MockResponse { MockResponse(content: .passThrough) }

  var passesThrough: Bool { if case .passThrough = content { true } else { false } }

  /// The same response with its JSON changed by a merge patch (RFC 7396): members of the patch replace those of the
  /// response, and `null` removes a member.
  ///
  /// - Parameters:
  ///   - patch: The patch, encoded as JSON. A `nil` optional becomes `null` in a dictionary, and is omitted from most
  ///     structs.
  ///   - limit: The maximum number of response bytes to collect; 16 MiB by default.
  /// - Returns: A response that fails with `MockError.invalidJSON` if the original is not JSON.
  public func mergingJSON(_ patch: some Encodable, upTo limit: Int = 16 << 20) -> MockResponse {
    do {
      return merging(try JSONValue(reading: JSONEncoder.sorted.encode(patch)), limit)
    } catch {
      return noting(.invalidJSON, "a merge patch cannot be encoded as JSON: \(error.redacted)", underlying: error)
    }
  }

  /// The same response with its JSON changed by a merge patch written as literals.
  ///
  /// ```swift
  /// .passThrough.mergingJSON(["name": "Ada", "age": 36, "address": nil])
  /// ```
  public func mergingJSON(_ patch: JSONValue, upTo limit: Int = 16 << 20) -> MockResponse {
    merging(patch, limit)
  }

  /// The same response with its JSON changed by a merge patch that has variables in it.
  @_disfavoredOverload
  public func mergingJSON(_ patch: JSONLiteral, upTo limit: Int = 16 << 20) -> MockResponse {
    merging(patch.jsonValue, limit)
  }

  /// The same response with its JSON changed by a merge patch written as text.
  ///
  /// ```swift
  /// .passThrough.mergingJSON(parsing: #"{"name": "Ada", "address": null}"#)
  /// ```
  public func mergingJSON(parsing text: String, upTo limit: Int = 16 << 20) -> MockResponse {
    do {
      return merging(try JSONValue(reading: text.utf8), limit)
    } catch {
      return noting(.invalidJSON, "the text of a merge patch is not JSON: \(error)", underlying: error)
    }
  }

  /// The same response after a change that can inspect everything, including the request.
  ///
  /// ```swift
  /// .passThrough.changed { response, _ in
  ///   var response = response
  ///   response.fields[.age] = "0"
  ///   return response
  /// }
  /// ```
  public func changed(
    _ change: @escaping @Sendable (InterceptedResponse, MockRequest) async throws -> InterceptedResponse
  ) -> MockResponse {
    with { $0.edits.append(.response(change)) }
  }

  private func merging(_ patch: JSONValue, _ limit: Int) -> MockResponse {
    changed { response, _ in
      let body = try await response.body.collect(upTo: limit)
      let original: JSONValue
      do {
        original = try JSONValue(reading: body)
      } catch {
        throw MockError(
          .invalidJSON,
          "the response from \(response.url.redacted) is not JSON, so nothing can be merged into it: \(error)",
          underlying: error)
      }
      var merged = response
      let text = Data(original.merging(patch).description.utf8)
      merged.body = .data(text)
      // Fields about the original bytes no longer apply (RFC 9110, section 8).
      merged.fields.removeAll { Self.fieldsOfBytes.contains($0.name.canonicalName) }
      merged.fields.append(HTTPField(name: .contentLength, value: String(text.count)))
      return merged
    }
  }

  /// Fields that describe the exact bytes of a body.
  private static let fieldsOfBytes: Set<String> = [
    "content-digest", "content-encoding", "content-length", "content-md5", "content-range", "digest", "etag",
    "repr-digest",
    "transfer-encoding",
  ]
}
