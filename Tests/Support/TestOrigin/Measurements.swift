import Foundation

/// What the process holds, as the kernel of Linux tells it; `nil` where there is no `/proc`. For programs that load for
/// a long time.
public enum Measurements {
  /// Bytes of resident memory.
  public static var residentBytes: Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
    let fields = text.split(separator: " ")
    return fields.count > 1 ? Int(fields[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
  }

  /// What the open descriptors lead to, but for timers: Dispatch opens one for each of its clocks when somebody first
  /// waits by it.
  public static var descriptors: [String]? {
    let folder = "/proc/self/fd"
    // The one that is open while they are listed is gone by the time it is looked at.
    return (try? FileManager.default.contentsOfDirectory(atPath: folder))?.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
    }.filter { $0 != "anon_inode:[timerfd]" }
  }

  /// Whether what is resident is what the program uses: a sanitizer keeps what has been freed.
  public static let measuresMemory = dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

  /// Open descriptors, once they are as they shall be; or after 10 seconds.
  public static func settled(when isWanted: ([String]) -> Bool) async -> [String]? {
    var now = descriptors
    for _ in 0..<100 {
      guard let open = now, !isWanted(open) else { break }
      try? await Task.sleep(for: .milliseconds(100))
      now = descriptors
    }
    return now
  }

  /// Ends the process when nothing happens for a minute.
  ///
  /// - Parameter progress: How much has been done, and what is under way.
  public static func watch(_ progress: @Sendable () -> (done: Int, underWay: String)) async {
    var last = -1
    while !Task.isCancelled {
      try? await Task.sleep(for: .seconds(60))
      let (done, underWay) = progress()
      if done == last, !Task.isCancelled {
        FileHandle.standardOutput.write(Data("FAULT  nothing happened for a minute; under way: \(underWay)\n".utf8))
        exit(1)
      }
      last = done
    }
  }
}
