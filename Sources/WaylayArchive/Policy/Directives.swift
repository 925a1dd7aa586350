/// What a request's `Cache-Control` says (RFC 9111, section 5.2.1; RFC 5861, section 4).
struct RequestDirectives: Hashable, Sendable {
  var isNoStore = false
  var isNoCache = false
  var isOnlyIfCached = false
  /// Seconds; 0 where there is something that is no number, which is what asks for most.
  var maxAge: Int64?
  var minFresh: Int64?
  /// Seconds of staleness that are welcome; `.max` for any.
  var maxStale: Int64?
  var staleIfError: Int64?

  /// - Parameters:
  ///   - cacheControl: The value of `Cache-Control`, several lines joined; `nil` when there is none.
  ///   - pragma: The value of `Pragma`. It counts only without a `Cache-Control` (RFC 9111, section 5.4).
  init(cacheControl: String?, pragma: String?) {
    var parser = DirectiveParser(cacheControl ?? pragma ?? "")
    // Nothing else of Pragma means anything.
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

/// What a response's `Cache-Control` says (RFC 9111, section 5.2.2; RFC 5861; RFC 8246).
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

  /// A number of seconds that may be missing, or be none.
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

  /// The same where the app gives a lifetime whatever they say.
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
    // A list of names that cannot be read restricts the whole response.
    case "no-cache": if let names = directive.fieldNames { noCacheFields += names } else { isNoCache = true }
    // With names it restricts caches of many users alone (section 5.2.2.7).
    case "private": if directive.fieldNames == nil { isPrivate = true }
    // Section 4.2.1: of several, the first counts.
    case "max-age": if maxAge == .absent { maxAge = Seconds(directive.seconds) }
    case "s-maxage": if sharedMaxAge == .absent { sharedMaxAge = Seconds(directive.seconds) }
    case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? directive.seconds
    case "stale-if-error": staleIfError = staleIfError ?? directive.seconds
    default: break
    }
  }
}

/// Takes a `Cache-Control` value apart, directive by directive (RFC 9111, section 5.2).
///
/// It never gives up: what is malformed is passed over up to the next comma, and what restricts is found behind it.
struct DirectiveParser {
  /// One directive: the name in lower case, and what stands behind `=`, without quotation marks.
  struct Directive {
    var name: String
    var argument: ArraySlice<UInt8>?
    /// The argument breaks off, or something follows it before the comma.
    var isMalformed = false

    /// The argument as seconds; `nil` when there is none, or it is not a number.
    var seconds: Int64? {
      guard !isMalformed, let argument else { return nil }
      return FieldBytes.deltaSeconds(argument)
    }

    /// The argument as a list of field names in lower case; `nil` when it is not a whole one.
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
        // A blank behind the equals sign belongs to no token: what follows is not taken for a number (section 5.2).
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

  /// A quoted string; `nil`, and nothing is consumed, when it has no end: then it is read as far as the comma.
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
