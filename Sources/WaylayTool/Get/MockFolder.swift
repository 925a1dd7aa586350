import Foundation
import WaylayMocks

/// The mocks of a folder, in whichever of the two formats it has.
enum MockFolder {
  static func mock(_ path: String) throws -> MockInterceptor {
    let place = URL(fileURLWithPath: path)
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: place.path, isDirectory: &isFolder) else {
      throw ToolFailure(
        .files, "mocks.missing", "there is no \(path): name a folder of fixtures, or of WireMock's mappings.")
    }
    let isWireMock = !isFolder.boolValue || hasMappings(place)
    let stubs = try isWireMock ? Stub.wireMock(at: place) : Stub.fixtures(in: place)
    return MockInterceptor("mocks") { stubs }
  }

  /// WireMock's own folder, or one of mappings: files that have a `request` or a list of `mappings`.
  private static func hasMappings(_ folder: URL) -> Bool {
    var isFolder: ObjCBool = false
    let inside = folder.appendingPathComponent("mappings")
    if FileManager.default.fileExists(atPath: inside.path, isDirectory: &isFolder), isFolder.boolValue { return true }
    // By its path: by its URL, a file that vanishes meanwhile fails the whole list.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let files = names.filter { !$0.hasPrefix(".") }.map(folder.appendingPathComponent)
    let json = files.filter { $0.pathExtension == "json" && $0.lastPathComponent != "index.json" }
    guard !json.isEmpty, json.count == files.count else { return false }
    return json.allSatisfy { file in
      guard let data = try? Data(contentsOf: file),
        let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
      else {
        return false
      }
      return object["mappings"] is [Any] || object["request"] is [String: Any] && object["response"] is [String: Any]
    }
  }
}
