import Crypto
import Foundation

/// What stands between bytes and the disk: compression, encryption (AES-GCM, NIST SP 800-38D) and the checksum, in that
/// order.
struct Sealing: Sendable {
  /// What bytes are and where they belong. Part of what is authenticated, so that no piece passes for another.
  struct Place {
    var file: UInt64
    var index: UInt64

    static func head(_ file: UInt64) -> Place { Place(file: file, index: .max) }

    var seed: UInt64 { Checksum.seed(file, index) }
    var bytes: [UInt8] {
      var sink = ByteSink()
      sink.put(file)
      sink.put(index)
      return sink.bytes
    }
  }

  /// The key of this archive, made of the app's key and the archive's own, or `nil` when nothing is encrypted.
  private let key: SymmetricKey?

  var isEncrypting: Bool { key != nil }
  /// The bytes that encryption adds to a piece.
  var overhead: Int { key == nil ? 0 : 28 }

  init(key: SymmetricKey? = nil, archive: [UInt8] = []) {
    self.key = key.map {
      HKDF<SHA256>.deriveKey(
        inputKeyMaterial: $0, salt: archive, info: Data("waylay archive entries".utf8), outputByteCount: 32)
    }
  }

  /// What tells this key from another without giving it away.
  var fingerprint: [UInt8] {
    guard let key else { return [UInt8](repeating: 0, count: 16) }
    return Array(HMAC<SHA256>.authenticationCode(for: Data("waylay archive key".utf8), using: key).prefix(16))
  }

  func sealed(_ bytes: [UInt8], _ place: Place, digest: [UInt8]) throws -> [UInt8] {
    guard let key else { return bytes }
    guard let box = try AES.GCM.seal(bytes, using: key, authenticating: digest + place.bytes).combined else {
      return []
    }
    return Array(box)
  }

  func opened(_ bytes: ArraySlice<UInt8>, _ place: Place, digest: [UInt8]) -> ArraySlice<UInt8>? {
    guard let key else { return bytes }
    guard let box = try? AES.GCM.SealedBox(combined: bytes),
      let plain = try? AES.GCM.open(box, using: key, authenticating: digest + place.bytes)
    else { return nil }
    return ArraySlice(plain)
  }

  /// A chunk as it goes to the file.
  func sealed(chunk: Data, compressing: Bool, _ place: Place, digest: [UInt8]) throws -> (bytes: Data, chunk: BodyChunk)
  {
    let compressed = compressing ? Deflate.compressed(chunk) : nil
    var bytes = compressed ?? chunk
    if let key {
      bytes = try AES.GCM.seal(bytes, using: key, authenticating: digest + place.bytes).combined ?? Data()
    }
    let check = bytes.withUnsafeBytes { Checksum.of($0, seed: place.seed) }
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
  static func isIntact(_ bytes: UnsafeRawBufferPointer, _ chunk: BodyChunk, _ place: Place) -> Bool {
    bytes.count == Int(chunk.stored) && Checksum.of(bytes, seed: place.seed) == chunk.check
  }

  /// The chunk as it was given, or `nil` when that is not what is in the file.
  func opened(chunk bytes: Data, _ chunk: BodyChunk, _ place: Place, digest: [UInt8]) -> Data? {
    guard bytes.withUnsafeBytes({ Self.isIntact($0, chunk, place) }) else { return nil }
    var plain = bytes
    if let key {
      guard let box = try? AES.GCM.SealedBox(combined: bytes),
        let opened = try? AES.GCM.open(box, using: key, authenticating: digest + place.bytes)
      else { return nil }
      plain = opened
    }
    if chunk.isCompressed {
      guard let inflated = Deflate.inflated(plain, length: Int(chunk.plain)) else { return nil }
      plain = inflated
    }
    return plain.count == Int(chunk.plain) ? plain : nil
  }
}
