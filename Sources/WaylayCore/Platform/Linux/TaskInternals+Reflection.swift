#if CORELIBS_FOUNDATION
  import Dispatch
  import Foundation
  @_spi(Reflection) import Swift

  extension TaskInternals {
    /// The properties that a class declares, in an object of that class or of a subclass.
    static func level(of type: AnyClass, in object: Any) -> Mirror? {
      var mirror: Mirror? = Mirror(reflecting: object)
      while let level = mirror, level.subjectType != type { mirror = level.superclassMirror }
      return mirror
    }

    static func child(_ name: String, ofTask task: URLSessionTask) -> Any? {
      child(name, at: level(of: URLSessionTask.self, in: task))
    }

    /// The properties that can be read at their offsets. Reflection finds each other property, in some
    /// microseconds.
    ///
    /// Name, type and size do not show how a property is stored: a weak reference looks like a strong one. So each
    /// stored value is compared with the result of reflection, once per process, on the first task of a session.
    final class Layout: Sendable {
      let workQueue: StoredProperty<DispatchQueue>?
      let syncQueue: StoredProperty<DispatchQueue>?
      let sessionOffset: Int?
      let behaviours: TaskBehaviours?

      init(of task: URLSessionTask, in session: URLSession?) {
        func queue(_ name: String) -> StoredProperty<DispatchQueue>? {
          guard let place = StoredProperty<DispatchQueue>(name) else { return nil }
          return isStored(child(name, ofTask: task) as? DispatchQueue, at: place.offset, in: task) ? place : nil
        }
        (workQueue, syncQueue) = (queue("workQueue"), queue("syncQ"))
        let place = storedPlace(of: "session", in: URLSessionTask.self)
        sessionOffset = place.map { $0.offset + misplacement.withLock { $0 } }.flatMap {
          isStored(session, at: $0, in: task) ? $0 : nil
        }
        behaviours = session.flatMap { session in
          TaskBehaviours().flatMap {
            $0.isStored(child("taskRegistry", at: level(of: URLSession.self, in: session)), in: session) ? $0 : nil
          }
        }
      }

      var isComplete: Bool { workQueue != nil && syncQueue != nil && sessionOffset != nil && behaviours != nil }
    }

    /// Names that are treated as missing, for the tests of losses.
    static let renamed = Locked<Set<String>>([])

    static let hasFailed = Locked(false)

    /// A property that every load needs.
    static func property<Value>(_ name: String, of task: URLSessionTask) throws -> Value {
      guard let child = child(name, ofTask: task), let value = child as? Value else {
        throw changed("URLSessionTask.\(name)")
      }
      return value
    }

    static func child(_ name: String, at level: Mirror?) -> Any? {
      guard !renamed.withLock({ $0.contains(name) }) else { return nil }
      return level?.children.first { $0.label == name }?.value
    }

    /// - Parameter isEssential: Whether no load can be intercepted without it.
    static func changed(_ place: String, isEssential: Bool = true) -> WaylayError {
      if isEssential { hasFailed.withLock { $0 = true } }
      return WaylayError(
        .foundationChanged,
        "\(place) differs from what this version of Waylay expects of Foundation on Linux: update Waylay, or use the "
          + "toolchain it was tested with (see the README). Direct loads, registry.data(for:), are not affected."
      )
    }

    // MARK: The report

    /// The state of interception, as far as the loads so far have shown.
    static var report: InterceptionReport {
      InterceptionReport(canIntercept: findsEssentials && !hasFailed.withLock { $0 }, losses: losses)
    }

    private static let findsEssentials = ["workQueue", "session", "knownBody"].allSatisfy {
      storedPlace(of: $0, in: URLSessionTask.self) != nil
    }

    /// The losses from missing properties that not every load needs.
    private static let losses: [String] = [
      findsListeners ? nil : "data(for:delegate:) ignores its delegate, download tasks and data delegates fail",
      closesTasks ? nil : "a resume() that crosses the end of a task may end the process (P31)",
      tellsInline == nil ? "a cancellation that crosses the end of an async call may stop all sessions (P34)" : nil,
      servesDownloads ? nil : "download tasks fail",
      TaskRecord.known == nil ? "error, currentRequest and the counts of a task stay as they were (P33)" : nil,
      SessionParts.known != nil ? nil : "bytes(for:) of a session fails",
      findsTasks ? nil : "a mocked scope that ends does not wait for the tasks of its session",
    ].compactMap { $0 }

    /// Whether the receiver of a task's events can be read.
    static let findsListeners = TaskBehaviours() != nil

    private static let findsTasks =
      (storedPlace(of: "taskRegistry", in: URLSession.self)?.type as? AnyClass)
      .flatMap { storedPlace(of: "tasks", in: $0) } != nil
  }

  /// Whether an object stores a strong reference to another one at an offset. The stored word is compared and not
  /// dereferenced: for a weak reference, for example, it is not the address of an object.
  func isStored(_ object: AnyObject?, at offset: Int, in owner: AnyObject) -> Bool {
    guard let object else { return false }
    return withExtendedLifetime((object, owner)) {
      (Unmanaged.passUnretained(owner).toOpaque() + offset).load(as: UnsafeMutableRawPointer?.self)
        == Unmanaged.passUnretained(object).toOpaque()
    }
  }

  /// The offset and the type of a stored property of a class.
  func storedPlace(of name: String, in type: AnyClass) -> (offset: Int, type: Any.Type)? {
    var place: (Int, Any.Type)?
    guard !TaskInternals.renamed.withLock({ $0.contains(name) }) else { return nil }
    // The option for classes; its name is a variable, which strict checks reject.
    _ = _forEachField(of: type, options: _EachFieldOptions(rawValue: 1)) { candidate, offset, type, _ in
      guard String(cString: candidate) == name else { return true }
      place = (offset, type)
      return false
    }
    return place
  }
#endif
