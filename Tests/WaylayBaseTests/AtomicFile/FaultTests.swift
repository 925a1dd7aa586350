import Foundation
import TestSupport
import Testing
import WaylayBase

@Suite("A call that fails while a file is replaced", .heavy, .timeLimit(.minutes(10)))
struct AtomicFileFaultTests {
  typealias Name = AtomicFile.Calls.Name

  /// The ways to write a file, each with what is there before.
  enum Way: String, CaseIterable {
    case new, existing, link, exclusive, current, pieces

    var hasFile: Bool { self != .new && self != .exclusive }

    func prepare(_ folder: Folder) throws {
      if hasFile { try folder.write("old") }
      if self == .link { symlink("file", folder["link"]) }
    }

    func write(_ folder: Folder, _ calls: AtomicFile.Calls) throws(SystemError) {
      let path = folder[self == .link ? "link" : "file"]
      var writer = try AtomicFile.Writer(path, replaces: self != .exclusive, calls: calls)
      for piece in self == .pieces ? ["n", "e", "w"] : ["new"] { try writer.write(Data(piece.utf8)) }
      try writer.commit(when: self == .current ? { true } : nil)
    }

    /// The call that is made at each place.
    func names() throws -> [Name] {
      let folder = try Folder()
      try prepare(folder)
      let calls = RecordedCalls()
      try write(folder, calls.calls)
      return calls.names
    }
  }

  /// The errors of each call's manual page, those aside that the code gives a meaning (see `meant`).
  private static let errors: [Name: [Int32]] = [
    .readlink: [EACCES, EFAULT, EIO, ELOOP, ENAMETOOLONG, ENOMEM, ENOTDIR],
    .stat: [EACCES, EBADF, EFAULT, ELOOP, ENAMETOOLONG, ENOMEM, ENOTDIR, EOVERFLOW, EIO],
    .open: [
      EACCES, EBUSY, EDQUOT, EFAULT, EFBIG, EINVAL, EISDIR, ELOOP, EMFILE, ENAMETOOLONG, ENFILE, ENODEV, ENOMEM,
      ENOTDIR, ENXIO, EPERM, EROFS, ETXTBSY, EIO,
    ],
    .readdir: [EACCES, EBADF, EMFILE, ENFILE, ENOENT, ENOMEM, ENOTDIR, EIO],
    .create: [
      EACCES, EDQUOT, EEXIST, EFAULT, EINVAL, EMFILE, ENAMETOOLONG, ENFILE, ENOENT, ENOMEM, ENOSPC, EPERM, EROFS, EIO,
    ],
    .flock: [EBADF, EINVAL, ENOLCK, ENOSYS, EOPNOTSUPP, EIO],
    .fchown: [EBADF, EIO, ENOMEM, EPERM, EROFS, EINVAL],
    .acl: [EACCES, EDQUOT, EINVAL, ENOSPC, ENOTSUP, EPERM, ERANGE, E2BIG, EIO],
    .fchmod: [EBADF, EIO, EPERM, EROFS],
    .write: [EBADF, EDESTADDRREQ, EDQUOT, EFAULT, EFBIG, EINVAL, EIO, ENOSPC, EPERM, EPIPE],
    .fsync: [EBADF, EIO, ENOSPC, EROFS, EDQUOT],
    .close: [EBADF, EIO, ENOSPC, EDQUOT],
    .link: [
      EACCES, EBADF, EDQUOT, EEXIST, EFAULT, EIO, ELOOP, EMLINK, ENAMETOOLONG, ENOMEM, ENOSPC, ENOTDIR, EROFS, EXDEV,
    ],
    .rename: [
      EACCES, EBUSY, EDQUOT, EFAULT, EINVAL, EISDIR, ELOOP, EMLINK, ENAMETOOLONG, ENOENT, ENOMEM, ENOSPC, ENOTDIR,
      ENOTEMPTY, EPERM, EROFS, EXDEV, EIO,
    ],
    .unlink: [EACCES, EBUSY, EFAULT, EIO, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOTDIR, EPERM, EROFS],
  ]

  /// Errors that are no failure: nothing is there, it is no link, others have the lock, there are no links or locks.
  private static let meant: [Name: [Int32]] = [
    .readlink: [EINVAL, ENOENT], .stat: [ENOENT], .open: [ENOENT], .flock: [EWOULDBLOCK], .link: [ENOENT, EPERM],
    .fsync: [EINVAL, ENOTSUP],
  ]

  @Test(
    "leaves the old file, and no draft, and says which file, which call and why; or it does no harm",
    arguments: Way.allCases)
  func errors(way: Way) throws {
    for (place, name) in try way.names().enumerated() {
      for code in (Self.errors[name] ?? []) + (Self.meant[name] ?? []) {
        let folder = try Folder()
        try way.prepare(folder)
        let others = way == .link ? ["link"] : []
        let failing = RecordedCalls { $1.count == place ? code : 0 }
        let what: Comment = "\(name) at \(place): \(String(cString: strerror(code)))"
        do {
          try way.write(folder, failing.calls)
          #expect(folder.text() == "new", what)
          #expect(!Self.mustFail(name, code, way), what)
        } catch {
          #expect(folder.text() == (way.hasFile ? "old" : nil), what)
          // A file that was there a moment ago is not the one that was meant: a later call fails.
          let isMeant = Self.meant[name]?.contains(code) == true
          #expect((isMeant || error.call == name.rawValue) && error.description.contains(folder.path), what)
          let told = isMeant ? error.code : code
          #expect(error.code == told && error.description.hasSuffix(String(cString: strerror(told))), what)
        }
        let isLeft = name == .unlink
        if !isLeft { #expect(folder.names == (folder.text() == nil ? [] : ["file"]) + others, what) }
        // Whatever is left, the next one removes, and is not in its way; unless a child that another test starts holds the
        // lock of the draft until its exec.
        try folder.replace(with: "next")
        for _ in 0..<100 where folder.names != ["file"] + others { try folder.replace(with: "next") }
        #expect(folder.text() == "next" && folder.names == ["file"] + others, what)
      }
    }
  }

  /// A full disk and a broken one are no success, wherever they are met.
  private static func mustFail(_ name: Name, _ code: Int32, _ way: Way) -> Bool {
    guard [ENOSPC, EDQUOT, EIO].contains(code) else { return false }
    switch name {
    case .readdir, .flock, .unlink: return false
    // Only a new file is put in place by it.
    case .link: return way == .exclusive
    default: return true
    }
  }

  @Test("by a signal is made again", arguments: Way.allCases)
  func interrupted(way: Way) throws {
    let folder = try Folder()
    try way.prepare(folder)
    let calls = RecordedCalls { _, before in before.count % 2 == 0 ? EINTR : 0 }
    try way.write(folder, calls.calls)
    let count = try way.names().count
    #expect(folder.text() == "new" && calls.names.count == 2 * count)
  }

  @Test("each time it is made leaves the old file", arguments: Name.allCases)
  func always(name: Name) throws {
    let folder = try Folder()
    try folder.write("old")
    do {
      try folder.replace(with: "new", calls: AtomicFile.Calls { $0 == name ? EIO : 0 })
      #expect([.readdir, .flock, .fchown, .link, .unlink].contains(name) && folder.text() == "new")
    } catch { #expect(folder.text() == "old") }
    if name != .unlink { #expect(folder.names == ["file"]) }
  }

  @Test("because a file must not be larger is an error, after as much as fits", .exitTest)
  func limit() async throws {
    let folder = try Folder()
    try folder.write("old")
    await #expect(processExitsWith: .success) { [path = folder["file"] as String] in
      Process.limit()
      Process.limitingFiles(toBytes: 100_000) {
        #expect(throws: SystemError("write", path, code: EFBIG)) {
          try AtomicFile.replace(path, with: Data(repeating: 0, count: 1 << 20))
        }
      }
    }
    #expect(folder.text() == "old" && folder.names == ["file"])
  }
}
