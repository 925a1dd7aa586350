extension HTTPRequest.Method {
  /// Makes a custom method.
  ///
  /// ```swift
  /// Stub(.named("PURGE"), "/cache/**") { .status(204) }
  /// ```
  ///
  /// A name with characters that are invalid in a method (RFC 9110, section 9.1) matches no request: a stub for it
  /// stays unused, and is reported.
  public static func named(_ name: String) -> HTTPRequest.Method {
    if let method = HTTPRequest.Method(rawValue: name) { return method }
    let bytes = name.utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      return scalar.isASCII && scalar.properties.isAlphabetic
        ? String(scalar) : "%" + String(byte, radix: 16, uppercase: true)
    }
    return HTTPRequest.Method(rawValue: bytes.joined()) ?? .trace
  }
}
