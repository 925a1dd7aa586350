import Driver

@testable import WaylayCore
@testable import WaylayHosts

@main
enum Target {
  static func main() { fuzz(test) }

  /// A message is decoded and read as a reply.
  static func message(_ bytes: [UInt8]) {
    guard let message = try? DNSMessage(decoding: bytes) else { return }
    for question in message.questions.prefix(4) {
      guard let answer = try? DNSReply(to: question, id: message.id, in: message) else { continue }
      precondition(answer.records.allSatisfy { $0.name == answer.name && $0.type == question.type }, "a record of another name")
      precondition(answer.addresses.count <= answer.records.count)
      for service in answer.services { _ = (service.isUsable, service.protocols) }
      _ = (answer.name.description, answer.timeToLive)
    }
  }

  /// What is taken for a name stays what it is when it is taken for one again.
  static func name(_ text: String) {
    if let address = try? HostAddress(text) {
      precondition((try? HostAddress(address.literal)) == address, "an address became another")
      precondition(HostAddress(bytes: address.bytes) == address, "the bytes are those of another address")
    }
    guard let name = try? HostName(text) else { return }
    precondition((try? HostName(name.description)) == name, "a name became another: \(name)")
    precondition(name.description == name.description.lowercased() && !name.description.hasSuffix("."))
    if !name.isAddress { precondition((try? DNSName(name.description))?.description == name.description) }
  }
}

/// One input: the first byte says what it is.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  guard let first = bytes.first else { return 0 }
  if first % 4 == 0 {
    Target.name(String(decoding: bytes.dropFirst(), as: UTF8.self))
  } else {
    Target.message(Array(bytes.dropFirst()))
  }
  return 0
}
