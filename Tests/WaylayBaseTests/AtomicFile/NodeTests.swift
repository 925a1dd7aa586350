import Foundation
import TestSupport
import Testing
import WaylayBase

@Suite("What a path leads to", .timeLimit(.minutes(10)))
struct AtomicFileNodeTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  private func code(_ name: String, _ text: String = "new") -> Int32 {
    do {
      try folder.replace(name, with: text)
      return 0
    } catch { return error.code }
  }

  @Test("is replaced behind symbolic links, which stay")
  func links() throws {
    try folder.write("old")
    mkdir(folder["sub"], 0o700)
    symlink("../file", folder["sub/first"])
    symlink(folder["sub"] + "//first", folder["second"])
    symlink("./sub/../second", folder["third"])
    try folder.replace("third", with: "new")
    #expect(folder.text() == "new" && folder.names == ["file", "second", "sub", "third"])
    for name in ["second", "third", "sub/first"] { #expect(folder.status(name).st_mode & S_IFMT == S_IFLNK) }
    // One that leads to nothing yet.
    symlink("sub/made", folder["dangling"])
    try folder.replace("dangling", with: "new")
    #expect(folder.text("sub/made") == "new" && folder.status("dangling").st_mode & S_IFMT == S_IFLNK)
    symlink("none/made", folder["astray"])
    #expect(code("astray") == ENOENT)
    symlink("loop", folder["pool"])
    symlink("pool", folder["loop"])
    symlink("itself", folder["itself"])
    #expect(code("loop") == ELOOP && code("itself") == ELOOP && code("itself/file") == ELOOP)
  }

  @Test("is no file when it is a folder, a socket, or no path")
  func refused() throws {
    mkdir(folder["sub"], 0o700)
    try folder.write("old")
    for name in ["sub", "sub/", "sub/.", "sub/..", ""] { #expect(code(name) == EISDIR, "\(name)") }
    #expect(code("none/file") == ENOENT && code("file/file") == ENOTDIR)
    #expect(code(String(repeating: "n", count: 256)) == ENAMETOOLONG && code("file\0.txt") == EINVAL)
    let socket = Folder.socket(folder["socket"])
    defer { close(socket) }
    #expect([ENXIO, EOPNOTSUPP].contains(code("socket")))
    // The longest name there is.
    #expect(code(String(repeating: "n", count: 255)) == 0)
    #expect(throws: SystemError("open", "", code: ENOENT)) { try AtomicFile.replace("", with: Data()) }
  }

  @Test("is written into when it is a pipe with a name, an open descriptor or a device, and stays that")
  func streams() throws {
    let text = String(repeating: "0123456789", count: 50_000)
    #expect(mkfifo(folder["pipe"], 0o600) == 0)
    symlink("pipe", folder["link"])
    for name in ["pipe", "link"] {
      let reader = Reader(path: folder["pipe"])
      try folder.replace(name, with: text)
      #expect(reader.text() == text)
    }
    #expect(folder.status("pipe").st_mode & S_IFMT == S_IFIFO && folder.names == ["link", "pipe"])
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    // A full pipe makes one wait.
    #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
    let reader = Reader(descriptor: ends[0])
    for folder in ["/dev/fd", "/proc/self/fd"] where FileManager.default.fileExists(atPath: folder) {
      var writer = try AtomicFile.Writer("\(folder)/\(ends[1])", replaces: false)
      try writer.write(Data(text.utf8))
      try writer.commit()
    }
    close(ends[1])
    #expect(reader.text() == (FileManager.default.fileExists(atPath: "/proc/self/fd") ? text + text : text))
    #expect(throws: SystemError("open", "/dev/fd/9999", code: EBADF)) {
      try AtomicFile.replace("/dev/fd/9999", with: Data())
    }
    // Root could replace the system's own.
    var status = stat()
    #expect(stat("/dev/null", &status) == 0)
    let null = mknod(folder["null"], S_IFCHR | 0o600, status.st_rdev) == 0 ? folder["null"] : "/dev/null"
    try AtomicFile.replace(null, with: Data(text.utf8))
    #expect(stat(null, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    if FileManager.default.fileExists(atPath: "/dev/full") {
      #expect(throws: SystemError("write", "/dev/full", code: ENOSPC)) {
        try AtomicFile.replace("/dev/full", with: Data(text.utf8))
      }
    }
  }

  @Test("keeps its mode, never more than the caller's, and loses the bits that run it as another")
  func modes() throws {
    for (old, mode, new) in [
      (0o640, 0o666, "640"), (0o644, 0o600, "600"), (0o600, 0o666, "600"), (0o666, 0o666, "666"),
      (0o2664, 0o666, "664"), (0o755, 0o777, "755"), (0o200, 0o600, "200"),
    ] as [(mode_t, mode_t, String)] {
      try folder.write("old", mode: old)
      var writer = try AtomicFile.Writer(folder["file"], mode: mode)
      try writer.write(Data("new".utf8))
      for draft in folder.names where draft != "file" {
        #expect(folder.status(draft).st_mode & 0o777 & ~old & ~0o600 == 0)
      }
      try writer.commit()
      #expect(folder.mode() == new && folder.names == ["file"])
    }
    // A mode that changes while it is written counts, too.
    try folder.write("old", mode: 0o666)
    var writer = try AtomicFile.Writer(folder["file"], mode: 0o666)
    try writer.write(Data("new".utf8))
    #expect(chmod(folder["file"], 0o600) == 0)
    try writer.commit()
    #expect(folder.text() == "new" && folder.mode() == "600")
  }

  @Test("keeps its owner and its group", .enabled(if: isRoot, needsRoot))
  func owners() throws {
    try folder.write("old", mode: 0o640)
    #expect(chown(folder["file"], 12345, 23456) == 0)
    // The group of a folder with this bit is that of what is made in it.
    #expect(chown(folder.path, 0, 3456) == 0 && chmod(folder.path, 0o2755) == 0)
    try folder.replace(with: "new", mode: 0o666)
    #expect(folder.status().st_uid == 12345 && folder.status().st_gid == 23456 && folder.mode() == "640")
    try folder.replace("other", with: "new")
    #expect(folder.status("other").st_gid == 3456)
  }

  @Test(
    "a link that another user has put into a folder such as /tmp is not followed", .enabled(if: isRoot, needsRoot),
    arguments: [0o1777, 0o777, 0o1775] as [mode_t])
  func plantedLink(mode: mode_t) throws {
    try folder.write("old", to: "secret")
    #expect(symlink(folder["secret"], folder["file"]) == 0 && lchown(folder["file"], 65534, 65534) == 0)
    #expect(chmod(folder.path, mode) == 0)
    guard mode == 0o1777 else { return try folder.replace(with: "new") }
    let refused = SystemError("open", folder["file"], code: EACCES)
    #expect(throws: refused) { try folder.replace(with: "new") }
    #expect(folder.text("secret") == "old")
    // The owner of the folder may.
    #expect(chown(folder.path, 65534, 65534) == 0)
    try folder.replace(with: "new")
    #expect(folder.text("secret") == "new")
  }

  @Test(
    "is not replaced by one who could not give it back its owner, or may not write it, or its folder", .exitTest,
    .enabled(if: isRoot, needsRoot))
  func foreign() async throws {
    try folder.write("old", mode: 0o666)
    #expect(chmod(folder.path, 0o777) == 0)
    try folder.write("old", to: "mine", mode: 0o400)
    mkdir(folder["sub"], 0o755)
    try folder.write("old", to: "sub/mine", mode: 0o600)
    for name in ["mine", "sub/mine"] { #expect(chown(folder[name], 65534, 65534) == 0) }
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      Process.limit()
      becomeNobody()
      for (name, call, code) in [
        ("file", "fchown", EPERM), ("mine", "open", EACCES), ("sub/mine", "create", EACCES),
        ("sub/new", "create", EACCES),
      ] {
        #expect(throws: SystemError(call, "\(path)/\(name)", code: code)) {
          try AtomicFile.replace("\(path)/\(name)", with: Data("new".utf8))
        }
      }
    }
    for name in ["file", "mine", "sub/mine"] { #expect(folder.text(name) == "old") }
    #expect(folder.names == ["file", "mine", "sub"])
  }

  @Test(
    "keeps its access control list, and gets none of its folder's",
    .enabled(if: AccessList.isSupported, "no lists here"))
  func accessLists() throws {
    try folder.write("old", mode: 0o640)
    let list = AccessList(user: 12345)
    list.set(folder["file"])
    let old = (AccessList(of: folder["file"]), folder.mode())
    #expect(old.0 == list)
    try folder.replace(with: "new", mode: 0o666)
    #expect(folder.text() == "new" && AccessList(of: folder["file"]) == list && folder.mode() == old.1)
    // What a list allows is nothing for one who asks for a file of the owner's alone.
    try folder.replace(with: "new", mode: 0o600)
    #expect(folder.mode() == "600")
    try folder.write("old", to: "plain", mode: 0o640)
    AccessList(user: 23456).setDefault(folder.path)
    try folder.replace("plain", with: "new", mode: 0o666)
    #expect(AccessList(of: folder["plain"]) == nil && folder.mode("plain") == "640")
  }

  @Test("loses its other names, which keep the old contents")
  func hardLinks() throws {
    try folder.write("old")
    #expect(link(folder["file"], folder["other"]) == 0)
    try folder.replace(with: "new")
    #expect(folder.text() == "new" && folder.text("other") == "old" && folder.status("other").st_nlink == 1)
  }
}

/// Reads from a descriptor to its end, on a thread of its own.
private final class Reader: Sendable {
  private let contents = Locked(Data())
  private let end = DispatchSemaphore(value: 0)

  convenience init(path: String) { self.init { open(path, O_RDONLY | O_CLOEXEC) } }

  convenience init(descriptor: Int32) { self.init { descriptor } }

  private init(_ open: @escaping @Sendable () -> Int32) {
    Thread.detachNewThread { [contents, end] in
      let data = try? FileHandle(fileDescriptor: open(), closeOnDealloc: true).readToEnd()
      contents.withLock { $0 = data ?? Data() }
      end.signal()
    }
  }

  func text() -> String {
    end.wait()
    return contents.withLock { String(decoding: $0, as: UTF8.self) }
  }
}
