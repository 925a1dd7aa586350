public import Foundation
import HTTPTypes

extension MockResponse {
  /// A response with the contents of a file, read on demand.
  ///
  /// - Parameters:
  ///   - url: The file. If it does not exist when a request arrives, the load fails with
  ///     ``MockError/Code/unreadableFile``.
  ///   - type: The value of `Content-Type`; by default derived from common file extensions.
  ///   - status: The status.
  public static func file(_ url: URL, type: String? = nil, status: Int = 200) -> MockResponse {
    let fileType = type ?? MediaType.of(pathExtension: url.pathExtension)
    // The length is looked up for each request: a test may write the file later.
    let response = MockResponse(.message(Message(body: .file(url)))).status(status)
    return fileType.map { response.header("Content-Type", $0) } ?? response
  }

  /// A response with a resource of a bundle, read on demand.
  ///
  /// ```swift
  /// Stub(.get, "/users") { .resource("users", withExtension: "json", in: .module) }
  /// ```
  ///
  /// A resource that the bundle does not contain fails the load with ``MockError/Code/unreadableFile``.
  public static func resource(
    _ name: String, withExtension pathExtension: String? = nil, subdirectory: String? = nil, in bundle: Bundle,
    status: Int = 200
  ) -> MockResponse {
    guard let url = bundle.url(forResource: name, withExtension: pathExtension, subdirectory: subdirectory) else {
      let file = [subdirectory.map { $0 + "/" } ?? "", name, pathExtension.map { "." + $0 } ?? ""].joined()
      return .broken(
        MockError(
          .unreadableFile,
          "the bundle at \(bundle.bundlePath) has no resource \(file): list it under resources: of its target in "
            + "Package.swift."
        ))
    }
    return .file(url, status: status)
  }
}

extension MessageBody {
  /// A file that can be read now.
  static func existing(_ file: URL) throws -> MessageBody {
    var isDirectory: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory)
    guard exists, !isDirectory.boolValue, FileManager.default.isReadableFile(atPath: file.path) else {
      let reason = !exists ? "does not exist" : isDirectory.boolValue ? "is a folder" : "cannot be read"
      throw MockError(.unreadableFile, "the file \(file.path) of a response \(reason): check its path.")
    }
    return .file(file)
  }
}
