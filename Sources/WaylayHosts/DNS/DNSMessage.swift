/// A DNS message (RFC 1035, section 4).
struct DNSMessage: Hashable, Sendable {
  /// What an answer repeats of its query; zero over HTTPS (RFC 8484, section 4.1).
  var id: UInt16 = 0
  var flags = Flags()
  var questions: [DNSQuestion] = []
  var answers: [DNSRecord] = []
  var authorities: [DNSRecord] = []
  var additionals: [DNSRecord] = []

  /// The second word of the header.
  struct Flags: RawRepresentable, Hashable, Sendable {
    var rawValue: UInt16 = 0

    var isResponse: Bool {
      get { rawValue & 0x8000 != 0 }
      set { rawValue = newValue ? rawValue | 0x8000 : rawValue & ~0x8000 }
    }

    /// Zero for a query.
    var operation: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 11 & 15) }

    var isTruncated: Bool { rawValue & 0x0200 != 0 }

    var wantsRecursion: Bool {
      get { rawValue & 0x0100 != 0 }
      set { rawValue = newValue ? rawValue | 0x0100 : rawValue & ~0x0100 }
    }

    /// Zero for success, 2 for a failure of the server, 3 for a name that does not exist.
    var responseCode: UInt8 {
      get { UInt8(truncatingIfNeeded: rawValue & 15) }
      set { rawValue = rawValue & ~15 | UInt16(newValue & 15) }
    }
  }
}

/// What is asked for.
struct DNSQuestion: Hashable, Sendable {
  var name: DNSName
  var type: DNSRecord.Kind
  var recordClass: UInt16 = DNSRecord.internet
}

/// A resource record.
struct DNSRecord: Hashable, Sendable {
  var name: DNSName
  var type: Kind
  var recordClass: UInt16 = DNSRecord.internet
  /// In seconds.
  var timeToLive: UInt32
  var data: Content

  static let internet: UInt16 = 1

  /// The type of a record.
  struct Kind: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt16

    static let a = Kind(rawValue: 1)
    static let cname = Kind(rawValue: 5)
    static let soa = Kind(rawValue: 6)
    static let aaaa = Kind(rawValue: 28)
    static let opt = Kind(rawValue: 41)
    static let https = Kind(rawValue: 65)
  }

  /// What a record says.
  enum Content: Hashable, Sendable {
    /// A and AAAA.
    case address(HostAddress)
    /// CNAME.
    case alias(DNSName)
    /// SOA: how long it may be taken for granted that a name does not exist (RFC 2308, section 4), in seconds.
    case authority(server: DNSName, mailbox: DNSName, numbers: [UInt32])
    /// HTTPS.
    case service(ServiceBinding)
    /// Any other, and one whose content breaks its format.
    case opaque([UInt8])
  }
}
