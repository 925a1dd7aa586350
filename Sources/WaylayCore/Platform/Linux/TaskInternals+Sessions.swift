#if CORELIBS_FOUNDATION
  import Dispatch
  import Foundation

  /// The parts of a session that another session can be given (U23).
  ///
  /// The tasks of a stand-in are the session's: they are in its list, on its queue and under its numbers, and
  /// `invalidateAndCancel()` of the session cancels them. Unlike the session the stand-in is never invalidated, so making
  /// a task in it cannot end the process (U17), whatever other threads do to the session meanwhile.
  struct SessionParts: Sendable {
    private let references: [(name: String, offset: Int)]
    private let nextNumber: StoredProperty<Int>
    private let isInvalidated: StoredProperty<Bool>

    /// `nil` if sessions have no such parts.
    static let known = SessionParts()

    private init?() {
      references = ["workQueue", "taskRegistry", "multiHandle"].compactMap { name in
        storedPlace(of: name, in: URLSession.self).map { (name, $0.offset) }
      }
      guard references.count == 3, let nextNumber = StoredProperty<Int>("nextTaskIdentifier", in: URLSession.self),
        let isInvalidated = StoredProperty<Bool>("invalidated", in: URLSession.self)
      else { return nil }
      (self.nextNumber, self.isInvalidated) = (nextNumber, isInvalidated)
    }

    /// Makes a new session the stand-in of another one. It must have no task yet.
    func lend(from session: URLSession, to standIn: URLSession) throws {
      for (name, offset) in references {
        let (part, former) = (Self.part(name, of: session), Self.part(name, of: standIn))
        guard let part, isStored(part, at: offset, in: session), isStored(former, at: offset, in: standIn) else {
          throw TaskInternals.changed("URLSession.\(name)", isEssential: false)
        }
        // Strong references, as just seen, which no other thread reads yet.
        (Unmanaged.passUnretained(standIn).toOpaque() + offset).assumingMemoryBound(to: AnyObject.self).pointee = part
      }
    }

    private static func part(_ name: String, of session: URLSession) -> AnyObject? {
      TaskInternals.child(name, at: TaskInternals.level(of: URLSession.self, in: session)).map { $0 as AnyObject }
    }

    /// Makes a task of a session in its stand-in. If the session is invalidated, the task is cancelled.
    func dataTask(
      of session: URLSession, in standIn: URLSession, _ request: URLRequest,
      _ handler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) throws -> URLSessionDataTask {
      guard let queue = TaskInternals.workQueue(of: session) else {
        throw TaskInternals.changed("URLSession.workQueue", isEssential: false)
      }
      queue.sync {
        let number = nextNumber.read(from: session)
        nextNumber.write(number + 1, into: session)
        nextNumber.write(number, into: standIn)
      }
      let task = standIn.dataTask(with: request, completionHandler: handler)
      // The task has been entered into the list on this queue. An invalidation that is not seen here finds it there.
      if queue.sync(execute: { isInvalidated.read(from: session) }) { task.cancel() }
      return task
    }
  }
#endif
