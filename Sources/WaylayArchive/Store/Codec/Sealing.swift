import Foundation

/// What stands between bytes and the disk: compression, encryption (AES-GCM, NIST SP 800-38D) and the checksum, in that
/// order.
struct Sealing: Sendable {
  /// What bytes are and where they belong. Part of what is authenticated, so that no piece passes for another.
  struct Context {
    var file: UInt64
    var index: UInt64

    static func head(_ file: UInt64) -> Context { Context(file: file, index: .max) }

    var seed: UInt64 { Checksum.seed(file, index) }
    var bytes: [UInt8] {
      var sink = ByteSink()
      sink.put(file)
      sink.put(index)
      return sink.bytes
    }
  }

  /// `nil` when nothing is encrypted.
  private let cipher: Cipher?

  var isEncrypting: Bool { cipher != nil }
  /// The bytes that encryption adds to a piece.
  var overhead: Int { cipher == nil ? 0 : Cipher.overhead }

  init(key: EncryptionKey? = nil, archive: [UInt8] = []) {
    cipher = key.map { Cipher($0, archive: archive) }
  }

  /// What tells the key from another without giving it away.
  var fingerprint: [UInt8] { cipher?.fingerprint ?? [UInt8](repeating: 0, count: 16) }

  func sealed(_ bytes: [UInt8], _ context: Context, digest: [UInt8]) throws -> [UInt8] {
    guard let cipher else { return bytes }
    return Array(try cipher.sealed(bytes, authenticating: digest + context.bytes))
  }

  func opened(_ bytes: ArraySlice<UInt8>, _ context: Context, digest: [UInt8]) -> ArraySlice<UInt8>? {
    guard let cipher else { return bytes }
    return cipher.opened(bytes, authenticating: digest + context.bytes).map { ArraySlice($0) }
  }

  /// A chunk as it goes to the file.
  func sealed(
    chunk: Data, compressing: Bool, _ context: Context, digest: [UInt8]
  ) throws -> (bytes: Data, chunk: BodyChunk) {
    let compressed = compressing ? Deflate.compressed(chunk) : nil
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

  /// Whether a chunk can be one that was written under this sealing: no length of it exceeds what its reader has room
  /// for.
  func canBe(_ chunk: BodyChunk) -> Bool {
    let most = Int(chunk.plain) + overhead
    return chunk.plain <= UInt32(BodyChunk.size)
      && (chunk.isCompressed ? Int(chunk.stored) < most : Int(chunk.stored) == most)
  }

  /// Whether bytes of a file are the chunk that was written.
  static func isIntact(_ bytes: UnsafeRawBufferPointer, _ chunk: BodyChunk, _ context: Context) -> Bool {
    bytes.count == Int(chunk.stored) && Checksum.of(bytes, seed: context.seed) == chunk.check
  }

  /// The chunk as it was given, or `nil` when that is not what is in the file.
  func opened(chunk bytes: Data, _ chunk: BodyChunk, _ context: Context, digest: [UInt8]) -> Data? {
    guard bytes.withUnsafeBytes({ Self.isIntact($0, chunk, context) }) else { return nil }
    var plain = bytes
    if let cipher {
      guard let opened = cipher.opened(bytes, authenticating: digest + context.bytes) else { return nil }
      plain = opened
    }
    if chunk.isCompressed {
      guard let inflated = Deflate.inflated(plain, length: Int(chunk.plain)) else { return nil }
      plain = inflated
    }
    return plain.count == Int(chunk.plain) ? plain : nil
  }
}
