import Foundation
import Testing
import WaylayBase

/// A folder for files that are replaced, which is removed with the value.
final class Folder: Sendable {
  let path = FileManager.default.temporaryDirectory.path + "/waylay-atomic-\(UUID().uuidString)"

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    chmod(path, 0o700)
    try? FileManager.default.removeItem(atPath: path)
  }

  subscript(name: String) -> String { "\(path)/\(name)" }

  /// Everything in the folder, drafts too.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  /// The contents of a file, if it exists.
  func text(_ name: String = "file") -> String? {
    FileManager.default.contents(atPath: self[name]).map { String(decoding: $0, as: UTF8.self) }
  }

  func write(_ text: String, to name: String = "file", mode: mode_t = 0o600) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: self[name]))
    #expect(chmod(self[name], mode) == 0)
  }

  func replace(
    _ name: String = "file", with text: String, mode: mode_t = 0o600, calls: AtomicFile.Calls = AtomicFile.Calls()
  ) throws(SystemError) {
    try AtomicFile.replace(self[name], with: Data(text.utf8), mode: mode, calls: calls)
  }

  /// What the system says of a name, without following it.
  func status(_ name: String = "file") -> stat {
    var status = stat()
    #expect(lstat(self[name], &status) == 0)
    return status
  }

  /// The permissions of a name in octal digits.
  func mode(_ name: String = "file") -> String { String(status(name).st_mode & 0o7777, radix: 8) }
}

/// Gives up the rights of root, in the child of an exit test: it then is in no group.
func becomeNobody() {
  guard geteuid() == 0 else { return }
  guard setgroups(0, nil) == 0, setgid(65534) == 0, setuid(65534) == 0 else { abort() }
}

/// Whether the tests may give files to others.
let isRoot = geteuid() == 0
let needsRoot: Comment = "only root gives files away"

/// The calls of a write, as they are made. A closure is given the name of each and those before it, and fails it by an
/// error other than 0.
struct RecordedCalls {
  private let made = Locked<[AtomicFile.Calls.Name]>([])
  private let fault: @Sendable (AtomicFile.Calls.Name, [AtomicFile.Calls.Name]) -> Int32

  init(_ fault: @escaping @Sendable (AtomicFile.Calls.Name, [AtomicFile.Calls.Name]) -> Int32 = { _, _ in 0 }) {
    self.fault = fault
  }

  var names: [AtomicFile.Calls.Name] { made.withLock { $0 } }

  var calls: AtomicFile.Calls {
    AtomicFile.Calls { [made, fault] name in
      let before = made.withLock { made in
        defer { made.append(name) }
        return made
      }
      return fault(name, before)
    }
  }
}
