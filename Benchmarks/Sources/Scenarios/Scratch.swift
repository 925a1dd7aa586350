import Foundation

/// Folders for what scenarios put on the disk, removed when the process ends.
enum Scratch {
  private static let root: URL = {
    atexit { Scratch.remove() }
    return FileManager.default.temporaryDirectory.appendingPathComponent("waylay-ratios-\(UUID().uuidString)")
  }()

  static func folder() -> URL {
    root.appendingPathComponent(UUID().uuidString)
  }

  private static func remove() {
    try? FileManager.default.removeItem(at: root)
  }
}
