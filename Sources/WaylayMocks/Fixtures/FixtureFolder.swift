import Foundation

/// Reads a folder whose files are named by their requests.
struct FixtureFolder {
  private let folder: URL
  private let origin: String
  private let location: MockSourceLocation
  private let problems: FixtureProblems

  private struct File {
    let url: URL
    /// The way from the folder, for messages.
    let place: String
    let name: FixtureName
  }

  init(_ folder: URL, origin: String?, _ location: MockSourceLocation, _ problems: FixtureProblems) {
    self.folder = folder
    self.origin = origin.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? ""
    self.location = location
    self.problems = problems
  }

  func stubs() -> [Stub] {
    var places: [String: String] = [:]
    return files(in: folder, [])
      // Of stubs that fit, the later is asked first: so the exact ones come last.
      .sorted {
        ($1.name.wildcards, $0.name.hasQuery ? 1 : 0, $0.place) < (
          $0.name.wildcards, $1.name.hasQuery ? 1 : 0, $1.place
        )
      }
      .compactMap { file -> Stub? in
        let key = "\(file.name.method?.rawValue ?? "ANY") \(file.name.pattern)"
        if let other = places.updateValue(file.place, forKey: key) {
          problems.note(file.place, "\(key) is also answered by \(other): remove one, or write an index.json.")
          return nil
        }
        let pattern = RequestPattern(file.name.method, origin + file.name.pattern)
        for problem in pattern.problems { problems.note(file.place, problem.message) }
        return Stub(pattern, responses: [Self.response(file)], at: location).optional
      }
  }

  private func files(in folder: URL, _ folders: [String]) -> [File] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    } catch {
      problems.note(folder.path, "the folder cannot be read: check its path.")
      return []
    }
    return names.sorted().flatMap { name -> [File] in
      if name.hasPrefix(".") || name.uppercased().hasPrefix("README") { return [] }
      let url = folder.appendingPathComponent(name)
      var isDirectory: ObjCBool = false
      if FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory), isDirectory.boolValue {
        return files(in: url, folders + [name])
      }
      let place = (folders + [name]).joined(separator: "/")
      do throws(FixtureName.Failure) {
        return [File(url: url, place: place, name: try FixtureName(name, folders: folders))]
      } catch {
        problems.note(place, error.message)
        return []
      }
    }
  }

  private static func response(_ file: File) -> MockResponse {
    switch file.name.pathExtension {
    case "": .status(file.name.status)
    case "http": .raw(contentsOf: file.url)
    default: .file(file.url, status: file.name.status)
    }
  }
}
