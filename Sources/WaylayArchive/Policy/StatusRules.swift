/// What is known of status codes (RFC 9110, section 15).
enum StatusRules {
  /// Those that may be stored, and given a guessed lifetime, without a word from the origin (RFC 9110, section 15.1).
  static func isHeuristicallyCacheable(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  /// Those whose own demands on caches are kept here, which `must-understand` asks for (RFC 9111, section 5.2.2.3).
  static func isUnderstood(_ status: Int) -> Bool {
    switch status {
    case 200...206, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 428, 429, 431, 451, 500...505, 511: true
    default: false
    }
  }

  /// Those that are about one request's conditions, range or expectation and not about the resource (RFC 9110, sections
  /// 15.5.13, 15.5.17 and 15.5.18): stored under the URL they would answer requests that asked for nothing of the kind.
  static func isAboutRequest(_ status: Int) -> Bool {
    status == 412 || status == 416 || status == 417
  }

  /// Those that must not be stored, whatever their headers say (RFC 6585, sections 3 to 6).
  static func mustNotBeStored(_ status: Int) -> Bool {
    switch status {
    case 428, 429, 431, 511: true
    default: false
    }
  }

  /// An error in the sense of RFC 5861, section 4.
  static func isServerFailure(_ status: Int) -> Bool {
    status == 500 || (502...504).contains(status)
  }
}
