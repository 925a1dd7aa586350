#if canImport(FoundationNetworking)
  import Foundation

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
      case withDelegate(String, offset: Int)
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

    /// How many cases are read where they are stored by now, for the test of the platform's facts.
    var knownCount: Int { known.withLock { $0.count { $0 != nil } } }

    // MARK: As it is stored

    /// The tag is the last byte: it says which case it is, and its values come first.
    private func stored(in bytes: UnsafeRawBufferPointer) -> Behaviour? {
      guard let tag = bytes.last, let known = known.withLock({ $0[Int(tag)] }) else { return nil }
      switch known {
      case .plain(let name): return Behaviour(name: name)
      case .withDelegate(let name, let offset):
        return Behaviour(
          name: name, delegate: bytes.load(fromByteOffset: offset, as: (any URLSessionTaskDelegate)?.self))
      }
    }

    // MARK: By reflection

    private func reflected(_ value: Any, in bytes: UnsafeRawBufferPointer) -> Behaviour {
      let payload = Mirror(reflecting: value).children.first
      let parts = payload.map { Array(Mirror(reflecting: $0.value).children) } ?? []
      let delegates = parts.compactMap { $0.value as? (any URLSessionTaskDelegate)? }
      let behaviour = Behaviour(name: payload?.label, delegate: delegates.last ?? nil)
      learn(behaviour, parts: parts.map(\.value), in: bytes)
      return behaviour
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
        known.withLock { $0[Int(tag)] = .withDelegate(name, offset: 2 * word) }
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
    /// Shows how a value is stored, and the value itself to who asks for it, which takes longer.
    static func behaviour(
      of number: Int, in place: UnsafeRawPointer,
      _ read: (UnsafeRawBufferPointer, _ value: () -> Any) -> TaskBehaviours.Behaviour
    ) -> TaskBehaviours.Behaviour?
  }

  extension Dictionary: BehaviourTable where Key == Int {
    fileprivate static func behaviour(
      of number: Int, in place: UnsafeRawPointer,
      _ read: (UnsafeRawBufferPointer, _ value: () -> Any) -> TaskBehaviours.Behaviour
    ) -> TaskBehaviours.Behaviour? {
      guard let value = place.assumingMemoryBound(to: Self.self).pointee[number] else { return nil }
      return withUnsafeBytes(of: value) { read($0, { value }) }
    }
  }
#endif
