#if canImport(FoundationNetworking)
  import Dispatch
  import Foundation

  /// What the public interface of a session task does not show, read by reflection: this is the only place that looks inside Foundation.
  ///
  /// Positions are looked up once, on a task that belongs to no session; a load then reads one stored property by position, a constant
  /// or one that is written before the task is resumed, so nothing races. Where a property is missing on some toolchain, the load fails with
  /// ``WaylayError/Code/foundationChanged``.
  enum TaskInternals {
    /// The queue on which the task's client may be called (P1).
    ///
    /// `task.resume()` would be a public way there (P21), but it takes a quarter longer with 64 loads in flight, and it would undo a
    /// `suspend()` of the app that comes between looking at the task's state and calling it.
    static func workQueue(of task: URLSessionTask) throws -> DispatchQueue {
      try property("workQueue", at: workQueuePosition, of: task)
    }

    /// The session the task belongs to.
    static func session(of task: URLSessionTask) throws -> URLSession {
      try property("session", at: sessionPosition, of: task)
    }

    /// The body of an upload task, which its request does not carry (P9). `nil` when the session's delegate is to be asked for a stream.
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

    /// Whether the task hands its chunks to the session's delegate. Call it on the work queue (P4).
    ///
    /// A task with a completion handler has a delegate too, the session's, but keeps its body for the handler.
    static func callsDelegate(_ task: URLSessionTask) throws -> Bool {
      guard let registry = child("taskRegistry", of: try session(of: task)),
        let behaviours = child("behaviours", of: registry) as? any DictionaryByInt,
        let behaviour = behaviours.value(for: task.taskIdentifier)
      else { throw changed("URLSession.taskRegistry.behaviours") }
      // A case without a payload has no children: `callDelegate` is the only one.
      return Mirror(reflecting: behaviour).children.isEmpty
    }

    // MARK: Reflection

    private static let workQueuePosition = position(of: "workQueue")
    private static let sessionPosition = position(of: "session")
    private static let bodyPosition = position(of: "knownBody")

    private static func position(of name: String) -> Int? {
      Mirror(reflecting: URLSessionTask()).children.enumerated().first { $0.element.label == name }?.offset
    }

    private static func property<Value>(_ name: String, at position: Int?, of task: URLSessionTask) throws -> Value {
      var mirror: Mirror? = Mirror(reflecting: task)
      while let level = mirror, level.subjectType != URLSessionTask.self { mirror = level.superclassMirror }
      guard let position, let children = mirror?.children, position < children.count else {
        throw changed("URLSessionTask.\(name)")
      }
      let child = children[children.index(children.startIndex, offsetBy: position)]
      guard child.label == name, let value = child.value as? Value else { throw changed("URLSessionTask.\(name)") }
      return value
    }

    private static func child(_ name: String, of object: Any) -> Any? {
      Mirror(reflecting: object).children.first { $0.label == name }?.value
    }

    private static func changed(_ place: String) -> WaylayError {
      WaylayError(
        .foundationChanged,
        "\(place) is not what this version of Waylay knows of Foundation on Linux: update Waylay, or use the toolchain it was tested with (see the README). The direct way, registry.data(for:), does not depend on it."
      )
    }
  }

  /// A dictionary whose value type cannot be named, asked by number without converting it.
  private protocol DictionaryByInt {
    func value(for number: Int) -> Any?
  }

  extension Dictionary: DictionaryByInt where Key == Int {
    fileprivate func value(for number: Int) -> Any? { self[number] }
  }
#endif
