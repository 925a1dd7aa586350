import Foundation
package import WaylayCore

/// The text by which a parent process invites an app to open a door (`Internals/RemoteDoor.md`).
package struct RemoteInvitation: Sendable {
  /// The environment variable that contains the text.
  package static let variable = "WAYLAY_REMOTE"
  /// The maximum number of bytes of its text.
  package static let limit = 64 << 10

  /// 64 hexadecimal digits, which never leave the two processes.
  package let secret: String
  /// The candidates; the door has the first that is free.
  package let ports: [Int]
  /// The stubs that apply from the first request on.
  package var stubs: [JSONValue] = []
  /// The conditions that apply from the first request on: members of the call `setConditions`.
  package var conditions: JSONValue = [:]

  /// Makes a secret, and chooses candidates outside the ranges that systems choose ports from by themselves: 32768 to
  /// 60999 on Linux, 49152 and above elsewhere.
  package init() {
    secret = .random(bytes: 32)
    ports = Array((20_000..<32_768).shuffled().prefix(16))
  }

  /// Parses the text.
  ///
  /// - Throws: `WaylayError.invalidInvitation`.
  package init(parsing text: String) throws(WaylayError) {
    let json = text.utf8.count <= Self.limit ? try? JSONValue(reading: text.utf8) : nil
    let known: Set = ["version", "secret", "ports", "stubs", "conditions"]
    let stranger = json?.members?.first { !known.contains($0.name) }?.name.debugDescription
    guard let json, stranger == nil, json["version"]?.int == 1, let secret = json["secret"]?.string,
      secret.utf8.count == 64,
      let ports = json["ports"]?.array?.compactMap(\.int), (1...16).contains(ports.count),
      ports.count == json["ports"]?.array?.count, ports.allSatisfy({ (1024...65_535).contains($0) }),
      let stubs = (json["stubs"] ?? []).array, case let conditions = json["conditions"] ?? [:],
      conditions.members != nil
    else {
      throw WaylayError(
        .invalidInvitation,
        """
        \(Self.variable) is not an invitation of this version\(stranger.map { ", which has no member \($0)" } ?? ""): set it \
        to the value of RemoteControl.invitation.
        """)
    }
    (self.secret, self.ports, self.stubs, self.conditions) = (secret, ports, stubs, conditions)
  }

  /// The text, on one line.
  package var text: String {
    let members: JSONLiteral = [
      "version": 1, "secret": secret, "ports": ports, "stubs": stubs, "conditions": conditions,
    ]
    return members.jsonValue.description
  }

  /// HMAC-SHA256 (RFC 2104) of the words with the secret as its key, in hexadecimal.
  package func proof(_ words: String...) -> String {
    func padded(_ byte: UInt8) -> [UInt8] { secret.utf8.map { $0 ^ byte } }
    let inner = MessageDigest.sha256(bytes: padded(0x36) + words.joined(separator: "\n").utf8)
    return MessageDigest.sha256(bytes: padded(0x5C) + inner).hexadecimal
  }
}
