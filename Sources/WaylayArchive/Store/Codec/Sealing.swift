import Foundation

/// Prepares bytes for the disk: compression, encryption (AES-GCM, NIST SP 800-38D) and a checksum, in this order.
struct Sealing: Sendable {
  /// The kind and the place of sealed bytes. It is authenticated with them, so that no piece passes for another.
  struct Context {
    var file: UInt64
    var index: UInt64

    static func head(_ file: UInt64) -> Context { Context(file: file, index: .max) }

    var seed: UInt64 { Checksum.seed(file, index) }
    var bytes: [UInt8] { file.bytes + index.bytes }
  }

  /// `nil` when nothing is encrypted.
  private let cipher: Cipher?

  init(key: EncryptionKey? = nil, archive: [UInt8] = []) { cipher = key.map { Cipher($0, archive: archive) } }

  /// Identifies the key without revealing it.
  var fingerprint: [UInt8] { cipher?.fingerprint ?? [UInt8](repeating: 0, count: 16) }

  /// A key for digests, derived from the encryption key; `nil` when nothing is encrypted.
  var digestKey: [UInt8]? { cipher?.digestKey }

  func sealed(_ bytes: [UInt8], _ context: Context, digest: [UInt8]) throws -> [UInt8] {
    guard let cipher else { return bytes }
    return Array(try cipher.sealed(bytes, authenticating: digest + context.bytes))
  }

  func opened(_ bytes: ArraySlice<UInt8>, _ context: Context, digest: [UInt8]) -> ArraySlice<UInt8>? {
    guard let cipher else { return bytes }
    return cipher.opened(bytes, authenticating: digest + context.bytes).map { ArraySlice($0) }
  }

  /// Seals a chunk for its file.
  func sealed(
    chunk: Data, compressing: Bool, _ context: Context, digest: [UInt8]
  ) throws -> (bytes: Data, chunk: BodyChunk) {
    // Compression has to save an eighth.
    let room = chunk.count - chunk.count / 8
    let compressed = compressing && chunk.count >= 64 ? Deflate.compressed(chunk, room: room) : nil
    var bytes = compressed ?? chunk
    if let cipher { bytes = try cipher.sealed(bytes, authenticating: digest + context.bytes) }
    let check = bytes.withUnsafeBytes { Checksum.of($0, seed: context.seed) }
    return (
      bytes,
      BodyChunk(
        stored: UInt32(truncatingIfNeeded: bytes.count), plain: UInt32(truncatingIfNeeded: chunk.count), check: check,
        isCompressed: compressed != nil)
    )
  }

  /// Whether the lengths of a chunk are possible under this sealing, so that a damaged one does not exceed the reader's
  /// buffer.
  func canBe(_ chunk: BodyChunk) -> Bool {
    let most = Int(chunk.plain) + (cipher == nil ? 0 : Cipher.overhead)
    return chunk.plain <= UInt32(BodyChunk.size)
      && (chunk.isCompressed ? Int(chunk.stored) < most : Int(chunk.stored) == most)
  }

  /// Opens a sealed chunk; `nil` if it is damaged.
  func opened(chunk bytes: Data, _ chunk: BodyChunk, _ context: Context, digest: [UInt8]) -> Data? {
    let check = bytes.withUnsafeBytes { Checksum.of($0, seed: context.seed) }
    guard bytes.count == Int(chunk.stored), check == chunk.check else { return nil }
    var plain: Data? = bytes
    if let cipher { plain = cipher.opened(bytes, authenticating: digest + context.bytes) }
    if chunk.isCompressed { plain = plain.flatMap { Deflate.inflated($0, limit: Int(chunk.plain)) } }
    return plain?.count == Int(chunk.plain) ? plain : nil
  }
}

/// A piece of a stored body: its length, its length in the file, and its checksum.
struct BodyChunk: Hashable, Sendable {
  /// The length of a full chunk, before compression and encryption.
  static let size = 64 * 1024

  /// The length in the file.
  var stored: UInt32
  /// The length before compression and encryption.
  var plain: UInt32
  /// The checksum of the bytes in the file.
  var check: UInt64
  var isCompressed: Bool
}

/// The stored head of an entry: its key, its listed properties, the head of its owner, and the chunks of its body.
struct HeadBlock: Hashable, Sendable {
  private static let version: UInt8 = 1

  var key: ArchiveKey
  var details: EntryDetails
  var head: [UInt8]
  var chunks: [BodyChunk]

  var bodyLength: Int64 { chunks.reduce(0) { $0 + Int64($1.plain) } }
  var storedBodyLength: Int64 { chunks.reduce(0) { $0 + Int64($1.stored) } }

  func encoded() -> [UInt8] {
    var sink = ByteSink()
    sink.put(Self.version)
    sink.put(key.bytes)
    sink.put(key.partition.bytes)
    sink.put(details.url)
    sink.put(details.host)
    sink.put(Int32(truncatingIfNeeded: details.status))
    sink.put(details.mediaType)
    sink.put(details.stored.timeIntervalSince1970.bitPattern)
    sink.put(UInt8(details.isPinned ? 1 : 0))
    sink.put(UInt32(truncatingIfNeeded: details.tags.count))
    for tag in details.tags.sorted() { sink.put(tag) }
    sink.put(head)
    sink.put(UInt32(truncatingIfNeeded: chunks.count))
    for chunk in chunks {
      sink.put(chunk.stored | (chunk.isCompressed ? 1 << 31 : 0))
      sink.put(chunk.plain)
      sink.put(chunk.check)
    }
    return sink.bytes
  }
}

extension HeadBlock {
  /// Decodes a block from ``encoded()``; `nil` if the bytes are invalid.
  init?(decoding bytes: ArraySlice<UInt8>) {
    var source = ByteSource(bytes)
    guard source.number(UInt8.self) == Self.version,
      let key = source.counted(), let partition = source.counted(), let url = source.text(), let host = source.text(),
      let status = source.number(Int32.self), let mediaType = source.text(), let stored = source.number(UInt64.self),
      let isPinned = source.number(UInt8.self), let tagCount = source.number(UInt32.self)
    else { return nil }
    var tags: Set<String> = []
    for _ in 0..<tagCount {
      guard let tag = source.text() else { return nil }
      tags.insert(tag)
    }
    // Sixteen bytes for each chunk: a damaged count must not allocate memory.
    guard let head = source.counted(), let count = source.number(UInt32.self), source.remaining == Int(count) * 16
    else { return nil }
    var chunks: [BodyChunk] = []
    for _ in 0..<count {
      guard let stored = source.number(UInt32.self), let plain = source.number(UInt32.self),
        let check = source.number(UInt64.self), plain > 0, plain <= UInt32(BodyChunk.size)
      else { return nil }
      chunks.append(BodyChunk(stored: stored & ~(1 << 31), plain: plain, check: check, isCompressed: stored >> 31 == 1))
    }
    self.init(
      key: ArchiveKey(bytes: key, partition: ArchivePartition(bytes: partition)),
      details: EntryDetails(
        url: url, host: host, status: Int(status), mediaType: mediaType,
        stored: Date(timeIntervalSince1970: Double(bitPattern: stored)), tags: tags, isPinned: isPinned != 0),
      head: head, chunks: chunks)
  }
}
