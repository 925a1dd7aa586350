import Foundation

/// What the process holds, as the kernel of Linux tells it; `nil` where there is no `/proc`.
enum Measurements {
  /// Bytes of resident memory.
  static var residentBytes: Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
    let fields = text.split(separator: " ")
    return fields.count > 1 ? Int(fields[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
  }

  /// What the open descriptors lead to, but for timers: Dispatch opens one for each of its clocks when somebody first waits by it.
  static var descriptors: [String]? {
    let folder = "/proc/self/fd"
    // The one that is open while they are listed is gone by the time it is looked at.
    return (try? FileManager.default.contentsOfDirectory(atPath: folder))?.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
    }.filter { $0 != "anon_inode:[timerfd]" }
  }

  /// Whether what is resident is what the program uses: a sanitizer keeps what has been freed.
  static let measuresMemory = dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

  /// Open descriptors, once they are down to so many; or after 10 seconds.
  static func settled(at wanted: Int?) async -> [String]? {
    var now = descriptors
    for _ in 0..<100 {
      guard let count = now?.count, let wanted, count > wanted else { break }
      try? await Task.sleep(for: .milliseconds(100))
      now = descriptors
    }
    return now
  }
}
