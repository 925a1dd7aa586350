#if Cryptography
  import Foundation
  import TestSupport
  import Testing
  import WaylayHosts

  @Suite("A signed list of hosts", .timeLimit(.minutes(5)))
  struct TrustedHostListTests {
    private let signer = try! HostListSigner.random("2026")
    private let time = VirtualClock()
    private static let silent = Logger.recording()

    private func file(
      _ address: String = "203.0.113.7", serial: UInt64 = 1, expiresIn seconds: TimeInterval = 3_600,
      by signers: [HostListSigner]? = nil
    ) throws -> Data {
      try SignedHostList.sign(
        Data(#"[{"host": "api.example.com", "addresses": ["\#(address)"]}]"#.utf8), serial: serial,
        expires: time.date.addingTimeInterval(seconds), by: signers ?? [signer])
    }

    private func list(
      at place: URL? = nil, whenExpired policy: HostRuleSource.ExpiryPolicy = .keep
    ) throws -> TrustedHostList {
      try TrustedHostList(
        keys: [signer.key], storedAt: place, whenExpired: policy, clock: time.clock, logger: Self.silent)
    }

    private func address(_ list: TrustedHostList) throws -> String? {
      try list.source.match(HostName("api.example.com"), port: 443)?.endpoints.first?.description
    }

    private static func place() -> URL {
      FileManager.default.temporaryDirectory.appendingPathComponent("waylay-list-\(UUID().uuidString).json")
    }

    private func refused(_ file: Data, by list: TrustedHostList, as code: HostError.Code) throws {
      let error = #expect(throws: HostError.self) { try list.update(with: file) }
      #expect(error?.code == code, "\(error.map { "\($0)" } ?? "")")
    }

    @Test("puts its rules in force, and the next one takes their place")
    func accepted() throws {
      let list = try list()
      #expect(try address(list) == nil)
      try list.update(with: file())
      #expect(try address(list) == "203.0.113.7")
      try list.update(with: file("203.0.113.8", serial: 2))
      #expect(try address(list) == "203.0.113.8")
      #expect(list.serial == 2)
    }

    @Test("is refused when any byte of the payload or of the signature was changed, and the last good one stays")
    func tampered() throws {
      let list = try list()
      try list.update(with: file())
      let good = try file("203.0.113.8", serial: 2)
      let members = try #require(JSONSerialization.jsonObject(with: good) as? [String: Any])
      let payload = try #require((members["payload"] as? String).flatMap { Data(base64Encoded: $0) })
      for index in payload.indices {
        var changed = payload
        changed[index] ^= 1
        var forged = members
        forged["payload"] = changed.base64EncodedString()
        try refused(JSONSerialization.data(withJSONObject: forged), by: list, as: .listForged)
      }
      let text = String(decoding: good, as: UTF8.self)
      let key = try #require(text.range(of: #""signature":""#))
      let start = text.utf8.distance(from: text.startIndex, to: key.upperBound)
      for offset in 0..<8 {
        var forged = good
        forged[start + offset] = forged[start + offset] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        try refused(forged, by: list, as: .listForged)
      }
      #expect(try address(list) == "203.0.113.7")
    }

    @Test("is refused when a key that is not trusted has signed it, under a trusted key's name too")
    func strangers() throws {
      let list = try list()
      try refused(file(by: [.random("2026")]), by: list, as: .listForged)
      try refused(file(by: [.random("other")]), by: list, as: .listForged)
      var unsigned = try #require(JSONSerialization.jsonObject(with: file()) as? [String: Any])
      unsigned["signatures"] = [Any]()
      try refused(JSONSerialization.data(withJSONObject: unsigned), by: list, as: .listForged)
    }

    @Test("is refused when the signature was made over the payload alone: a key that signs other things signs no lists")
    func context() throws {
      let payload = Data(#"{"serial":1,"expires":"2100-01-01T00:00:00Z","rules":[]}"#.utf8)
      // What another protocol would make a holder of the key sign.
      let other = try SignedHostList.sign(Data("[]".utf8), serial: 1, expires: time.date, by: [signer])
      var members = try #require(JSONSerialization.jsonObject(with: other) as? [String: Any])
      members["payload"] = payload.base64EncodedString()
      try refused(JSONSerialization.data(withJSONObject: members), by: list(), as: .listForged)
    }

    @Test(
      "is refused when it is older than the one before, or another of the same number; the same one again is no mistake"
    )
    func rollback() throws {
      let list = try list()
      let current = try file("203.0.113.8", serial: 5)
      try list.update(with: current)
      try refused(file("203.0.113.6", serial: 4), by: list, as: .listOutdated)
      try refused(file("203.0.113.6", serial: 5), by: list, as: .listOutdated)
      try list.update(with: current)
      #expect(try address(list) == "203.0.113.8")
    }

    @Test("is refused when its time is over")
    func expired() throws {
      try refused(file(expiresIn: -1), by: list(), as: .listExpired)
    }

    @Test("that ends while it is in force is kept, dropped, or makes its hosts fail, by policy")
    func policies() throws {
      let kept = try list(whenExpired: .keep)
      let dropped = try list(whenExpired: .drop)
      let failing = try list(whenExpired: .fail)
      for list in [kept, dropped, failing] { try list.update(with: file()) }
      time.advance(by: .seconds(3_601))
      #expect(try address(kept) == "203.0.113.7")
      #expect(try address(dropped) == nil)
      let error = #expect(throws: HostError.self) { try address(failing) }
      #expect(error?.code == .listExpired)
      try failing.update(with: file("203.0.113.9", serial: 2))
      #expect(try address(failing) == "203.0.113.9")
    }

    @Test("may be signed by several keys, so that a key can be replaced")
    func rotation() throws {
      let next = try HostListSigner.random("2027")
      let both = try file(by: [next, signer])
      #expect(try SignedHostList(both, keys: [signer.key]).keyName == "2026")
      #expect(try SignedHostList(both, keys: [next.key]).keyName == "2027")
      let list = try TrustedHostList(keys: [signer.key, next.key], clock: time.clock)
      try list.update(with: file(serial: 1))
      try list.update(with: file("203.0.113.8", serial: 2, by: [next]))
      #expect(try address(list) == "203.0.113.8")
    }

    @Test("is in force again after a launch, and its number still keeps older ones out")
    func stored() throws {
      let place = Self.place()
      defer { try? FileManager.default.removeItem(at: place) }
      try list(at: place).update(with: file("203.0.113.8", serial: 5))
      let again = try list(at: place)
      #expect(try address(again) == "203.0.113.8")
      try refused(file(serial: 4), by: again, as: .listOutdated)
      let attributes = try FileManager.default.attributesOfItem(atPath: place.path)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test("whose key is trusted no more is not in force after a launch, and its number still counts")
    func retiredKey() throws {
      let place = Self.place()
      defer { try? FileManager.default.removeItem(at: place) }
      try list(at: place).update(with: file(serial: 5))
      let next = try HostListSigner.random("2027")
      let again = try TrustedHostList(keys: [next.key], storedAt: place, clock: time.clock, logger: Self.silent)
      #expect(try address(again) == nil)
      try refused(file(serial: 4, by: [next]), by: again, as: .listOutdated)
      try again.update(with: file("203.0.113.9", serial: 6, by: [next]))
      #expect(try address(again) == "203.0.113.9")
    }

    @Test("whose file is damaged is not in force, and the next one takes its place")
    func damaged() throws {
      let place = Self.place()
      defer { try? FileManager.default.removeItem(at: place) }
      try list(at: place).update(with: file())
      let good = try Data(contentsOf: place)
      for length in [0, 1, good.count / 2, good.count - 1] {
        try good.prefix(length).write(to: place)
        let again = try list(at: place)
        #expect(try address(again) == nil)
        try again.update(with: file("203.0.113.9", serial: 2))
        #expect(try address(again) == "203.0.113.9")
      }
    }

    @Test("that is cut lets no older one in, nor another one of its number, wherever it is cut")
    func cut() throws {
      let place = Self.place()
      let numberPlace = URL(fileURLWithPath: place.path + ".serial")
      defer { for file in [place, numberPlace] { try? FileManager.default.removeItem(at: file) } }
      try list(at: place).update(with: file(serial: 5))
      let good = try Data(contentsOf: place)
      for length in stride(from: 0, to: good.count, by: 7) {
        try good.prefix(length).write(to: place)
        let again = try list(at: place)
        #expect(try again.serial == 5 && address(again) == nil)
        try refused(file(serial: 4), by: again, as: .listOutdated)
      }
      // The number is lost, the list is not.
      try good.write(to: place)
      for text in ["", "x", "4"] {
        try Data(text.utf8).write(to: numberPlace)
        try refused(file(serial: 4), by: list(at: place), as: .listOutdated)
      }
      // Both are lost: nobody knows what was accepted.
      try good.dropLast().write(to: place)
      try Data().write(to: numberPlace)
      let lost = try list(at: place)
      for serial in [4, 5, 6] as [UInt64] { try refused(file(serial: serial), by: lost, as: .listOutdated) }
      for file in [place, numberPlace] { try FileManager.default.removeItem(at: file) }
      try list(at: place).update(with: file(serial: 6))
    }

    @Test("that others may write is not read, and no older one takes its place")
    func untrusted() throws {
      let place = Self.place()
      defer { for suffix in ["", ".serial"] { unlink(place.path + suffix) } }
      try list(at: place).update(with: file(serial: 5))
      #expect(chmod(place.path, 0o666) == 0)
      let again = try list(at: place)
      #expect(try address(again) == nil)
      try refused(file(serial: 4), by: again, as: .listOutdated)
      #expect(chmod(place.path + ".serial", 0o666) == 0)
      try refused(file(serial: 6), by: list(at: place), as: .listOutdated)
    }

    @Test("that cannot be stored is in force all the same")
    func unstorable() throws {
      let list = try list(at: URL(fileURLWithPath: "/nonexistent/waylay/hosts.json"))
      try list.update(with: file())
      #expect(try address(list) == "203.0.113.7")
    }

    @Test("of which only one of its two files can be written leaves it or the last one in force after a launch")
    func halfStored() throws {
      for suffix in ["", ".serial"] {
        let place = Self.place()
        defer { for suffix in ["", ".serial"] { try? FileManager.default.removeItem(atPath: place.path + suffix) } }
        try list(at: place).update(with: file("203.0.113.8", serial: 5))
        let kept = try Data(contentsOf: URL(fileURLWithPath: place.path + suffix))
        // In place of a directory no file can be put.
        let again = try list(at: place)
        unlink(place.path + suffix)
        try FileManager.default.createDirectory(atPath: place.path + suffix, withIntermediateDirectories: false)
        try again.update(with: file("203.0.113.9", serial: 6))
        try FileManager.default.removeItem(atPath: place.path + suffix)
        try kept.write(to: URL(fileURLWithPath: place.path + suffix))
        #expect(chmod(place.path + suffix, 0o600) == 0)
        #expect(try address(list(at: place)) == (suffix.isEmpty ? "203.0.113.8" : "203.0.113.9"))
      }
    }

    @Test("is not made from rules that could not be read again, nor trusted by what is no key")
    func mistakes() throws {
      let wrong = #expect(throws: HostError.self) {
        try SignedHostList.sign(Data(#"[{"host": "a b"}]"#.utf8), serial: 1, expires: time.date, by: [signer])
      }
      #expect(wrong?.code == .invalidRule)
      let unsigned = #expect(throws: HostError.self) {
        try SignedHostList.sign(Data("[]".utf8), serial: 1, expires: time.date, by: [])
      }
      #expect(unsigned?.code == .invalidKey)
      #expect(throws: HostError.self) { try HostListKey("short", Data([1, 2, 3])) }
      #expect(throws: HostError.self) { try HostListKey("text", base64: "!") }
      #expect(throws: HostError.self) { try HostListSigner("short", privateKey: Data([1])) }
      #expect(throws: HostError.self) { try TrustedHostList(keys: []) }
      #expect(throws: HostError.self) { try TrustedHostList(keys: [signer.key, signer.key]) }
      #expect("\(signer)" == "HostListSigner(2026)")
    }
  }
#endif
