import Foundation

/// What Apple's systems let a directory say about itself.
enum Protection {
  /// Keeps an archive out of backups, and readable after the first unlock, so that background transfers can use it.
  static func apply(to directory: String) {
    #if canImport(Darwin)
      var url = URL(fileURLWithPath: directory, isDirectory: true)
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      try? url.setResourceValues(values)
      #if !os(macOS)
        try? FileManager.default.setAttributes(
          [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: directory)
      #endif
    #endif
  }
}
