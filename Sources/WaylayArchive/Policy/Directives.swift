/// The directives of a request's `Cache-Control` (RFC 9111, section 5.2.1; RFC 5861, section 4).
struct RequestDirectives: Hashable, Sendable {
  var isNoStore = false
  var isNoCache = false
  var isOnlyIfCached = false
  /// Seconds; 0 for an invalid number, the strictest value.
  var maxAge: Int64?
  var minFresh: Int64?
  /// The acceptable staleness in seconds; `.max` for any.
  var maxStale: Int64?
  var staleIfError: Int64?

  init() {}

  /// - Parameters:
  ///   - cacheControl: The value of `Cache-Control`, lines joined; `nil` if absent.
  ///   - pragma: The value of `Pragma`. It applies only without `Cache-Control` (RFC 9111, section 5.4).
  init(cacheControl: String?, pragma: String?) {
    var parser = DirectiveParser(cacheControl ?? pragma ?? "")
    // `Pragma` has no other directives.
    while let directive = parser.next() {
      if cacheControl != nil || directive.name == "no-cache" { add(directive) }
    }
  }

  private mutating func add(_ directive: DirectiveParser.Directive) {
    switch directive.name {
    case "no-store": isNoStore = true
    case "no-cache": isNoCache = true
    case "only-if-cached": isOnlyIfCached = true
    case "max-age": maxAge = maxAge ?? directive.seconds ?? 0
    case "min-fresh": minFresh = minFresh ?? directive.seconds
    case "max-stale":
      if directive.argument == nil { maxStale = maxStale ?? .max } else { maxStale = maxStale ?? directive.seconds }
    case "stale-if-error": staleIfError = staleIfError ?? directive.seconds
    default: break
    }
  }
}

/// The directives of a response's `Cache-Control` (RFC 9111, section 5.2.2; RFC 5861; RFC 8246).
struct ResponseDirectives: Hashable, Sendable {
  var isNoStore = false
  /// `no-cache` without field names.
  var isNoCache = false
  var isPrivate = false
  var isPublic = false
  var isMustRevalidate = false
  var isMustUnderstand = false
  var isImmutable = false
  var maxAge: Seconds = .absent
  var sharedMaxAge: Seconds = .absent
  var staleWhileRevalidate: Int64?
  var staleIfError: Int64?
  /// The names in `no-cache="…"`, in lower case.
  var noCacheFields: [String] = []

  /// A number of seconds that may be absent or invalid.
  enum Seconds: Hashable, Sendable {
    case absent
    /// Not a number: the response counts as stale (RFC 9111, section 4.2.1).
    case invalid
    case value(Int64)

    init(_ value: Int64?) { self = value.map { .value($0) } ?? .invalid }
  }

  init(_ fields: HTTPFields) {
    for field in fields where field.name == .cacheControl {
      var parser = DirectiveParser(field.value)
      while let directive = parser.next() { add(directive) }
    }
  }

  /// The directives that remain if the app overrides the lifetime.
  var overruled: ResponseDirectives {
    var copy = self
    copy.isNoCache = false
    copy.isMustRevalidate = false
    return copy
  }

  private mutating func add(_ directive: DirectiveParser.Directive) {
    switch directive.name {
    case "no-store": isNoStore = true
    case "must-revalidate": isMustRevalidate = true
    case "must-understand": isMustUnderstand = true
    case "public": isPublic = true
    case "immutable": isImmutable = true
    // With an invalid list of names, the directive applies to the whole response.
    case "no-cache": if let names = directive.fieldNames { noCacheFields += names } else { isNoCache = true }
    // With names, it applies to shared caches only (section 5.2.2.7).
    case "private": if directive.fieldNames == nil { isPrivate = true }
    // Section 4.2.1: the first of several applies.
    case "max-age": if maxAge == .absent { maxAge = Seconds(directive.seconds) }
    case "s-maxage": if sharedMaxAge == .absent { sharedMaxAge = Seconds(directive.seconds) }
    case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? directive.seconds
    case "stale-if-error": staleIfError = staleIfError ?? directive.seconds
    default: break
    }
  }
}

/// Parses a `Cache-Control` value into directives (RFC 9111, section 5.2).
///
/// It skips malformed directives up to the next comma, so that later restrictions are not lost.
struct DirectiveParser {
  /// A directive: the name in lower case, and its argument without quotation marks.
  struct Directive {
    var name: String
    var argument: ArraySlice<UInt8>?
    /// Whether the argument is incomplete, or followed by other text before the comma.
    var isMalformed = false

    /// The argument in seconds; `nil` if it is absent or not a number.
    var seconds: Int64? {
      guard !isMalformed, let argument else { return nil }
      return FieldBytes.deltaSeconds(argument)
    }

    /// The argument as a list of field names in lower case; `nil` if it is incomplete.
    var fieldNames: [String]? {
      guard !isMalformed, let argument else { return nil }
      let names = FieldBytes.members(argument)
      guard !names.isEmpty, names.allSatisfy({ $0.allSatisfy(\.isToken) }) else { return nil }
      return names.map(FieldBytes.name)
    }
  }

  private let bytes: [UInt8]
  private var position = 0

  init(_ value: String) { bytes = Array(value.utf8) }

  mutating func next() -> Directive? {
    while position < bytes.count {
      let byte = bytes[position]
      if byte.isBlank || byte == FieldBytes.comma {
        position += 1
      } else if byte.isToken {
        return directive()
      } else {
        skipToComma()
      }
    }
    return nil
  }

  private mutating func directive() -> Directive {
    let start = position
    while position < bytes.count, bytes[position].isToken { position += 1 }
    var directive = Directive(
      name: String(decoding: bytes[start..<position].lazy.map(\.lowercased), as: UTF8.self))
    if position < bytes.count, bytes[position] == FieldBytes.equals {
      position += 1
      if position < bytes.count, bytes[position] == FieldBytes.quote, let quoted = quoted() {
        directive.argument = quoted[...]
      } else {
        let start = position
        while position < bytes.count, bytes[position] != FieldBytes.comma { position += 1 }
        // A space after the equals sign is not part of a token: the argument is malformed (section 5.2).
        let argument = bytes[start..<position].trimmingBlanks
        directive.argument = argument
        directive.isMalformed =
          argument.isEmpty || argument.startIndex > start || !argument.allSatisfy(\.isToken)
      }
    }
    let end = position
    skipToComma()
    if !bytes[end..<position].allSatisfy(\.isBlank) { directive.isMalformed = true }
    return directive
  }

  /// Parses a quoted string; `nil` for an unterminated one, which is not consumed but skipped to the comma.
  private mutating func quoted() -> [UInt8]? {
    var text: [UInt8] = []
    var index = position + 1
    while index < bytes.count {
      let byte = bytes[index]
      if byte == FieldBytes.quote {
        position = index + 1
        return text
      }
      if byte == FieldBytes.backslash, index + 1 < bytes.count { index += 1 }
      text.append(bytes[index])
      index += 1
    }
    return nil
  }

  private mutating func skipToComma() {
    while position < bytes.count, bytes[position] != FieldBytes.comma { position += 1 }
  }
}
