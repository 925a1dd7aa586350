import Foundation

/// The stores on disk of this process: archives in one directory share one store, with its memory and its limits.
///
/// The table is process-wide.
enum SharedStores {
  private struct State {
    /// The open stores, with the number of archives that use each.
    var stores: [ObjectIdentifier: (store: DiskStore, users: Int)] = [:]
    /// The queues of openings by directory, with the number of openings that use each.
    var openings: [String: (queue: DispatchQueue, users: Int)] = [:]
  }

  private static let state = Locked(State())

  /// Opens a store, or returns the one that another archive uses in the same directory. Blocks, but not for openings in
  /// other directories.
  static func open(_ directory: URL, _ options: DiskStore.Options) throws -> DiskStore {
    guard directory.isFileURL, !options.isReadOnly else {
      return try DiskStore(at: directory, options: options)
    }
    let path = directory.standardizedFileURL.resolvingSymlinksInPath().path
    let queue = state.withLock { state in
      let opening = state.openings[path] ?? (DispatchQueue(label: "waylay.archive.opening"), 0)
      state.openings[path] = (opening.queue, opening.users + 1)
      return opening.queue
    }
    defer {
      state.withLock { state in
        state.openings[path]?.users -= 1
        if state.openings[path]?.users == 0 { state.openings[path] = nil }
      }
    }
    return try queue.sync {
      if let known = try known(directory.standardizedFileURL.path, options) { return known }
      let store = try DiskStore(at: directory, options: options)
      let isFirst = state.withLock { state in
        guard
          !state.stores.values.contains(where: { $0.store.place.directory == store.place.directory && $0.store.isOpen })
        else { return false }
        state.stores[ObjectIdentifier(store)] = (store, 1)
        return true
      }
      guard !isFirst, let known = try known(directory.standardizedFileURL.path, options) else { return store }
      // The directory has two paths, such as those of a bind mount.
      Task { await store.close() }
      return known
    }
  }

  /// The store that is already open for a directory, even by another path; `nil` after `fork()`.
  private static func known(_ path: String, _ options: DiskStore.Options) throws -> DiskStore? {
    let identity = try? FileSystem(options.system).status(of: path, followingLinks: true)?.identity
    guard let identity else { return nil }
    let stores = state.withLock { $0.stores.values.map(\.store) }
    guard let store = stores.first(where: { $0.place.directory == identity && $0.isOpen && !$0.isGone() }) else {
      return nil
    }
    let key: EncryptionKey? = try options.encryptionKey?().longEnough()
    _ = try store.identity.sealing(key, directory: path)
    let isShared = state.withLock { state in
      guard state.stores[ObjectIdentifier(store)] != nil else { return false }
      state.stores[ObjectIdentifier(store)]?.users += 1
      return true
    }
    guard isShared else { return nil }
    let dropped = store.options.differences(options, limits: store.limits)
    if !dropped.isEmpty {
      options.logger.warning(
        """
        the archive in \(path) is already open in this process and is shared: these options of the first \
        opening apply: \(dropped.joined(separator: ", "))
        """)
    }
    return store
  }

  /// Releases a store; the last user closes it. A store that was not opened here is closed by its owner.
  ///
  /// - Returns: The closing; `nil` if other archives still use the store.
  @discardableResult
  static func release(_ store: any ArchiveStore) -> Task<Void, Never>? {
    guard let store = store as? DiskStore else { return nil }
    let id = ObjectIdentifier(store)
    let isLast = state.withLock { state in
      guard let users = state.stores[id]?.users else { return false }
      state.stores[id]?.users -= 1
      if users == 1 { state.stores[id] = nil }
      return users == 1
    }
    return isLast ? Task { await store.close() } : nil
  }

  /// Releases a store, and waits until its pending jobs are written, and until it is closed if this was the last user.
  static func close(_ store: any ArchiveStore) async {
    guard let disk = store as? DiskStore, state.withLock({ $0.stores[ObjectIdentifier(disk)] != nil }) else {
      return await store.close()
    }
    if let closing = release(disk) { await closing.value } else { try? await disk.written() }
  }
}
