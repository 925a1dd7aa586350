#if CORELIBS_FOUNDATION
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
