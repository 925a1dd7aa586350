#if CORELIBS_FOUNDATION
  import Dispatch
  import Foundation
  @_spi(Reflection) import Swift

  extension TaskInternals {
    /// What a class has stored in an object of whatever class beneath it.
    static func level(of type: AnyClass, in object: Any) -> Mirror? {
      var mirror: Mirror? = Mirror(reflecting: object)
      while let level = mirror, level.subjectType != type { mirror = level.superclassMirror }
      return mirror
    }

    static func child(_ name: String, ofTask task: URLSessionTask) -> Any? {
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

      init(of task: URLSessionTask, in session: URLSession?) {
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

    /// Names that are not found, for the test of what is lost without them.
    static let renamed = Locked<Set<String>>([])

    static let hasFailed = Locked(false)
    static let workQueuePosition = position(of: "workQueue")
    static let syncQueuePosition = position(of: "syncQ")
    static let sessionPosition = position(of: "session")
    static let bodyPosition = position(of: "knownBody")

    static func position(of name: String) -> Int? {
      guard !renamed.withLock({ $0.contains(name) }) else { return nil }
      return Mirror(reflecting: URLSessionTask()).children.enumerated().first { $0.element.label == name }?.offset
    }

    static func property<Value>(_ name: String, at position: Int?, of task: URLSessionTask) throws -> Value {
      guard let position, let children = level(of: URLSessionTask.self, in: task)?.children, position < children.count
      else {
        throw changed("URLSessionTask.\(name)")
      }
      let child = children[children.index(children.startIndex, offsetBy: position)]
      guard child.label == name, let value = child.value as? Value else { throw changed("URLSessionTask.\(name)") }
      return value
    }

    static func child(_ name: String, at level: Mirror?) -> Any? {
      guard !renamed.withLock({ $0.contains(name) }) else { return nil }
      return level?.children.first { $0.label == name }?.value
    }

    static func changed(_ place: String) -> WaylayError {
      hasFailed.withLock { $0 = true }
      return WaylayError(
        .foundationChanged,
        "\(place) differs from what this version of Waylay expects of Foundation on Linux: update Waylay, or use the "
          + "toolchain it was tested with (see the README). Direct loads, registry.data(for:), are not affected."
      )
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
