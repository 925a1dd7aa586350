#if CORELIBS_FOUNDATION
  import Dispatch
  import Foundation
  @_spi(Reflection) import Swift

  /// What the public interface of a session task does not show, read by reflection: this is the only place that looks
  /// inside Foundation.
  ///
  /// Positions are looked up once, on a task that belongs to no session; a load then reads one stored property by
  /// position, a constant or one that is written before the task is resumed, so nothing races. Where a property is
  /// missing on some toolchain, the load fails with `WaylayError.foundationChanged`.
  package enum TaskInternals {
    /// The queue on which the task's client may be called (P1).
    ///
    /// `task.resume()` would be a public way there (P21), but it takes a quarter longer with 64 loads in flight, and it
    /// would undo a `suspend()` of the app that comes between looking at the task's state and calling it.
    static func workQueue(of task: URLSessionTask) throws -> DispatchQueue {
      try layout(of: task).workQueue?.read(from: task) ?? property("workQueue", at: workQueuePosition, of: task)
    }

    /// The queue on which a task guards what it shows to other threads.
    static func syncQueue(of task: URLSessionTask) throws -> DispatchQueue {
      try layout(of: task).syncQueue?.read(from: task) ?? property("syncQ", at: syncQueuePosition, of: task)
    }

    /// The session the task belongs to.
    static func session(of task: URLSessionTask) throws -> URLSession {
      try layout(of: task).session?.read(from: task) as? URLSession
        ?? property("session", at: sessionPosition, of: task)
    }

    /// The queue of a session, which all its tasks' queues lead to; `nil` where it is not found.
    package static func workQueue(of session: URLSession) -> DispatchQueue? {
      child("workQueue", at: level(of: URLSession.self, in: session)) as? DispatchQueue
    }

    /// The tasks of a session that have not ended, for code on its work queue. The session's own `getAllTasks` reads its
    /// list on another queue, while tasks come and go, and may end the process (U20).
    package static func tasks(of session: URLSession) -> [URLSessionTask] {
      let registry = child("taskRegistry", at: level(of: URLSession.self, in: session))
      let tasks = registry.flatMap { child("tasks", at: Mirror(reflecting: $0)) } as? [Int: URLSessionTask]
      return tasks.map { Array($0.values) } ?? []
    }

    /// The body of an upload task, which its request does not carry (P9). `nil` when the session's delegate is to be
    /// asked for a stream.
    static func uploadBody(of task: URLSessionTask) throws -> MessageBody? {
      let value = try property("knownBody", at: bodyPosition, of: task) as Any
      guard let body = Mirror(reflecting: value).children.first?.value else { return nil }
      guard let known = Mirror(reflecting: body).children.first, let label = known.label else { return .empty }
      switch (label, known.value) {
      case ("data", let data as DispatchData): return .data(Data(data))
      case ("file", let url as URL): return .file(url)
      case ("stream", let stream as InputStream): return .stream(reading: stream)
      default: throw changed("URLSessionTask.knownBody.\(label)")
      }
    }

    /// Who is told about a task. Call it on the work queue (P4).
    ///
    /// A task with a completion handler has a delegate too, the session's, but keeps its body for the handler.
    static func listener(to task: URLSessionTask, in session: URLSession) throws -> Listener {
      let stored = layout(of: task).behaviours
      let registry = stored == nil ? child("taskRegistry", at: level(of: URLSession.self, in: session)) : nil
      let table = registry.flatMap { child("behaviours", at: Mirror(reflecting: $0)) }
      guard
        let behaviour = stored?.behaviour(of: task, in: session) ?? TaskBehaviours.reflected(task.taskIdentifier, table)
      else { throw changed("URLSession.taskRegistry.behaviours") }
      switch behaviour.name {
      // A case without a payload: `callDelegate` is the only one.
      case nil: return .delegate
      case "dataCompletionHandler", "downloadCompletionHandler": return .handler
      case "dataCompletionHandlerWithTaskDelegate", "downloadCompletionHandlerWithTaskDelegate":
        return .caller(behaviour.delegate)
      case let other?: throw changed("URLSession.taskRegistry.behaviours.\(other)")
      }
    }

    /// Who is told about a task.
    enum Listener {
      /// The task's delegate, or else the session's.
      case delegate
      /// A completion handler.
      case handler
      /// The caller of an `async` function, and the delegate that was named in the call (P25).
      case caller((any URLSessionTaskDelegate)?)
    }

    // MARK: The end of a task

    /// Makes a task that is told how it ended deaf to `resume()`; on the work queue, right before the client's last
    /// call.
    ///
    /// From that call until the app has been told on its own queue, a task counts as going on and has no protocol
    /// object. A `resume()` then fails it anew, and when the task leaves its session's table meanwhile, the process
    /// ends (P31). With a count of suspensions that nobody resumes away it does nothing. What `state` says is not
    /// touched.
    static func close(_ task: URLSessionTask) {
      guard closesTasks else { return }
      suspendCount?.write(closedCount, into: task)
    }

    /// Whether `close(_:)` has an effect: found out once, on a task that belongs to no session. Without it a task is as
    /// plain as Foundation's.
    static let closesTasks: Bool = {
      guard let suspendCount else { return false }
      let probe = URLSessionTask()
      guard child("suspendCount", ofTask: probe) as? Int == 1 else { return false }
      suspendCount.write(closedCount, into: probe)
      return child("suspendCount", ofTask: probe) as? Int == closedCount
    }()

    /// Far from 0 and from the largest number, where `suspend()` ends the process.
    private static let closedCount = 1 << 40
    private static let suspendCount = StoredProperty<Int>("suspendCount")

    /// Whether the caller of an `async` function is told on the work queue (P34), in place of the delegate queue.
    static let tellsInline = StoredProperty<Bool>("_callCompletionHandlerInline")

    /// Has the end of an `async` function's task told to `caller`; on the work queue.
    ///
    /// - Returns: Whether that is done: not where the call has a delegate, nor where the table of the session is not as
    ///   expected.
    static func replaceHandler(of task: URLSessionTask, with caller: TaskCaller) -> Bool {
      guard let behaviours = layout(of: task).behaviours, let session = try? session(of: task) else { return false }
      return behaviours.replaceHandler(of: task, in: session, with: caller)
    }

    // MARK: Downloads

    /// Whether a download task can be given its file: found out once, on an object that belongs to no task.
    static let servesDownloads: Bool = {
      guard let url = URL(string: "http://example.com/"), let table = propertyTable else { return false }
      let probe = URLProtocol(request: URLRequest(url: url), cachedResponse: nil, client: nil)
      let file = URL(fileURLWithPath: "/waylay")
      return table.write(file, into: probe) && downloadedFile(of: probe) == file
    }()

    /// Hands over the file of a download, which the loading system takes from the protocol object at its end (P28).
    ///
    /// The property is not public, and its exported setter ends the process; so it is written where it is stored, once
    /// ``servesDownloads`` has shown that it is there. Call it on the work queue, where the loading system reads it.
    static func setDownloadedFile(_ file: URL, of loader: URLProtocol) throws {
      guard servesDownloads, propertyTable?.write(file, into: loader) == true else {
        throw changed("URLProtocol.properties")
      }
    }

    /// What the loading system will hand to the app.
    static func downloadedFile(of loader: URLProtocol) -> URL? {
      let table = child("properties", at: level(of: URLProtocol.self, in: loader)) as? any DictionaryByName
      return table?.value(named: fileKey) as? URL
    }

    private static let fileKey = "temporaryFileURL"

    /// Where a protocol object keeps what the loading system wants of it.
    private struct PropertyTable: Sendable {
      let offset: Int
      /// Unsafe in name only: a type is a constant.
      nonisolated(unsafe) let type: any DictionaryByName.Type

      func write(_ file: URL, into loader: URLProtocol) -> Bool {
        // The loader is alive for as long as this call, and nobody else is on the queue that its properties are used
        // on.
        type.set(file, named: fileKey, at: Unmanaged.passUnretained(loader).toOpaque() + offset)
      }
    }

    private static let propertyTable: PropertyTable? = {
      guard let (offset, type) = storedPlace(of: "properties", in: URLProtocol.self),
        let type = type as? any DictionaryByName.Type
      else { return nil }
      return PropertyTable(offset: offset, type: type)
    }()

    // MARK: Reflection

    /// What a class has stored in an object of whatever class beneath it.
    private static func level(of type: AnyClass, in object: Any) -> Mirror? {
      var mirror: Mirror? = Mirror(reflecting: object)
      while let level = mirror, level.subjectType != type { mirror = level.superclassMirror }
      return mirror
    }

    private static func child(_ name: String, ofTask task: URLSessionTask) -> Any? {
      child(name, at: level(of: URLSessionTask.self, in: task))
    }

    /// What is read where it is stored; the rest is reflected upon, which takes microseconds for each property.
    ///
    /// Names, types and sizes say where something is, and not how: a weak reference looks like any other. So what is
    /// stored is compared with what reflection says, once per process, on the first task of a session.
    final class Layout: Sendable {
      let workQueue: StoredProperty<DispatchQueue>?
      let syncQueue: StoredProperty<DispatchQueue>?
      let session: StoredReference?
      let behaviours: TaskBehaviours?

      fileprivate init(of task: URLSessionTask, in session: URLSession?) {
        workQueue = StoredProperty("workQueue").flatMap {
          isStored(child("workQueue", ofTask: task) as? DispatchQueue, at: $0.offset, in: task) ? $0 : nil
        }
        syncQueue = StoredProperty("syncQ").flatMap {
          isStored(child("syncQ", ofTask: task) as? DispatchQueue, at: $0.offset, in: task) ? $0 : nil
        }
        let type = "Swift.Optional<FoundationNetworking.URLSessionProtocol>"
        self.session = StoredReference("session", ofType: type, movedBy: misplacement.withLock { $0 }).flatMap {
          isStored(session, at: $0.offset, in: task) ? $0 : nil
        }
        behaviours = session.flatMap { session in
          TaskBehaviours().flatMap {
            $0.isStored(child("taskRegistry", at: level(of: URLSession.self, in: session)), in: session) ? $0 : nil
          }
        }
      }

      var isComplete: Bool { workQueue != nil && syncQueue != nil && session != nil && behaviours != nil }
    }

    private static let layout = Locked<Layout?>(nil)

    private static func layout(of task: URLSessionTask) -> Layout {
      if let known = layout.withLock({ $0 }) { return known }
      let session = child("session", ofTask: task) as? URLSession
      let found = Layout(of: task, in: session)
      if session != nil { layout.withLock { $0 = found } }
      return found
    }

    /// Whether all of it was found where it is expected, on the first task of a session.
    static var readsStored: Bool { layout.withLock { $0?.isComplete } ?? false }

    /// Bytes by which the place of a task's session is taken for another one, for the test that a changed layout is
    /// noticed.
    static let misplacement = Locked(0)

    /// What is known, as far as can be told without a session, and by the loads so far.
    static var report: InterceptionReport {
      let isThere = [workQueuePosition, sessionPosition, bodyPosition].allSatisfy { $0 != nil }
      return InterceptionReport(canIntercept: isThere && !hasFailed.withLock { $0 }, losses: losses)
    }

    /// What is lost where something that not every load needs is gone.
    private static let losses: [String] = [
      findsListeners
        ? nil
        : "the delegate of data(for:delegate:) is not asked, download tasks and sessions with a data delegate fail",
      closesTasks ? nil : "a resume() that crosses the end of a task may end the process (P31)",
      tellsInline == nil ? "a cancellation that crosses the end of an async call may stop all sessions (P34)" : nil,
      servesDownloads ? nil : "download tasks fail",
      TaskRecord.known == nil ? "error, currentRequest and the counts of a task stay as they were (P33)" : nil,
      findsTasks ? nil : "a mocked scope that ends does not wait for the tasks of its session",
    ].compactMap { $0 }

    static let findsSyncQueue = syncQueuePosition != nil

    /// Whether it can be told who is told about a task.
    static let findsListeners = TaskBehaviours() != nil

    private static let findsTasks =
      (storedPlace(of: "taskRegistry", in: URLSession.self)?.type as? AnyClass)
      .flatMap { storedPlace(of: "tasks", in: $0) } != nil

    /// Names that are not found, for the test of what is lost without them.
    static let renamed = Locked<Set<String>>([])

    private static let hasFailed = Locked(false)
    private static let workQueuePosition = position(of: "workQueue")
    private static let syncQueuePosition = position(of: "syncQ")
    private static let sessionPosition = position(of: "session")
    private static let bodyPosition = position(of: "knownBody")

    private static func position(of name: String) -> Int? {
      guard !renamed.withLock({ $0.contains(name) }) else { return nil }
      return Mirror(reflecting: URLSessionTask()).children.enumerated().first { $0.element.label == name }?.offset
    }

    private static func property<Value>(_ name: String, at position: Int?, of task: URLSessionTask) throws -> Value {
      guard let position, let children = level(of: URLSessionTask.self, in: task)?.children, position < children.count
      else {
        throw changed("URLSessionTask.\(name)")
      }
      let child = children[children.index(children.startIndex, offsetBy: position)]
      guard child.label == name, let value = child.value as? Value else { throw changed("URLSessionTask.\(name)") }
      return value
    }

    private static func child(_ name: String, at level: Mirror?) -> Any? {
      guard !renamed.withLock({ $0.contains(name) }) else { return nil }
      return level?.children.first { $0.label == name }?.value
    }

    private static func changed(_ place: String) -> WaylayError {
      hasFailed.withLock { $0 = true }
      return WaylayError(
        .foundationChanged,
        "\(place) differs from what this version of Waylay expects of Foundation on Linux: update Waylay, or use the "
          + "toolchain it was tested with (see the README). Direct loads, registry.data(for:), are not affected."
      )
    }
  }

  /// A dictionary whose key type cannot be named, but can be made from a text.
  private protocol DictionaryByName {
    func value(named name: String) -> Any?
    /// Changes the dictionary that is stored at a place. `false` when there is no such key.
    static func set(_ value: Any, named name: String, at place: UnsafeMutableRawPointer) -> Bool
  }

  extension Dictionary: DictionaryByName where Key: RawRepresentable, Key.RawValue == String, Value == Any {
    fileprivate func value(named name: String) -> Any? { Key(rawValue: name).flatMap { self[$0] } }

    fileprivate static func set(_ value: Any, named name: String, at place: UnsafeMutableRawPointer) -> Bool {
      guard !TaskInternals.renamed.withLock({ $0.contains(name) }), let key = Key(rawValue: name) else { return false }
      place.assumingMemoryBound(to: Self.self).pointee[key] = value
      return true
    }
  }

  /// A property of a session task that is not public, and is read and written where it is stored.
  struct StoredProperty<Value>: Sendable {
    fileprivate let offset: Int

    /// `nil` when tasks have no such property, or one of another type.
    init?(_ name: String, in type: URLSessionTask.Type = URLSessionTask.self) {
      guard let place = storedPlace(of: name, in: type), place.type == Value.self else { return nil }
      offset = place.offset
    }

    /// Call it where Foundation reads the property itself.
    func read(from task: URLSessionTask) -> Value {
      // The task is alive for as long as this call, and what is there is of this type.
      withExtendedLifetime(task) {
        (Unmanaged.passUnretained(task).toOpaque() + offset).assumingMemoryBound(to: Value.self).pointee
      }
    }

    /// Call it where Foundation writes the property itself.
    func write(_ value: Value, into task: URLSessionTask) {
      // The task is alive for as long as this call, and what is there is of this type.
      (Unmanaged.passUnretained(task).toOpaque() + offset).assumingMemoryBound(to: Value.self).pointee = value
    }
  }

  /// A property of a session task that refers to an object by a protocol which cannot be named.
  struct StoredReference: Sendable {
    fileprivate let offset: Int

    /// `nil` when tasks have no such property, or one of another type than is named.
    init?(_ name: String, ofType typeName: String, movedBy bytes: Int) {
      guard let place = storedPlace(of: name, in: URLSessionTask.self), String(reflecting: place.type) == typeName
      else { return nil }
      // A reference with a table of functions: the object comes first.
      func size<Value>(_: Value.Type) -> Int { MemoryLayout<Value>.size }
      guard _openExistential(place.type, do: size) == 2 * MemoryLayout<UnsafeRawPointer>.size else { return nil }
      offset = place.offset + bytes
    }

    /// Call it where Foundation reads the property itself.
    func read(from task: URLSessionTask) -> AnyObject? {
      // The task is alive for as long as this call, and keeps the object.
      withExtendedLifetime(task) {
        (Unmanaged.passUnretained(task).toOpaque() + offset).load(as: UnsafeRawPointer?.self)
          .map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
      }
    }
  }

  /// Whether an object has a reference to another one at a place, and nothing else. What is there is compared and not
  /// followed: of a weak reference, say, it is no address of an object.
  func isStored(_ object: AnyObject?, at offset: Int, in owner: AnyObject) -> Bool {
    guard let object else { return false }
    return withExtendedLifetime((object, owner)) {
      (Unmanaged.passUnretained(owner).toOpaque() + offset).load(as: UnsafeMutableRawPointer?.self)
        == Unmanaged.passUnretained(object).toOpaque()
    }
  }

  /// Where objects of a class keep a property.
  func storedPlace(of name: String, in type: AnyClass) -> (offset: Int, type: Any.Type)? {
    var place: (Int, Any.Type)?
    guard !TaskInternals.renamed.withLock({ $0.contains(name) }) else { return nil }
    // The option that stands for "of a class"; its name is a variable, which strict checks do not let through.
    _ = _forEachField(of: type, options: _EachFieldOptions(rawValue: 1)) { candidate, offset, type, _ in
      guard String(cString: candidate) == name else { return true }
      place = (offset, type)
      return false
    }
    return place
  }
#endif
