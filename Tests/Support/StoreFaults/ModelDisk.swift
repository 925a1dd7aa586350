import Foundation
package import WaylayArchive
import WaylayCore

/// The calls of a disk that has SQLite's files, too.
package protocol DiskCalls: SystemCalls {
  func truncate(_ file: Int32, to length: Int64) throws(SystemError)
}

/// A disk in memory that knows what of it a loss of power would leave.
///
/// What was written and not synchronized may be lost, in any part and in any order: a file's bytes by their pages, of
/// which each version since may be there, or sectors of one; its length; the names in a directory. A name that was
/// synchronized leads to its file, though not to what had not been synchronized of that.
package final class ModelDisk: DiskCalls {
  /// A file or a directory.
  fileprivate struct Node {
    var isDirectory: Bool
    var mode: UInt32
    var bytes: [UInt8] = []
    var names: [String: Int] = [:]
    var changed: Int64 = 0
    var opened = 0
    /// What a loss of power leaves at least.
    var safeBytes: [UInt8] = []
    var safeNames: [String: Int] = [:]
    /// Whether what is written is still on its way to the disk; a write that failed is not.
    var isDirty = false
    /// Which of the pages were changed since, with all that was in them, and the names.
    var dirtyPages: [Int: [[UInt8]]] = [:]
    var dirtyNames: Set<String> = []
    /// The pages whose synchronization failed: a later one says nothing of them.
    var lostPages: [Int: [[UInt8]]] = [:]

    /// What is now in a page.
    func page(_ number: Int) -> [UInt8] {
      Array(bytes[number * ModelDisk.page..<min((number + 1) * ModelDisk.page, bytes.count)])
    }

    mutating func truncate(to length: Int) {
      guard length < bytes.count else {
        bytes += [UInt8](repeating: 0, count: length - bytes.count)
        return
      }
      bytes.removeLast(bytes.count - length)
      dirtyPages = dirtyPages.filter { $0.key * ModelDisk.page < length }
      lostPages = lostPages.filter { $0.key * ModelDisk.page < length }
    }

    /// All that was written is on the disk, except for what it refused.
    mutating func synchronize() {
      var safe = bytes
      for number in lostPages.keys where number * ModelDisk.page < bytes.count {
        let start = number * ModelDisk.page
        let old = safeBytes.dropFirst(start).prefix(page(number).count)
        let rest = [UInt8](repeating: 0, count: page(number).count - old.count)
        safe.replaceSubrange(start..<start + old.count + rest.count, with: old + rest)
      }
      safeBytes = safe
      safeNames = names
      dirtyPages = [:]
      dirtyNames = []
      isDirty = false
    }
  }

  fileprivate struct State {
    var nodes: [Int: Node] = [:]
    var lastNode = 1
    var files: [Int32: Int] = [:]
    var lastFile: Int32 = 1000
    /// The node that each lock is of, by the open file that has it.
    var locks: [Int: Int32] = [:]
    var clock: Int64 = 1
  }

  private static let page = 4096
  private static let sector = 512
  /// Tells disks apart, as a process with several of them can.
  private static let devices = Locked<UInt64>(1 << 40)

  fileprivate let state: Locked<State>
  private let device = devices.withLock { number in
    number += 1
    return number
  }

  package init() {
    var state = State()
    state.nodes[1] = Node(isDirectory: true, mode: 0o755)
    self.state = Locked(state)
  }

  private init(_ state: State) {
    self.state = Locked(state)
  }

  /// How many files are open.
  package var openFiles: Int { state.withLock { $0.files.count } }

  /// The files that have one of some sequences of bytes.
  package func remains(of sequences: Set<Data>) -> [String] {
    state.withLock { state in
      func files(_ number: Int, _ path: String) -> [String] {
        guard let node = state.nodes[number] else { return [] }
        if node.isDirectory { return node.names.flatMap { files($0.value, path + "/" + $0.key) } }
        let bytes = Data(node.bytes)
        return sequences.contains { bytes.range(of: $0) != nil } ? [path] : []
      }
      return files(1, "")
    }
  }

  /// The same disk as it is now, in another process: nothing is open.
  package func copy() -> ModelDisk {
    var copy = state.withLock { $0 }
    copy.files = [:]
    copy.locks = [:]
    return ModelDisk(copy)
  }

  /// What a loss of power leaves: what was synchronized, and of the rest whatever chance takes.
  package func afterLossOfPower(_ chance: inout some RandomNumberGenerator) -> ModelDisk {
    var copy = state.withLock { $0 }
    copy.files = [:]
    copy.locks = [:]
    // Now and then everything is lost, or nothing.
    let share: Double = [0, 0.5, 0.9, 1].randomElement(using: &chance) ?? 0
    func isKept() -> Bool { Double.random(in: 0..<1, using: &chance) < share }
    for number in copy.nodes.keys.sorted() {
      guard var node = copy.nodes[number] else { continue }
      if node.isDirectory {
        var names = node.safeNames
        for name in node.dirtyNames.sorted() where isKept() { names[name] = node.names[name] }
        node.names = names
      } else {
        var bytes = node.safeBytes
        if isKept() {
          let length = node.bytes.count
          bytes = Array(bytes.prefix(length)) + [UInt8](repeating: 0, count: max(0, length - bytes.count))
        }
        for (page, versions) in node.lostPages.merging(node.dirtyPages, uniquingKeysWith: +).sorted(by: {
          $0.key < $1.key
        })
        where isKept() {
          guard let version = versions.randomElement(using: &chance) else { continue }
          // The last version is the likeliest, and now and then the loss comes within a page.
          let written = share == 1 || Bool.random(using: &chance) ? versions.last ?? version : version
          let isTorn = share < 1 && Int.random(in: 0..<8, using: &chance) == 0
          for start in stride(from: 0, to: written.count, by: Self.sector) where !isTorn || Bool.random(using: &chance)
          {
            let place = page * Self.page + start
            let end = min(place + min(Self.sector, written.count - start), bytes.count)
            if place < end { bytes.replaceSubrange(place..<end, with: written[start..<start + end - place]) }
          }
        }
        node.bytes = bytes
      }
      node.lostPages = [:]
      node.synchronize()
      copy.nodes[number] = node
    }
    return ModelDisk(copy)
  }

  /// Memory is short: the pages whose synchronization has failed are as the disk has them.
  package func dropLostPages() {
    state.withLock { state in
      for (number, old) in state.nodes where !old.lostPages.isEmpty {
        var node = old
        for page in old.lostPages.keys where page * Self.page < node.bytes.count {
          let (start, count) = (page * Self.page, node.page(page).count)
          let safe = node.safeBytes.dropFirst(start).prefix(count)
          node.bytes.replaceSubrange(
            start..<start + count, with: safe + [UInt8](repeating: 0, count: count - safe.count))
        }
        node.lostPages = [:]
        state.nodes[number] = node
      }
    }
  }

  /// A synchronization has failed: what was to be written is written no more, and nobody is told again.
  ///
  /// - Parameter file: A file; without one, all of them.
  package func fail(synchronizing file: Int32?) {
    state.withLock { state in
      for number in file.map({ state.files[$0].map { [$0] } ?? [] }) ?? Array(state.nodes.keys) {
        guard var node = state.nodes[number] else { continue }
        node.lostPages.merge(node.dirtyPages, uniquingKeysWith: +)
        node.dirtyPages = [:]
        node.isDirty = false
        state.nodes[number] = node
      }
    }
  }
}

extension ModelDisk.State {
  fileprivate func node(
    of name: String, in directory: Int32
  ) throws(SystemError) -> (parent: Int, name: String, node: Int?) {
    var current = 1
    if !name.hasPrefix("/") {
      guard let open = files[directory] else { throw SystemError("model", code: EBADF) }
      current = open
    }
    let parts = name.split(separator: "/").filter { $0 != "." }.map(String.init)
    guard let last = parts.last else { return (current, ".", current) }
    for part in parts.dropLast() {
      guard let next = nodes[current]?.names[part] else { throw SystemError("model", code: ENOENT) }
      guard nodes[next]?.isDirectory == true else { throw SystemError("model", code: ENOTDIR) }
      current = next
    }
    return (current, last, nodes[current]?.names[last])
  }

  fileprivate func number(_ file: Int32) throws(SystemError) -> Int {
    guard let number = files[file] else { throw SystemError("model", code: EBADF) }
    return number
  }

  fileprivate func status(_ number: Int, _ device: UInt64) throws(SystemError) -> FileStatus {
    guard let node = nodes[number] else { throw SystemError("model", code: ENOENT) }
    return FileStatus(
      device: device, number: UInt64(number), size: Int64(node.bytes.count), changed: node.changed,
      links: isLinked(number) ? 1 : 0)
  }

  fileprivate mutating func link(_ name: String, in parent: Int, to node: Int?) {
    nodes[parent]?.names[name] = node
    nodes[parent]?.dirtyNames.insert(name)
    nodes[parent]?.isDirty = true
  }

  /// Whether a node still has a name; nothing can be made in a directory without one.
  fileprivate func isLinked(_ number: Int) -> Bool {
    number == 1 || nodes.values.contains { $0.isDirectory && $0.names.values.contains(number) }
  }

  fileprivate mutating func touch(_ number: Int) {
    clock += 1
    nodes[number]?.changed = clock
  }

  fileprivate mutating func change(_ number: Int, pages: Range<Int>) {
    touch(number)
    nodes[number]?.isDirty = true
    for page in pages {
      guard let bytes = nodes[number]?.page(page) else { continue }
      // The older ones of many are as good as those before the first.
      if nodes[number]?.dirtyPages[page, default: []].count ?? 0 > 3 { nodes[number]?.dirtyPages[page]?.removeFirst() }
      nodes[number]?.dirtyPages[page, default: []].append(bytes)
      nodes[number]?.lostPages[page] = nil
    }
  }
}

extension ModelDisk {
  package func open(_ name: String, in directory: Int32, flags: Int32, mode: UInt32) throws(SystemError) -> Int32 {
    try locked { state throws(SystemError) in
      let place = try state.node(of: name, in: directory)
      var number = place.node
      if let node = number {
        if flags & O_CREAT != 0, flags & O_EXCL != 0 { throw SystemError("create", code: EEXIST) }
        if flags & O_DIRECTORY != 0, state.nodes[node]?.isDirectory != true { throw SystemError("open", code: ENOTDIR) }
      } else {
        guard flags & O_CREAT != 0, state.isLinked(place.parent) else { throw SystemError("open", code: ENOENT) }
        state.lastNode += 1
        state.nodes[state.lastNode] = Node(isDirectory: false, mode: mode)
        state.link(place.name, in: place.parent, to: state.lastNode)
        number = state.lastNode
        state.touch(state.lastNode)
      }
      state.lastFile += 1
      state.files[state.lastFile] = number
      return state.lastFile
    }
  }

  package func close(_ file: Int32) {
    state.withLock { state in
      state.files[file] = nil
      state.locks = state.locks.filter { $0.value != file }
    }
  }

  package func status(of file: Int32) throws(SystemError) -> FileStatus {
    try locked { state throws(SystemError) in try state.status(state.number(file), device) }
  }

  package func status(of name: String, in directory: Int32, followingLinks: Bool) throws(SystemError) -> FileStatus {
    try locked { state throws(SystemError) in
      guard let number = try state.node(of: name, in: directory).node else { throw SystemError("stat", code: ENOENT) }
      return try state.status(number, device)
    }
  }

  package func read(
    _ file: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    try locked { state throws(SystemError) in
      let contents = state.nodes[try state.number(file)]?.bytes ?? []
      guard offset < Int64(contents.count) else { return 0 }
      let count = min(bytes.count, contents.count - Int(offset))
      contents.withUnsafeBytes {
        bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(offset)..<Int(offset) + count]))
      }
      return count
    }
  }

  package func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
    try locked { state throws(SystemError) in
      let number = try state.number(file)
      let (start, end) = (Int(offset), Int(offset) + bytes.count)
      let count = state.nodes[number]?.bytes.count ?? 0
      if count < end { state.nodes[number]?.bytes += [UInt8](repeating: 0, count: end - count) }
      state.nodes[number]?.bytes.withUnsafeMutableBytes {
        UnsafeMutableRawBufferPointer(rebasing: $0[start..<end]).copyMemory(from: bytes)
      }
      state.change(number, pages: min(start, count) / Self.page..<(end + Self.page - 1) / Self.page)
      return bytes.count
    }
  }

  package func truncate(_ file: Int32, to length: Int64) throws(SystemError) {
    try locked { state throws(SystemError) in
      let number = try state.number(file)
      state.nodes[number]?.truncate(to: Int(length))
      state.change(number, pages: 0..<0)
    }
  }

  package func setMode(of file: Int32, to mode: UInt32) throws(SystemError) {
    try locked { state throws(SystemError) in state.nodes[try state.number(file)]?.mode = mode }
  }

  package func synchronize(_ file: Int32, isDirectory: Bool) throws(SystemError) {
    try locked { state throws(SystemError) in
      let number = try state.number(file)
      guard var node = state.nodes[number], node.isDirty else { return }
      node.synchronize()
      state.nodes[number] = node
    }
  }

  package func synchronizeAll(_ file: Int32) throws(SystemError) {
    state.withLock { state in
      for (number, node) in state.nodes where node.isDirty { state.nodes[number]?.synchronize() }
    }
  }

  package func lock(_ file: Int32) throws(SystemError) {
    try locked { state throws(SystemError) in
      let number = try state.number(file)
      guard state.locks[number] ?? file == file else { throw SystemError("flock", code: EWOULDBLOCK) }
      state.locks[number] = file
    }
  }

  package func unlock(_ file: Int32) {
    state.withLock { state in state.locks = state.locks.filter { $0.value != file } }
  }

  package func names(in directory: Int32) throws(SystemError) -> [String] {
    try locked { state throws(SystemError) in
      (state.nodes[try state.number(directory)]?.names.keys).map { $0.sorted() } ?? []
    }
  }

  package func makeDirectory(_ name: String, in directory: Int32, mode: UInt32) throws(SystemError) {
    try locked { state throws(SystemError) in
      let place = try state.node(of: name, in: directory)
      guard place.node == nil else { throw SystemError("mkdir", code: EEXIST) }
      guard state.isLinked(place.parent) else { throw SystemError("mkdir", code: ENOENT) }
      state.lastNode += 1
      state.nodes[state.lastNode] = Node(isDirectory: true, mode: mode)
      state.link(place.name, in: place.parent, to: state.lastNode)
    }
  }

  package func remove(_ name: String, in directory: Int32) throws(SystemError) {
    try locked { state throws(SystemError) in
      let place = try state.node(of: name, in: directory)
      guard let number = place.node, let node = state.nodes[number] else { throw SystemError("unlink", code: ENOENT) }
      if node.isDirectory { throw SystemError("unlink", code: EISDIR) }
      state.link(place.name, in: place.parent, to: nil)
    }
  }

  package func rename(_ name: String, to new: String, in directory: Int32) throws(SystemError) {
    try locked { state throws(SystemError) in
      let place = try state.node(of: name, in: directory)
      guard let number = place.node else { throw SystemError("rename", code: ENOENT) }
      let target = try state.node(of: new, in: directory)
      state.link(target.name, in: target.parent, to: number)
      state.link(place.name, in: place.parent, to: nil)
    }
  }

  private func locked<Value: Sendable>(
    _ body: (inout State) throws(SystemError) -> Value
  ) throws(SystemError) -> Value {
    let outcome = state.withLock { state -> Result<Value, SystemError> in
      do throws(SystemError) {
        return .success(try body(&state))
      } catch {
        return .failure(error)
      }
    }
    return try outcome.get()
  }
}
