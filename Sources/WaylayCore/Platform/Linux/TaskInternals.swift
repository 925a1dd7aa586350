#if CORELIBS_FOUNDATION
  import Dispatch
  import Foundation

  /// The properties of a session task that are not public. Only this type, and the files `TaskInternals+…`, look inside
  /// Foundation.
  ///
  /// A load reads stored properties that are constants, or that are written before the task is resumed, so nothing
  /// races. If a property is missing on some toolchain, the load fails with `WaylayError.foundationChanged`.
  package enum TaskInternals {
    /// The queue on which the task's client may be called (P1).
    ///
    /// `task.resume()` would reach it through public API (P21), but it takes a quarter longer with 64 loads in flight,
    /// and it would undo a `suspend()` of the app that comes between looking at the task's state and calling it.
    static func workQueue(of task: URLSessionTask) throws -> DispatchQueue {
      try layout(of: task).workQueue?.read(from: task) ?? property("workQueue", of: task)
    }

    /// The queue on which a task guards its public properties.
    static func syncQueue(of task: URLSessionTask) throws -> DispatchQueue {
      try layout(of: task).syncQueue?.read(from: task) ?? property("syncQ", of: task)
    }

    /// The session the task belongs to.
    static func session(of task: URLSessionTask) throws -> URLSession {
      guard let offset = layout(of: task).sessionOffset else { return try property("session", of: task) }
      // The task is alive for as long as this call, and keeps the object. Its type is a protocol that cannot be named.
      let stored = withExtendedLifetime(task) {
        (Unmanaged.passUnretained(task).toOpaque() + offset).assumingMemoryBound(to: AnyObject?.self).pointee
      }
      return try stored as? URLSession ?? property("session", of: task)
    }

    /// The work queue of a session, which all its tasks' queues target; `nil` if it is not found.
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

    /// The receiver of a task's events. Call it on the work queue (P4).
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

    /// The receiver of a task's events.
    enum Listener {
      /// The task's delegate, or else the session's.
      case delegate
      /// A completion handler.
      case handler
      /// The caller of an `async` function, and the delegate that was named in the call (P25).
      case caller((any URLSessionTaskDelegate)?)
    }

    // MARK: The end of a task

    /// Makes `resume()` of an ended task a no-op; on the work queue, right before the client's last call.
    ///
    /// From that call until the app's queue has run its handler, a task is running and has no protocol object. A
    /// `resume()` then fails the task again, and if the task leaves its session's table meanwhile, that traps (P31).
    /// With a count of suspensions that no app undoes, `resume()` does nothing. `state` is unchanged.
    static func close(_ task: URLSessionTask) {
      guard closesTasks else { return }
      suspendCount?.write(closedCount, into: task)
    }

    /// Whether `close(_:)` has an effect; determined once, on a task that belongs to no session. If not, tasks behave
    /// as without Waylay.
    static let closesTasks: Bool = {
      guard let suspendCount else { return false }
      let probe = URLSessionTask()
      guard child("suspendCount", ofTask: probe) as? Int == 1 else { return false }
      suspendCount.write(closedCount, into: probe)
      return child("suspendCount", ofTask: probe) as? Int == closedCount
    }()

    /// Far from 0, and from the maximum, at which `suspend()` traps.
    private static let closedCount = 1 << 40
    private static let suspendCount = StoredProperty<Int>("suspendCount")

    /// Whether Foundation resumes the caller of an `async` function on the work queue (P34), not on the delegate queue.
    static let tellsInline = StoredProperty<Bool>("_callCompletionHandlerInline")

    /// Makes the caller of a task's `async` function resume off the work queue; at the beginning of `startLoading`, before
    /// a cancellation can end the task.
    ///
    /// - Returns: `nil` if the handler is not replaced: because cancelling does not wait for the queue, because the call
    ///   has a delegate, which must be called first, or because the session's table is not as expected. In the last two
    ///   cases the caller resumes on the delegate queue.
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

    /// Whether every property was at its expected place, on the first task of a session.
    static var readsStored: Bool { layout.withLock { $0?.isComplete } ?? false }

    /// An offset error in bytes, by which a test shows that a changed layout is detected.
    static let misplacement = Locked(0)
  }

  /// A property of a task or a session that is not public, and is read and written at its offset.
  struct StoredProperty<Value>: Sendable {
    let offset: Int

    /// `nil` if the class has no such property, or one of another type.
    init?(_ name: String, in type: AnyClass = URLSessionTask.self) {
      guard let place = storedPlace(of: name, in: type), place.type == Value.self else { return nil }
      offset = place.offset
    }

    /// Must be called on the queue on which Foundation reads the property.
    func read(from owner: AnyObject) -> Value {
      // The owner is alive during this call, and the stored value has this type.
      withExtendedLifetime(owner) {
        (Unmanaged.passUnretained(owner).toOpaque() + offset).assumingMemoryBound(to: Value.self).pointee
      }
    }

    /// Must be called on the queue on which Foundation writes the property.
    func write(_ value: Value, into owner: AnyObject) {
      // The owner is alive during this call, and the stored value has this type.
      (Unmanaged.passUnretained(owner).toOpaque() + offset).assumingMemoryBound(to: Value.self).pointee = value
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

    /// Handles the end of the task; on the work queue.
    func end(_ resume: @escaping @Sendable () -> Void) {
      if keeps { kept = resume } else { DispatchQueue.global().async(execute: resume) }
    }
  }

  extension PlatformProtocol {
    /// The first call in `startLoading`: takes over the caller of an `async` function.
    final func begin() {
      caller = task.flatMap(TaskInternals.caller)
    }
  }

  /// The table of a session's actions at the end of its tasks, by task number. Its types cannot be named.
  struct TaskBehaviours: Sendable {
    private let registryOffset: Int
    private let tableOffset: Int
    /// Safe: a metatype is a constant.
    nonisolated(unsafe) private let table: any BehaviourTable.Type
    /// The cases met so far, by their tag. Reflection on one takes 10 to 30 µs, more than the rest of a load.
    private let known = Locked([KnownCase?](repeating: nil, count: Int(UInt8.max) + 1))

    /// The action of a session at the end of a task.
    struct Behaviour {
      /// The name of the case; `nil` for a case without associated values.
      var name: String?
      /// The delegate that was named in the call (P25).
      var delegate: (any URLSessionTaskDelegate)?
    }

    /// A case whose layout is known.
    private enum KnownCase {
      case plain(String?)
      case withDelegate(String, Handler?)
    }

    // A function in a struct has the form that it has in the enumeration. Read through a pointer to its type alone, or as
    // the field of a generic struct, it would be taken for one of another calling convention.
    private struct DataHandler { var call: @Sendable (Data?, URLResponse?, (any Error)?) -> Void }
    private struct DownloadHandler { var call: @Sendable (URL?, URLResponse?, (any Error)?) -> Void }

    /// The offset of the delegate in a case, behind the two words of the handler.
    private static let delegateOffset = 2 * MemoryLayout<UnsafeRawPointer>.size

    /// The kind of a case's handler.
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

    /// `nil` if sessions have no such table.
    init?() {
      guard let registry = storedPlace(of: "taskRegistry", in: URLSession.self),
        let registryType = registry.type as? AnyClass,
        let table = storedPlace(of: "behaviours", in: registryType), let type = table.type as? any BehaviourTable.Type
      else { return nil }
      (registryOffset, tableOffset, self.table) = (registry.offset, table.offset, type)
    }

    /// Call it on the work queue (P4). `nil` when the session does not know the task.
    func behaviour(of task: URLSessionTask, in session: URLSession) -> Behaviour? {
      entry(of: task, in: session) { bytes, value in
        stored(in: UnsafeRawBufferPointer(bytes)) ?? reflected(value(), in: UnsafeRawBufferPointer(bytes))
      }
    }

    /// Replaces the handler of a call without a delegate; on the work queue.
    func replaceHandler(of task: URLSessionTask, in session: URLSession, with caller: TaskCaller) -> Bool {
      // The first reflection on a case learns how its values are stored.
      let replace = { entry(of: task, in: session) { bytes, _ in replaceHandler(in: bytes, with: caller) } ?? nil }
      return replace() ?? (behaviour(of: task, in: session) == nil ? nil : replace()) ?? false
    }

    private func entry<Result>(
      of task: URLSessionTask, in session: URLSession,
      _ body: (UnsafeMutableRawBufferPointer, _ value: () -> Any) -> Result
    ) -> Result? {
      // The session is alive for as long as this call, and its registry as long as the session.
      withExtendedLifetime(session) {
        let registry = (Unmanaged.passUnretained(session).toOpaque() + registryOffset)
          .load(as: UnsafeMutableRawPointer.self)
        return table.entry(task.taskIdentifier, in: registry + tableOffset, body)
      }
    }

    /// - Returns: `nil` if the layout of the case is unknown.
    private func replaceHandler(in bytes: UnsafeMutableRawBufferPointer, with caller: TaskCaller) -> Bool? {
      guard let place = bytes.baseAddress, let tag = bytes.last, let known = known.withLock({ $0[Int(tag)] }) else {
        return nil
      }
      guard case .withDelegate(_, let handler?) = known,
        (place + Self.delegateOffset).load(as: UnsafeRawPointer?.self) == nil
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

    /// The number of cases whose layout is known, for the test of the platform's facts.
    var knownCount: Int { known.withLock { $0.count { $0 != nil } } }

    /// Whether a session's table is stored where reflection finds it. Call it on the work queue (P4).
    func isStored(_ registry: Any?, in session: URLSession) -> Bool {
      guard let registry, case let object = registry as AnyObject,
        WaylayCore.isStored(object, at: registryOffset, in: session)
      else { return false }
      let place = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()) + tableOffset
      let value = Mirror(reflecting: registry).children.first { $0.label == "behaviours" }?.value
      return (value as? any BehaviourTable)?.isStored(at: place) ?? false
    }

    // MARK: As it is stored

    /// The behavior, read from its bytes. The last byte is the tag, which identifies the case; the associated values
    /// come first.
    private func stored(in bytes: UnsafeRawBufferPointer) -> Behaviour? {
      guard let tag = bytes.last, let known = known.withLock({ $0[Int(tag)] }) else { return nil }
      switch known {
      case .plain(let name): return Behaviour(name: name)
      case .withDelegate(let name, _):
        let delegate = bytes.load(fromByteOffset: Self.delegateOffset, as: (any URLSessionTaskDelegate)?.self)
        return Behaviour(name: name, delegate: delegate)
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

    /// The behavior by reflection, for a table that is not at its expected offset.
    static func reflected(_ number: Int, _ table: Any?) -> Behaviour? {
      (table as? any BehaviourTable)?.value(of: number).map { reflected($0).0 }
    }

    /// Records the layout of a case, if it is as expected: two parts of two words, a handler and a delegate, or no
    /// delegate at all; then the tag.
    private func learn(_ behaviour: Behaviour, parts: [Any], in bytes: UnsafeRawBufferPointer) {
      guard let tag = bytes.last, bytes.count == 2 * Self.delegateOffset + 1 else { return }
      func size<Value>(_: Value) -> Int { MemoryLayout<Value>.size }
      let sizes = parts.map { _openExistential($0, do: size) }
      if let name = behaviour.name, sizes == [Self.delegateOffset, Self.delegateOffset],
        type(of: parts[1]) == (any URLSessionTaskDelegate)?.self
      {
        let delegate = behaviour.delegate.map { Unmanaged.passUnretained($0 as AnyObject).toOpaque() }
        guard bytes.load(fromByteOffset: Self.delegateOffset, as: UnsafeMutableRawPointer?.self) == delegate else {
          return
        }
        known.withLock { $0[Int(tag)] = .withDelegate(name, Handler(type(of: parts[0]))) }
      } else if parts.isEmpty {
        known.withLock { $0[Int(tag)] = .plain(behaviour.name) }
      }
    }
  }

  /// A dictionary whose value type cannot be named, asked by number without converting it.
  private protocol BehaviourTable {
    func value(of number: Int) -> Any?
    /// Whether this very table is at a place.
    func isStored(at place: UnsafeRawPointer) -> Bool
    /// Calls `body` with the place of a value, and with the value itself, which takes longer. `nil` if there is none.
    static func entry<Result>(
      _ number: Int, in place: UnsafeMutableRawPointer,
      _ body: (UnsafeMutableRawBufferPointer, _ value: () -> Any) -> Result
    ) -> Result?
  }

  extension Dictionary: BehaviourTable where Key == Int {
    fileprivate func value(of number: Int) -> Any? { self[number] }

    fileprivate func isStored(at place: UnsafeRawPointer) -> Bool {
      withUnsafeBytes(of: self) { $0.load(as: UnsafeRawPointer.self) } == place.load(as: UnsafeRawPointer.self)
    }

    fileprivate static func entry<Result>(
      _ number: Int, in place: UnsafeMutableRawPointer,
      _ body: (UnsafeMutableRawBufferPointer, _ value: () -> Any) -> Result
    ) -> Result? {
      let table = place.assumingMemoryBound(to: Self.self)
      guard let index = table.pointee.index(forKey: number) else { return nil }
      return withUnsafeMutablePointer(to: &table.pointee.values[index]) { value in
        body(UnsafeMutableRawBufferPointer(start: value, count: MemoryLayout<Value>.size)) { value.pointee }
      }
    }
  }
#endif
