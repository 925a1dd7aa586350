#if !canImport(Darwin)
  import Foundation

  /// The bytes between the two streams of a bound pair. Both ends block.
  ///
  /// Unchecked: guarded by `condition`.
  final class PairBuffer: @unchecked Sendable {
    private let capacity: Int
    private let condition = NSCondition()
    private var bytes = Data()
    private var hasWriter = true
    private var hasReader = true

    init(capacity: Int) {
      self.capacity = capacity
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
      condition.lock()
      defer {
        condition.broadcast()
        condition.unlock()
      }
      return body()
    }

    /// - Returns: How many bytes were written; -1 when nobody reads any more.
    func write(_ data: Data) -> Int {
      locked {
        while hasReader, bytes.count >= capacity { condition.wait() }
        guard hasReader else { return -1 }
        let count = min(data.count, capacity - bytes.count)
        bytes.append(data.prefix(count))
        return count
      }
    }

    /// - Returns: Some bytes; none at the end.
    func read(upTo count: Int) -> Data {
      locked {
        while hasReader, hasWriter, bytes.isEmpty { condition.wait() }
        guard hasReader else { return Data() }
        let read = Data(bytes.prefix(count))
        bytes = Data(bytes.dropFirst(count))
        return read
      }
    }

    /// Whether a reader need not wait.
    var isReadable: Bool { locked { !bytes.isEmpty || !hasWriter || !hasReader } }

    func closeWriter() { locked { hasWriter = false } }
    func closeReader() { locked { hasReader = false } }
  }

  /// The reading end of a pair.
  final class PairInput: InputStream {
    private let buffer: PairBuffer

    init(_ buffer: PairBuffer) {
      self.buffer = buffer
      super.init(data: Data())
    }

    deinit { buffer.closeReader() }

    override func open() {}
    override func close() { buffer.closeReader() }
    override var hasBytesAvailable: Bool { buffer.isReadable }
    override var streamError: (any Error)? { nil }

    override func read(_ bytes: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
      let data = buffer.read(upTo: maxLength)
      data.copyBytes(to: bytes, count: data.count)
      return data.count
    }
  }

  /// The writing end of a pair. One that goes away unclosed is closed, as on Apple platforms.
  final class PairOutput: OutputStream {
    private let buffer: PairBuffer

    init(_ buffer: PairBuffer) {
      self.buffer = buffer
      super.init(toMemory: ())
    }

    required init(toMemory: ()) {
      buffer = PairBuffer(capacity: 0)
      super.init(toMemory: ())
    }

    deinit { buffer.closeWriter() }

    override func open() {}
    override func close() { buffer.closeWriter() }
    override var hasSpaceAvailable: Bool { true }
    override var streamError: (any Error)? { nil }

    override func write(_ bytes: UnsafePointer<UInt8>, maxLength: Int) -> Int {
      buffer.write(Data(bytes: bytes, count: maxLength))
    }
  }

  /// A pair whose app writes when it likes, for tests.
  package struct BoundPair: Sendable {
    private let buffer: PairBuffer

    package static func make() -> (input: InputStream, output: BoundPair) {
      let buffer = PairBuffer(capacity: 1 << 16)
      return (PairInput(buffer), BoundPair(buffer: buffer))
    }

    /// Writes all there is.
    package func write(_ text: String) {
      _ = buffer.write(Data(text.utf8))
      buffer.closeWriter()
    }
  }

  /// A stream that fails after some bytes, for tests.
  package final class FailingInput: InputStream {
    private var left: Int

    package init(after count: Int) {
      left = count
      super.init(data: Data())
    }

    package override func open() {}
    package override func close() {}
    package override var hasBytesAvailable: Bool { true }
    package override var streamError: (any Error)? { CocoaError(.fileReadUnknown) }

    package override func read(_ bytes: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
      guard left > 0 else { return -1 }
      let count = min(left, maxLength)
      left -= count
      bytes.initialize(repeating: 7, count: count)
      return count
    }
  }
#endif
