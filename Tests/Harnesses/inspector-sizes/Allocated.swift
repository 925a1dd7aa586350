import Foundation

#if canImport(Glibc) && !canImport(Darwin)
  import Glibc
#endif

/// The bytes that this process has allocated and not freed, as its allocator says: what an account can be compared
/// with. What is resident has also what was freed, and waits to be used again.
///
/// - Returns: `nil` where the allocator is not that of glibc.
func allocatedBytes() -> Int? {
  #if canImport(Glibc) && !canImport(Darwin)
    // Its header does not show it to Swift.
    typealias Report = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
    guard let symbol = dlsym(nil, "malloc_info"), let file = tmpfile() else { return nil }
    defer { fclose(file) }
    guard unsafeBitCast(symbol, to: Report.self)(0, file) == 0 else { return nil }
    rewind(file)
    var text = Data()
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while case let count = fread(&piece, 1, piece.count, file), count > 0 { text.append(contentsOf: piece[..<count]) }
    // Those of all arenas together come last.
    func size(_ type: String) -> Int? {
      let line = String(decoding: text, as: UTF8.self).split(separator: "\n").last { $0.contains("type=\"\(type)\"") }
      return line?.split(separator: "\"").last { Int($0) != nil }.flatMap { Int($0) }
    }
    guard let all = size("current"), let mapped = size("mmap"), let free = size("rest"), let quick = size("fast") else {
      return nil
    }
    return all + mapped - free - quick
  #else
    return nil
  #endif
}
