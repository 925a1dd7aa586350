#if CORELIBS_FOUNDATION
  import Dispatch
  import Foundation

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

    /// The caller of a task's `async` function, told off the work queue from now on; at the beginning of `startLoading`,
    /// which comes before a cancellation's end of the task.
    ///
    /// - Returns: `nil` where its handler is not replaced: cancelling does not wait for the queue, the call has a
    ///   delegate, which has to be told first, on the delegate queue, or the session's table is not as expected. In the
    ///   last two cases the caller is told on the delegate queue.
    static func caller(of task: URLSessionTask) -> TaskCaller? {
      guard Cancellation.current != .returns, let tellsInline, tellsInline.read(from: task) else { return nil }
      let caller = TaskCaller()
      if let behaviours = layout(of: task).behaviours, let session = try? session(of: task),
        behaviours.replaceHandler(of: task, in: session, with: caller)
      {
        return caller
      }
      tellsInline.write(false, into: task)
      return nil
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

  }

  /// A property of a session task that is not public, and is read and written where it is stored.
  struct StoredProperty<Value>: Sendable {
    let offset: Int

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
    let offset: Int

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

  /// The caller of an `async` function of a session, which Foundation resumes on the work queue.
  ///
  /// Where cancelling waits for that queue, it holds the lock that resuming takes, so that both wait forever (P34).
  /// There the handler in the task's entry is replaced by one that resumes the caller elsewhere: on another thread, or
  /// on the thread that delivers the response, once it has left the queue.
  ///
  /// Unchecked: `kept` and `keeps` are used on the work queue only.
  final class TaskCaller: @unchecked Sendable {
    /// Whether the thread that delivers the response resumes the caller; then `kept` has the call.
    var keeps = false
    var kept: (@Sendable () -> Void)?

    /// The task has ended; on the work queue.
    func end(_ resume: @escaping @Sendable () -> Void) {
      if keeps { kept = resume } else { DispatchQueue.global().async(execute: resume) }
    }
  }

  extension PlatformProtocol {
    /// The first act of `startLoading`.
    final func begin() {
      caller = task.flatMap(TaskInternals.caller)
    }
  }

  /// What a session does when a task of its ends, by the task's number: a table whose types cannot be named.
  struct TaskBehaviours: Sendable {
    private let registryOffset: Int
    private let tableOffset: Int
    /// Unsafe in name only: a type is a constant.
    nonisolated(unsafe) private let table: any BehaviourTable.Type
    /// The cases that were met, by their tag. Reflection on one takes 10 to 30 µs, more than the rest of a load.
    private let known = Locked([KnownCase?](repeating: nil, count: Int(UInt8.max) + 1))

    /// What a session does when a task ends.
    struct Behaviour {
      /// The name of the case; `nil` for a case that has nothing with it.
      var name: String?
      /// The delegate that was named in the call (P25).
      var delegate: (any URLSessionTaskDelegate)?
    }

    /// A case of which it is known how its values are stored.
    private enum KnownCase {
      case plain(String?)
      case withDelegate(String, offset: Int, Handler?)
    }

    // A function in a struct has the form that it has in the enumeration. Read through a pointer to its type alone, or as
    // the field of a generic struct, it would be taken for one of another calling convention.
    private struct DataHandler { var call: @Sendable (Data?, URLResponse?, (any Error)?) -> Void }
    private struct DownloadHandler { var call: @Sendable (URL?, URLResponse?, (any Error)?) -> Void }

    /// What kind of handler a case has.
    private enum Handler {
      case data, download

      init?(_ type: Any.Type) {
        switch String(reflecting: type).replacingOccurrences(of: "@Sendable ", with: "") {
        case String(reflecting: ((Data?, URLResponse?, (any Error)?) -> Void).self): self = .data
        case String(reflecting: ((URL?, URLResponse?, (any Error)?) -> Void).self): self = .download
        default: return nil
        }
      }
    }

    /// `nil` when sessions have no such table.
    init?() {
      guard let registry = storedPlace(of: "taskRegistry", in: URLSession.self),
        let registryType = registry.type as? AnyClass,
        let table = storedPlace(of: "behaviours", in: registryType), let type = table.type as? any BehaviourTable.Type
      else { return nil }
      (registryOffset, tableOffset, self.table) = (registry.offset, table.offset, type)
    }

    /// Call it on the work queue (P4). `nil` when the session does not know the task.
    func behaviour(of task: URLSessionTask, in session: URLSession) -> Behaviour? {
      // The session is alive for as long as this call, and its registry as long as the session.
      withExtendedLifetime(session) {
        let registry = (Unmanaged.passUnretained(session).toOpaque() + registryOffset).load(as: UnsafeRawPointer.self)
        return table.behaviour(of: task.taskIdentifier, in: registry + tableOffset) { bytes, value in
          stored(in: bytes) ?? reflected(value(), in: bytes)
        }
      }
    }

    /// Replaces the handler of a call without a delegate; on the work queue.
    func replaceHandler(of task: URLSessionTask, in session: URLSession, with caller: TaskCaller) -> Bool {
      let number = task.taskIdentifier
      // The session is alive for as long as this call, and its registry as long as the session.
      return withExtendedLifetime(session) {
        let registry = (Unmanaged.passUnretained(session).toOpaque() + registryOffset)
          .load(as: UnsafeMutableRawPointer.self)
        func replace() -> Bool? {
          table.change(number, in: registry + tableOffset) { replaceHandler(in: $0, with: caller) }
        }
        // A case that is met for the first time is learned by a look at it.
        return replace() ?? (behaviour(of: task, in: session) == nil ? nil : replace()) ?? false
      }
    }

    /// - Returns: `nil` when it is not known how the case is stored.
    private func replaceHandler(in bytes: UnsafeMutableRawBufferPointer, with caller: TaskCaller) -> Bool? {
      guard let place = bytes.baseAddress, let tag = bytes.last, let known = known.withLock({ $0[Int(tag)] }) else {
        return nil
      }
      guard case .withDelegate(_, let offset, let handler?) = known,
        (place + offset).load(as: UnsafeRawPointer?.self) == nil
      else { return false }
      switch handler {
      case .data:
        let stored = place.assumingMemoryBound(to: DataHandler.self)
        let call = stored.pointee.call
        stored.pointee.call = { data, response, error in caller.end { call(data, response, error) } }
      case .download:
        let stored = place.assumingMemoryBound(to: DownloadHandler.self)
        let call = stored.pointee.call
        stored.pointee.call = { file, response, error in caller.end { call(file, response, error) } }
      }
      return true
    }

    /// How many cases are read where they are stored by now, for the test of the platform's facts.
    var knownCount: Int { known.withLock { $0.count { $0 != nil } } }

    /// Whether a session's table is where it is read, by what reflection says of it. Call it on the work queue (P4).
    func isStored(_ registry: Any?, in session: URLSession) -> Bool {
      guard let registry, case let object = registry as AnyObject,
        WaylayCore.isStored(object, at: registryOffset, in: session)
      else { return false }
      let place = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()) + tableOffset
      let value = Mirror(reflecting: registry).children.first { $0.label == "behaviours" }?.value
      return (value as? any BehaviourTable)?.isStored(at: place) ?? false
    }

    // MARK: As it is stored

    /// The tag is the last byte: it says which case it is, and its values come first.
    private func stored(in bytes: UnsafeRawBufferPointer) -> Behaviour? {
      guard let tag = bytes.last, let known = known.withLock({ $0[Int(tag)] }) else { return nil }
      switch known {
      case .plain(let name): return Behaviour(name: name)
      case .withDelegate(let name, let offset, _):
        return Behaviour(
          name: name, delegate: bytes.load(fromByteOffset: offset, as: (any URLSessionTaskDelegate)?.self))
      }
    }

    // MARK: By reflection

    private func reflected(_ value: Any, in bytes: UnsafeRawBufferPointer) -> Behaviour {
      let (behaviour, parts) = Self.reflected(value)
      learn(behaviour, parts: parts, in: bytes)
      return behaviour
    }

    private static func reflected(_ value: Any) -> (Behaviour, parts: [Any]) {
      let payload = Mirror(reflecting: value).children.first
      let parts = payload.map { Array(Mirror(reflecting: $0.value).children) } ?? []
      let delegates = parts.compactMap { $0.value as? (any URLSessionTaskDelegate)? }
      return (Behaviour(name: payload?.label, delegate: delegates.last ?? nil), parts.map(\.value))
    }

    /// The same of a table that is not where it is expected.
    static func reflected(_ number: Int, _ table: Any?) -> Behaviour? {
      (table as? any BehaviourTable)?.value(of: number).map { reflected($0).0 }
    }

    /// Notes how a case is stored, if it is stored as expected: two parts of two words, a handler and a delegate, or no
    /// delegate at all; then the tag.
    private func learn(_ behaviour: Behaviour, parts: [Any], in bytes: UnsafeRawBufferPointer) {
      let word = MemoryLayout<UnsafeRawPointer>.size
      guard let tag = bytes.last, bytes.count == 4 * word + 1 else { return }
      func size<Value>(_: Value) -> Int { MemoryLayout<Value>.size }
      let sizes = parts.map { _openExistential($0, do: size) }
      if let name = behaviour.name, sizes == [2 * word, 2 * word],
        type(of: parts[1]) == (any URLSessionTaskDelegate)?.self
      {
        guard stored(bytes, 2 * word) === behaviour.delegate else { return }
        let handler = Handler(type(of: parts[0]))
        known.withLock { $0[Int(tag)] = .withDelegate(name, offset: 2 * word, handler) }
      } else if parts.isEmpty {
        known.withLock { $0[Int(tag)] = .plain(behaviour.name) }
      }
    }

    private func stored(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> AnyObject? {
      bytes.load(fromByteOffset: offset, as: UnsafeRawPointer?.self).map {
        Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
      }
    }
  }

  /// A dictionary whose value type cannot be named, asked by number without converting it.
  private protocol BehaviourTable {
    func value(of number: Int) -> Any?
    /// Whether this very table is at a place.
    func isStored(at place: UnsafeRawPointer) -> Bool
    /// Shows how a value is stored, and the value itself to who asks for it, which takes longer.
    static func behaviour(
      of number: Int, in place: UnsafeRawPointer,
      _ read: (UnsafeRawBufferPointer, _ value: () -> Any) -> TaskBehaviours.Behaviour
    ) -> TaskBehaviours.Behaviour?
    /// Shows how a value is stored, to change it there; `nil` when there is none.
    static func change(
      _ number: Int, in place: UnsafeMutableRawPointer, _ change: (UnsafeMutableRawBufferPointer) -> Bool?
    ) -> Bool?
  }

  extension Dictionary: BehaviourTable where Key == Int {
    fileprivate func value(of number: Int) -> Any? { self[number] }

    fileprivate func isStored(at place: UnsafeRawPointer) -> Bool {
      withUnsafeBytes(of: self) { $0.load(as: UnsafeRawPointer.self) } == place.load(as: UnsafeRawPointer.self)
    }

    fileprivate static func behaviour(
      of number: Int, in place: UnsafeRawPointer,
      _ read: (UnsafeRawBufferPointer, _ value: () -> Any) -> TaskBehaviours.Behaviour
    ) -> TaskBehaviours.Behaviour? {
      guard let value = place.assumingMemoryBound(to: Self.self).pointee[number] else { return nil }
      return withUnsafeBytes(of: value) { read($0, { value }) }
    }

    fileprivate static func change(
      _ number: Int, in place: UnsafeMutableRawPointer, _ change: (UnsafeMutableRawBufferPointer) -> Bool?
    ) -> Bool? {
      let table = place.assumingMemoryBound(to: Self.self)
      guard let index = table.pointee.index(forKey: number) else { return nil }
      return withUnsafeMutableBytes(of: &table.pointee.values[index], change)
    }
  }
#endif
