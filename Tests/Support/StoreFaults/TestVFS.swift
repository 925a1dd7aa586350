import CTestVFS
import Foundation
package import WaylayArchive
import WaylayCore

/// SQLite's files on the disk that a store's other files are on, which may fail or lose its power: a VFS of its own name,
/// with which a test's store opens its connections.
///
/// Locks and shared memory are its own: all connections to a file have to be opened with one VFS, and a file keeps its
/// path.
package final class TestVFS: Sendable {
  /// The name to open connections with.
  package let name = "test-\(UUID().uuidString)"
  private let box: Box

  private final class Box: Sendable {
    let system: any SystemCalls

    init(_ system: any SystemCalls) { self.system = system }

    func begin(_ call: FailingSystem.Call) -> Int32 {
      TestVFS.code { () throws(SystemError) in
        try (system as? FailingSystem)?.begin(call)
        return 0
      }
    }
  }

  /// `nil` where there is no SQLite.
  package init?(_ system: any SystemCalls) {
    box = Box(system)
    var disk = test_vfs_disk()
    disk.context = Unmanaged.passUnretained(box).toOpaque()
    disk.open = { context, path, flags in
      TestVFS.call(context, path) { system, path throws(SystemError) in
        try system.open(path, in: type(of: system).workingDirectory, flags: flags | O_CLOEXEC, mode: 0o600)
      }
    }
    disk.close = { context, file in TestVFS.system(context).close(file) }
    disk.read = { context, file, bytes, count, offset in
      TestVFS.code { () throws(SystemError) in
        let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))
        return Int64(try TestVFS.system(context).read(file, into: buffer, at: offset))
      }
    }
    disk.write = { context, file, bytes, count, offset in
      TestVFS.code { () throws(SystemError) in
        let buffer = UnsafeRawBufferPointer(start: bytes, count: Int(count))
        return Int64(try TestVFS.system(context).write(file, buffer, at: offset))
      }
    }
    disk.truncate = { context, file, length in
      TestVFS.code { () throws(SystemError) in
        try (TestVFS.system(context) as? any DiskCalls)?.truncate(file, to: length)
        return 0
      }
    }
    disk.synchronize = { context, file in
      TestVFS.code { () throws(SystemError) in
        try TestVFS.system(context).synchronize(file, isDirectory: false)
        return 0
      }
    }
    disk.synchronize_folder = { context, path in
      TestVFS.call(context, path) { system, path throws(SystemError) in
        let above = (path as NSString).deletingLastPathComponent
        let (place, flags) = (type(of: system).workingDirectory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // SQLite's own VFS goes on without a folder that does not open.
        guard let folder = try? system.open(above, in: place, flags: flags, mode: 0) else { return 0 }
        defer { system.close(folder) }
        try system.synchronize(folder, isDirectory: true)
        return 0
      }
    }
    disk.size = { context, file in
      TestVFS.code { () throws(SystemError) in try TestVFS.system(context).status(of: file).size }
    }
    disk.status = { context, path in
      TestVFS.call(context, path) { system, path throws(SystemError) in
        try system.status(of: path, in: type(of: system).workingDirectory, followingLinks: true).size
      }
    }
    disk.remove = { context, path in
      TestVFS.call(context, path) { system, path throws(SystemError) in
        try system.remove(path, in: type(of: system).workingDirectory)
        return 0
      }
    }
    disk.lock = { TestVFS.box($0).begin(.lock) }
    disk.shared_memory = { TestVFS.box($0).begin(.sharedMemory) }
    guard test_vfs_register(name, &disk) != 0 else { return nil }
  }

  private static let kept = Locked<[TestVFS]>([])

  /// The name of a VFS that stays until the process ends.
  package static func name(for system: any SystemCalls) -> String? {
    guard let vfs = TestVFS(system) else { return nil }
    kept.withLock { $0.append(vfs) }
    return vfs.name
  }

  deinit {
    // Whoever has a file open calls on.
    if test_vfs_unregister(name) > 0 { _ = Unmanaged.passRetained(box) }
  }

  private static func box(_ context: UnsafeMutableRawPointer?) -> Box {
    guard let context else { preconditionFailure("a VFS without its disk") }
    return Unmanaged<Box>.fromOpaque(context).takeUnretainedValue()
  }

  private static func system(_ context: UnsafeMutableRawPointer?) -> any SystemCalls { box(context).system }

  private static func code<Number: SignedInteger>(_ call: () throws(SystemError) -> Number) -> Number {
    do throws(SystemError) { return try call() } catch { return Number(-error.code) }
  }

  private static func call<Number: SignedInteger>(
    _ context: UnsafeMutableRawPointer?, _ path: UnsafePointer<CChar>?,
    _ call: (any SystemCalls, String) throws(SystemError) -> Number
  ) -> Number {
    guard let path else { return Number(-EINVAL) }
    return code { () throws(SystemError) in try call(system(context), String(cString: path)) }
  }
}
