import Foundation
import TestSupport
import Testing
import WaylayCore
import WaylayHosts

#if canImport(FoundationNetworking)
  import HijackLab
#endif

@Suite("A list of hosts that an app ships and renews", .timeLimit(.minutes(5)))
struct HostListTests {
  private static func json(_ serial: UInt64, _ rules: [String: String], expires: String? = nil) -> Data {
    let rules = rules.map { #"{"host": "\#($0.key)", "addresses": ["\#($0.value)"]}"# }.joined(separator: ", ")
    return Data(
      #"{"serial": \#(serial), \#(expires.map { #""expires": "\#($0)", "# } ?? "")"rules": [\#(rules)]}"#.utf8)
  }

  private static func list(_ serial: UInt64, _ address: String, expires: String? = nil) -> Data {
    json(serial, ["api.test": address], expires: expires)
  }

  private static let longAgo = "2001-01-01T00:00:00Z"

  /// Runs a test with the place for a stored list, in a folder of its own.
  private static func withPlace(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-list-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appendingPathComponent("hosts.json"))
  }

  private static func address(_ list: HostList, _ host: String = "api.test", port: Int = 443) throws -> String? {
    list.source.match(try HostName(host), port: port)?.endpoints.first?.description
  }

  private func refused(_ file: Data, by list: HostList, as code: ErrorCode<HostError>) throws {
    let (serial, address) = (list.serial, try Self.address(list))
    let error = #expect(throws: HostError.self) { try list.update(with: file) }
    #expect(error?.code == code, "\(error.map { "\($0)" } ?? "")")
    #expect(try list.serial == serial && Self.address(list) == address)
  }

  // MARK: What is in force

  #if canImport(FoundationNetworking)
    /// What is found at the place of the stored list when the app starts.
    enum State: String, CaseIterable {
      case nothing, stored, cut, empty, garbage, otherShape, writableByOthers, directory, pipe, bundledHasExpired,
        storedHasExpired

      /// A part of the line in the log.
      var reason: String? {
        switch self {
        case .nothing, .stored: nil
        case .cut, .empty, .garbage: "is not JSON"
        case .otherShape: "serial"
        case .writableByOthers: "other users may write it"
        case .directory, .pipe: "it is not a file"
        case .bundledHasExpired, .storedHasExpired: "has expired"
        }
      }

      func prepare(_ place: URL, _ good: Data) throws {
        switch self {
        case .nothing, .bundledHasExpired: return
        case .stored, .storedHasExpired, .writableByOthers: try good.write(to: place)
        case .cut: try good.dropLast(20).write(to: place)
        case .empty: try Data().write(to: place)
        case .garbage: try Data([0, 1, 0xFF, 0x7B]).write(to: place)
        case .otherShape: try Data(#"{"rules": []}"#.utf8).write(to: place)
        case .directory: try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        case .pipe: #expect(mkfifo(place.path, 0o600) == 0)
        }
        #expect(chmod(place.path, self == .writableByOthers ? 0o666 : 0o600) == 0)
      }
    }

    @Test("leads every request to an address of its own under .require, whatever is stored", arguments: State.allCases)
    func states(state: State) async throws {
      try await HijackLab.with(isSecure: false) { lab in
        try await Self.withPlace { place in
          // No server is at the other one.
          let isStored = [.stored, .storedHasExpired].contains(state)
          let (bundled, newer) = isStored ? ("127.0.0.99", "127.0.0.1") : ("127.0.0.1", "127.0.0.99")
          try state.prepare(place, Self.list(2, newer, expires: state == .storedHasExpired ? Self.longAgo : nil))
          let lines = TestSupport.Log<String>()
          let list = try HostList(
            bundled: Self.list(1, bundled, expires: state == .bundledHasExpired ? Self.longAgo : nil), storedAt: place,
            logger: .recording(lines))
          #expect(list.serial == (isStored ? 2 : 1))
          #expect(lines.all.count == (state.reason == nil ? 0 : 1), "\(lines.all)")
          if let reason = state.reason { #expect(lines.all.first?.contains(reason) == true, "\(lines.all)") }
          let registry = InterceptorRegistry(transport: CurlTransport(trusting: nil), configuration: .ephemeral) {
            HostRewriter(rules: list.source, policy: .require)
          }
          #expect(try await registry.text(lab.url()) == HijackLab.answer)
          // The next list is in force at once, and after the next start unless the place is no file.
          try list.update(with: Self.list(3, "127.0.0.1"))
          #expect(try await registry.text(lab.url()) == HijackLab.answer)
          let again = try HostList(bundled: Self.list(1, bundled), storedAt: place)
          #expect(again.serial == ([.directory, .pipe].contains(state) ? 1 : 3))
          registry.invalidate()
        }
      }
    }
  #endif

  @Test("is in force where its folder cannot be read, and says so", .exitTest)
  func unreadableFolder() async throws {
    try await Self.withPlace { place in
      try Self.list(2, "203.0.113.2").write(to: place)
      #expect(chmod(place.deletingLastPathComponent().path, 0) == 0)
      await #expect(processExitsWith: .success) { [place = place.path as String] in
        Process.limit()
        if geteuid() == 0 { Process.require(seteuid(65534) == 0, "the user stays") }
        let lines = TestSupport.Log<String>()
        let list = try HostList(
          bundled: Self.list(1, "203.0.113.1"), storedAt: URL(fileURLWithPath: place), logger: .recording(lines))
        Process.require(try Self.address(list) == "203.0.113.1", "the bundled rules are not in force")
        Process.require(lines.all.count == 1 && lines.all[0].contains("cannot be used"), "\(lines.all)")
        try list.update(with: Self.list(3, "203.0.113.3"))
        Process.require(try Self.address(list) == "203.0.113.3", "the new rules are not in force")
        Process.require(lines.all.contains { $0.contains("will not be stored") }, "\(lines.all)")
      }
      #expect(chmod(place.deletingLastPathComponent().path, 0o700) == 0)
      #expect(try HostList(bundled: Self.list(1, "203.0.113.1"), storedAt: place).serial == 2)
    }
  }

  @Test(
    "is stored in place of a file that belongs to another user",
    .enabled(if: geteuid() == 0, "root alone may give a file away"))
  func otherOwner() async throws {
    try await Self.withPlace { place in
      try Self.list(2, "203.0.113.2").write(to: place)
      #expect(chmod(place.path, 0o600) == 0 && chown(place.path, 65534, 65534) == 0)
      let list = try HostList(bundled: Self.list(1, "203.0.113.1"), storedAt: place)
      #expect(list.serial == 1)
      try list.update(with: Self.list(3, "203.0.113.3"))
      #expect(try HostList(bundled: Self.list(1, "203.0.113.1"), storedAt: place).serial == 3)
    }
  }

  @Test("is in force where the disk is full, and the one stored before stays whole", .exitTest)
  func fullDisk() async throws {
    try await Self.withPlace { place in
      try HostList(bundled: Self.list(1, "203.0.113.1"), storedAt: place).update(with: Self.list(2, "203.0.113.2"))
      await #expect(processExitsWith: .success) { [place = place.path as String] in
        Process.limit()
        let lines = TestSupport.Log<String>()
        let list = try HostList(
          bundled: Self.list(1, "203.0.113.1"), storedAt: URL(fileURLWithPath: place), logger: .recording(lines))
        try Process.limitingFiles(toBytes: 20) { try list.update(with: Self.list(3, "203.0.113.3")) }
        Process.require(try Self.address(list) == "203.0.113.3", "the new rules are not in force")
        Process.require(lines.all.count == 1 && lines.all[0].contains("could not be stored"), "\(lines.all)")
      }
      let again = try HostList(bundled: Self.list(1, "203.0.113.1"), storedAt: place)
      #expect(try Self.address(again) == "203.0.113.2")
      #expect(try FileManager.default.contentsOfDirectory(atPath: place.deletingLastPathComponent().path).count == 2)
      // What could not be stored is, once there is room.
      try again.update(with: Self.list(3, "203.0.113.3"))
      #expect(try HostList(bundled: Self.list(1, "203.0.113.1"), storedAt: place).serial == 3)
    }
  }

  @Test("has a rule for each host of the bundled list: where the newest has none, the bundled one")
  func bundledHosts() async throws {
    try await Self.withPlace { place in
      let list = try HostList(
        bundled: Self.json(1, ["api.test": "203.0.113.1", "*.old.test": "203.0.113.1", "port.test": "203.0.113.1"]),
        storedAt: place)
      try list.update(with: Self.json(2, ["new.test": "203.0.113.2", "port.test:443": "203.0.113.2"]))
      #expect(try Self.address(list) == "203.0.113.1")
      #expect(try Self.address(list, "a.old.test") == "203.0.113.1")
      #expect(try Self.address(list, "new.test") == "203.0.113.2")
      #expect(try Self.address(list, "port.test") == "203.0.113.2")
      #expect(try Self.address(list, "port.test", port: 8443) == "203.0.113.1")
      #expect(try Self.address(list, "else.test") == nil)
      // A rule of the newest decides, an exclusion too.
      try list.update(with: Self.json(3, ["*.test": "203.0.113.3"]))
      #expect(try Self.address(list) == "203.0.113.3")
      try list.update(with: Data(#"{"serial": 4, "rules": [{"host": "api.test", "exclude": true}]}"#.utf8))
      #expect(list.source.match(try HostName("api.test"), port: 443)?.isExclusion == true)
      try list.update(with: Self.json(5, [:]))
      #expect(try Self.address(list) == "203.0.113.1")
      let again = try HostList(bundled: Self.list(1, "203.0.113.1"), storedAt: place)
      #expect(try again.serial == 5 && Self.address(again) == "203.0.113.1")
    }
  }

  @Test("that is bundled and newer than the stored one is in force")
  func newerBundle() async throws {
    try await Self.withPlace { place in
      try HostList(bundled: Self.list(1, "203.0.113.1"), storedAt: place).update(with: Self.list(2, "203.0.113.2"))
      let release = try HostList(bundled: Self.list(3, "203.0.113.3"), storedAt: place)
      #expect(try release.serial == 3 && Self.address(release) == "203.0.113.3")
      try refused(Self.list(2, "203.0.113.2"), by: release, as: .listOutdated)
    }
  }

  // MARK: Updates

  @Test("is renewed by a higher number, and keeps it over a start in a file that is its owner's alone")
  func renewal() async throws {
    try await Self.withPlace { place in
      let list = try HostList(bundled: Self.list(1, "203.0.113.1"), storedAt: place)
      #expect(try list.serial == 1 && Self.address(list) == "203.0.113.1")
      try list.update(with: Self.list(7, "203.0.113.7"))
      #expect(try list.serial == 7 && Self.address(list) == "203.0.113.7")
      let again = try HostList(bundled: Self.list(1, "203.0.113.1"), storedAt: place)
      #expect(try again.serial == 7 && Self.address(again) == "203.0.113.7")
      let mode = try FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test("is not replaced by an older one, nor by another of the same number; the same one again is no mistake")
  func rollback() async throws {
    try await Self.withPlace { place in
      let list = try HostList(bundled: Self.list(4, "203.0.113.4"), storedAt: place)
      try refused(Self.list(3, "203.0.113.3"), by: list, as: .listOutdated)
      try list.update(with: Self.list(5, "203.0.113.5"))
      for list in [list, try HostList(bundled: Self.list(1, "203.0.113.1"), storedAt: place)] {
        try refused(Self.list(4, "203.0.113.4"), by: list, as: .listOutdated)
        try refused(Self.list(5, "203.0.113.6"), by: list, as: .listOutdated)
        try list.update(with: Self.list(5, "203.0.113.5"))
        #expect(try list.serial == 5 && Self.address(list) == "203.0.113.5")
      }
    }
  }

  @Test("takes over what another object has stored since")
  func overtaken() async throws {
    try await Self.withPlace { place in
      let lists = try (0..<2).map { _ in try HostList(bundled: Self.list(1, "203.0.113.1"), storedAt: place) }
      try lists[0].update(with: Self.list(7, "203.0.113.7"))
      let error = #expect(throws: HostError.self) { try lists[1].update(with: Self.list(6, "203.0.113.6")) }
      #expect(error?.code == .listOutdated)
      #expect(try lists[1].serial == 7 && Self.address(lists[1]) == "203.0.113.7")
    }
  }

  @Test("is not replaced by one that has expired, is invalid, or has no number")
  func unusable() async throws {
    try await Self.withPlace { place in
      let list = try HostList(bundled: Self.list(1, "203.0.113.1"), storedAt: place)
      try refused(Self.list(2, "203.0.113.2", expires: Self.longAgo), by: list, as: .listExpired)
      for text in [
        "", "[]", #"{"rules": []}"#, #"{"serial": -1, "rules": []}"#, #"{"serial": 2}"#,
        #"{"serial": 2, "rules": [{"host": "a b"}]}"#, #"{"serial": 2, "expires": "soon", "rules": []}"#,
        #"{"serial": 2, "expires": 7, "rules": []}"#,
      ] {
        try refused(Data(text.utf8), by: list, as: .invalidRule)
        #expect(throws: HostError.self) { try HostList(bundled: Data(text.utf8), storedAt: place) }
      }
      #expect(!FileManager.default.fileExists(atPath: place.path))
      try list.update(with: Self.list(2, "203.0.113.2", expires: "2999-01-01T00:00:00Z"))
      #expect(list.serial == 2)
    }
  }

  @Test("stays when the check of a signature throws, which gets the bytes before they are parsed")
  func verification() async throws {
    struct Forged: Error {}
    try await Self.withPlace { place in
      let list = try HostList(bundled: Self.list(1, "203.0.113.1"), storedAt: place)
      for file in [Self.list(2, "203.0.113.2"), Data("{".utf8)] {
        #expect(throws: Forged.self) {
          try list.update(with: file) { bytes in
            #expect(bytes == file)
            throw Forged()
          }
        }
      }
      #expect(try list.serial == 1 && Self.address(list) == "203.0.113.1")
      #expect(!FileManager.default.fileExists(atPath: place.path))
    }
  }

  @Test("that two processes renew at once never goes back, and is in force at the end", .exitTest)
  func processes() async throws {
    try await Self.withPlace { place in
      await withTaskGroup { group in
        for remainder in 1...2 as ClosedRange<UInt64> {
          group.addTask {
            await #expect(processExitsWith: .success) {
              [place = place.path as String, remainder = remainder as UInt64] in
              Process.limit()
              let place = URL(fileURLWithPath: place)
              let list = try HostList(bundled: Self.list(0, "203.0.113.1"), storedAt: place)
              var highest: UInt64 = 0
              for round in 0..<UInt64(Sizes.of(4000, small: 200)) {
                // Of three, one is older than the last.
                let serial = (round % 3 == 2 ? round / 2 : round) * 2 + remainder
                do { try list.update(with: Self.list(serial, "203.0.113.2")) } catch let error as HostError {
                  Process.require(error.code == .listOutdated, "\(error)")
                }
                Process.require(list.serial >= serial, "\(list.serial) is in force after \(serial)")
                let stored = try HostList(bundled: Self.list(0, "203.0.113.1"), storedAt: place).serial
                Process.require(stored >= max(highest, serial), "\(stored) is stored after \(highest), \(serial)")
                highest = stored
              }
            }
          }
        }
      }
      let list = try HostList(bundled: Self.list(0, "203.0.113.1"), storedAt: place)
      #expect(try list.serial == 2 * UInt64(Sizes.of(4000, small: 200)) && Self.address(list) == "203.0.113.2")
      let files = try FileManager.default.contentsOfDirectory(atPath: place.deletingLastPathComponent().path)
      #expect(files.sorted() == ["hosts.json", "hosts.json.lock"])
    }
  }
}
