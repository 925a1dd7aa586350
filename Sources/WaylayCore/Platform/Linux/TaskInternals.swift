#if canImport(FoundationNetworking)
  import Dispatch
  import Foundation

  /// What the public interface of a session task does not show, read by reflection: this is the only place that looks
  /// inside Foundation.
  ///
  /// Positions are looked up once, on a task that belongs to no session; a load then reads one stored property by
  /// position, a constant or one that is written before the task is resumed, so nothing races. Where a property is
  /// missing on some toolchain, the load fails with ``WaylayError/Code/foundationChanged``.
  enum TaskInternals {
    /// The queue on which the task's client may be called (P1).
    ///
    /// `task.resume()` would be a public way there (P21), but it takes a quarter longer with 64 loads in flight, and it
    /// would undo a `suspend()` of the app that comes between looking at the task's state and calling it.
    static func workQueue(of task: URLSessionTask) throws -> DispatchQueue {
      try storedWorkQueue?.read(from: task) ?? property("workQueue", at: workQueuePosition, of: task)
    }

    /// The queue on which a task guards what it shows to other threads.
    static func syncQueue(of task: URLSessionTask) throws -> DispatchQueue {
      try storedSyncQueue?.read(from: task) ?? property("syncQ", at: syncQueuePosition, of: task)
    }

    /// The session the task belongs to.
    static func session(of task: URLSessionTask) throws -> URLSession {
      try storedSession?.read(from: task) as? URLSession ?? property("session", at: sessionPosition, of: task)
    }

    /// The queue of a session, which all its tasks' queues lead to; `nil` where it is not found.
    static func workQueue(of session: URLSession) -> DispatchQueue? {
      child("workQueue", at: level(of: URLSession.self, in: session)) as? DispatchQueue
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

    /// Who hears of a task. Call it on the work queue (P4).
    ///
    /// A task with a completion handler has a delegate too, the session's, but keeps its body for the handler.
    static func listener(to task: URLSessionTask) throws -> Listener {
      guard let behaviours, let behaviour = try behaviours.behaviour(of: task, in: session(of: task)) else {
        throw changed("URLSession.taskRegistry.behaviours")
      }
      switch behaviour.name {
      // A case without a payload: `callDelegate` is the only one.
      case nil: return .delegate
      case "dataCompletionHandler", "downloadCompletionHandler": return .handler
      case "dataCompletionHandlerWithTaskDelegate", "downloadCompletionHandlerWithTaskDelegate":
        return .caller(behaviour.delegate)
      case let other?: throw changed("URLSession.taskRegistry.behaviours.\(other)")
      }
    }

    /// Who hears of a task.
    enum Listener {
      /// The task's delegate, or else the session's.
      case delegate
      /// A completion handler.
      case handler
      /// The caller of an `async` function, and the delegate that was named in the call (P25).
      case caller((any URLSessionTaskDelegate)?)
    }

    private static let behaviours = TaskBehaviours()

    // MARK: The end of a task

    /// Makes a task that is told how it ended deaf to `resume()`; on the work queue, right before the client's last
    /// call.
    ///
    /// From that call until the app has heard it on its own queue, a task counts as going on and has no protocol
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

    // Reflection takes microseconds for each property, and each load looks at several: they are read where they are
    // stored, and by reflection only where their types are others than expected.
    private static let storedWorkQueue = StoredProperty<DispatchQueue>("workQueue")
    private static let storedSyncQueue = StoredProperty<DispatchQueue>("syncQ")
    private static let storedSession = StoredReference(
      "session", ofType: "Swift.Optional<FoundationNetworking.URLSessionProtocol>")
    /// Whether all of them are where they are expected.
    static let readsStored =
      storedWorkQueue != nil && storedSyncQueue != nil && storedSession != nil && behaviours != nil
    private static let workQueuePosition = position(of: "workQueue")
    private static let syncQueuePosition = position(of: "syncQ")
    private static let sessionPosition = position(of: "session")
    private static let bodyPosition = position(of: "knownBody")

    private static func position(of name: String) -> Int? {
      Mirror(reflecting: URLSessionTask()).children.enumerated().first { $0.element.label == name }?.offset
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
      level?.children.first { $0.label == name }?.value
    }

    private static func changed(_ place: String) -> WaylayError {
      WaylayError(
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
      guard let key = Key(rawValue: name) else { return false }
      place.assumingMemoryBound(to: Self.self).pointee[key] = value
      return true
    }
  }
#endif
