extension Redactor {
  /// Member names of labels and values in objects such as `{"name": "token", "value": "…"}`, and in markup.
  static let labels = Suspicion.set(
    "attribute field header k key name param parameter parameterkey path property variable")
  static let values = Suspicion.set(
    "content data default input parametervalue rejectedvalue stringvalue text v val value values")

  /// Labels and values of the fields of forms and of schemas. Other members are texts for people there.
  private static let formLabels = Suspicion.set("id label title")
  private static let formValues = Suspicion.set("const default example value")
  /// Members with the names of columns, and with rows.
  private static let heads = Suspicion.set("columnnames columns fields header")
  private static let rows = Suspicion.set("data records rows values")

  /// Members that describe an object: within a secret, only random values of these are replaced.
  private static let descriptions = Suspicion.set(
    """
    alg algorithm attempts audience color count currency date days decimals description duration enabled expiration \
    expires format history holders hours icon image issuer kind label length level lifetime limit max message method min \
    minutes mode model name object path pattern period policy price provider rate region required schema scheme scope \
    scopes seconds size skew state status step supply symbol title total type unit url version
    """)
  /// Members whose members have names of their own: a schema of `password` is no password.
  private static let schemas = Suspicion.set(
    "$defs definitions dependentrequired flows properties schemas securityschemes")
  /// Members with versions by the names of packages.
  private static let packages = Suspicion.set(
    "dependencies devdependencies engines optionaldependencies peerdependencies")
  /// Words of members with messages by the names of members.
  private static let errors = Suspicion.set("error errors violations")
  /// Members beside the `token` of a language model or a text search, which is a piece of a word.
  private static let ofPieces = Suspicion.set("bytes logprob logprobability start_offset token_str tokenid")

  /// The meaning of a member's name.
  struct Member {
    struct Roles: OptionSet {
      let rawValue: UInt16
      static let label = Roles(rawValue: 1)
      static let formLabel = Roles(rawValue: 2)
      static let value = Roles(rawValue: 4)
      static let head = Roles(rawValue: 8)
      static let rows = Roles(rawValue: 16)
      static let schemas = Roles(rawValue: 32)
      static let messages = Roles(rawValue: 64)
      static let session = Roles(rawValue: 128)
      static let packages = Roles(rawValue: 256)
      static let formValue = Roles(rawValue: 512)
    }

    var suspicion = Suspicion.none
    var roles: Roles = []
  }

  private mutating func member(_ name: String) -> Member {
    if let known = members[name] { return known }
    if members.count > 4096 { members = [:] }
    let key = name.lowercased()
    var member = Member(suspicion: suspicion(name.utf8))
    for (role, names) in [
      (Member.Roles.label, Self.labels), (.formLabel, Self.formLabels), (.value, Self.values), (.head, Self.heads),
      (.rows, Self.rows), (.schemas, Self.schemas), (.packages, Self.packages), (.formValue, Self.formValues),
    ] where names.contains(key) {
      member.roles.insert(role)
    }
    let isOfErrors = CredentialNames.words(of: name).contains {
      Self.errors.contains(String(decoding: $0, as: UTF8.self))
    }
    if isOfErrors { member.roles.insert(.messages) }
    let words = CredentialNames.normalized(name)
    if ["session", "sessionid", "sessionnumber"].contains(where: words.hasSuffix) { member.roles.insert(.session) }
    members[name] = member
    return member
  }

  /// An open object or array.
  private struct Frame {
    let isObject: Bool
    /// The suspicion by the names around it.
    var content: Suspicion
    /// Whether it may be a pair of a label and a value: an array in an array.
    var isPair = false
    /// The name of the member whose value follows, or the number of elements that have begun.
    var name: String?
    var member = Member()
    var count = 0
    /// Whether it has names and values in turn, like `rawHeaders` in Node.
    var isFlat = false
    /// The suspicion of the label of the object's value.
    var label = Suspicion.none
    /// Whether the label is that of a form's field.
    var isOfForm = false
    /// Whether its members are packages.
    var isOfPackages = false
    /// Whether it has messages.
    var isOfMessages = false
    /// Whether the type of a form's field says more than its name.
    var isPassword = false
    /// The suspicions of columns: of the rows in the object, or of the values in the row.
    var columns: [Suspicion] = []
    /// A value that precedes its label.
    var value: Scalar?

    func has(_ role: Member.Roles) -> Bool { name != nil && member.roles.contains(role) }
    var hasLabel: Bool {
      name == nil ? isPair && count == 1 || isFlat && count % 2 == 1 : member.roles.contains(.label)
    }
    var hasValue: Bool {
      guard name != nil else { return isPair && count == 2 || isFlat && count % 2 == 0 }
      return member.roles.contains(isOfForm && !isPassword ? .formValue : .value)
    }
  }

  /// A string or number, with the index of its part in the draft.
  private struct Scalar {
    let part: Int
    let text: [UInt8]
    let isString: Bool
    let isHidden: Bool
  }

  /// Reads JSON values (RFC 8259), one after another.
  ///
  /// - Parameter isMembers: Whether to start among the members of an object.
  /// - Returns: The offset of the end, or of the first byte that is not JSON. The source may be truncated.
  mutating func readJSON(_ draft: inout Draft, from start: Int, isMembers: Bool = false) -> Int {
    var frames = isMembers ? [Frame(isObject: true, content: .none)] : []
    var index = start
    let outside = place
    if isMembers { place.append("") }
    defer { place = outside }
    while true {
      index = draft.skipSpace(from: index)
      guard index < draft.source.count else { return index }
      let byte = draft.source[index]
      if let frame = frames.last, frame.name == nil {
        if byte == UInt8(ascii: ",") {
          index += 1
          continue
        }
        if byte == (frame.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
          frames.removeLast()
          place.removeLast()
          index += 1
          guard let last = frames.indices.last else { return index }
          frames[last].name = nil
          continue
        }
        if frame.isObject {
          guard byte == UInt8(ascii: "\""), let end = draft.endOfString(at: index) else { return index }
          let colon = end < draft.source.count ? draft.skipSpace(from: end + 1) : end
          guard colon == draft.source.count || draft.source[colon] == UInt8(ascii: ":") else { return index }
          draft.keep(index..<colon)
          let name = Escapes.backslash.removed(from: draft.source[index + 1..<end])
          let text = String(decoding: name, as: UTF8.self)
          (frames[frames.count - 1].name, frames[frames.count - 1].member) = (text, member(text))
          place[place.count - 1] = String(decoding: name.prefix(128), as: UTF8.self)
          index = min(colon + 1, draft.source.count)
          continue
        }
        place[place.count - 1] = String(frame.count)
        frames[frames.count - 1].count += 1
      }
      let suspicion = frames.last.map { self.suspicion(in: $0) } ?? Suspicion.none
      if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
        let (isObject, isElement) = (byte == UInt8(ascii: "{"), frames.last?.isObject == false)
        var frame = Frame(
          isObject: isObject,
          content: isObject ? max(suspicion, frames.last?.content ?? .none).ofMembers(isElement: isElement) : suspicion,
          isPair: !isObject && isElement)
        frame.isFlat = frames.last?.name.map { $0 == "rawHeaders" || $0 == "rawTrailers" } ?? false
        frame.isOfPackages = frames.last?.has(.packages) ?? false
        frame.isOfMessages = frames.last.map { $0.isOfMessages && !isObject || $0.has(.messages) } ?? false
        if isObject, frames.dropLast().last?.has(.schemas) == true, describesType(draft.source[index...].prefix(512)) {
          (frame.label, frame.isOfForm, frame.content) = (frame.content, true, min(frame.content, .shape))
        }
        if frame.isPair, let table = frames.dropLast().last, table.has(.rows) { frame.columns = table.columns }
        frames.append(frame)
        place.append("")
        index += 1
        continue
      }
      guard let (scalar, end) = readScalar(&draft, at: index, suspicion, in: frames.last) else { return index }
      index = end
      guard let last = frames.indices.last else { return index }
      if let scalar { note(scalar, in: &frames, &draft) }
      frames[last].name = nil
    }
  }

  /// The suspicion of the value that follows.
  private mutating func suspicion(in frame: Frame) -> Suspicion {
    let label = frame.hasValue ? frame.label : .none
    guard let name = frame.name else {
      let column = frame.columns.indices.contains(frame.count - 1) ? frame.columns[frame.count - 1] : .none
      return max(frame.content, label, column)
    }
    if frame.isOfPackages { return .shape }
    // The public members of a key (RFC 7518, section 6).
    if frame.content == .shape, ["n", "x", "y"].contains(name) { return .none }
    let isDescription = frame.content >= .secrets && Self.isDescription(name)
    return max(isDescription ? .shape : frame.content, label, frame.member.suspicion)
  }

  static func isDescription(_ name: String) -> Bool {
    let words = CredentialNames.words(of: name).map { String(decoding: $0, as: UTF8.self) }
    return words.last.map(descriptions.contains) ?? false || ["max", "min"].contains(words.first)
  }

  /// Whether an object is a schema, or a scheme of security, by one of its first members.
  private func describesType(_ object: ArraySlice<UInt8>) -> Bool {
    ["\"$ref\"", "\"scopes\"", "\"type\""].contains { object.firstRange(of: Array($0.utf8)) != nil }
  }

  /// Whether the next member of an object has one of some names.
  private func isFollowed(by names: Set<String>, _ draft: inout Draft, from end: Int) -> Bool {
    let comma = draft.skipSpace(from: end)
    guard comma < draft.source.count, draft.source[comma] == UInt8(ascii: ",") else { return false }
    let name = draft.source[draft.skipSpace(from: comma + 1)...].dropFirst().prefix(32).prefix {
      $0 != UInt8(ascii: "\"")
    }
    return names.contains(String(decoding: name, as: UTF8.self).lowercased())
  }

  /// Reads a string, a number or a literal; `nil` for anything else.
  private mutating func readScalar(
    _ draft: inout Draft, at start: Int, _ suspicion: Suspicion, in frame: Frame?
  ) -> (scalar: Scalar?, end: Int)? {
    let (byte, part) = (draft.source[start], draft.count)
    if byte == UInt8(ascii: "\"") {
      guard let end = draft.endOfString(at: start) else { return nil }
      let text = Escapes.backslash.removed(from: draft.source[start + 1..<end])
      let isHidden = suspicion.covers(text) && !isOrdinary(text, in: frame, &draft, end: end + 1)
      if !isHidden, frame?.hasLabel == true, self.suspicion(ofLabel: text) >= .list, !text.contains(0x2F) {
        draft.keep(start + 1..<end)
      } else {
        read(start + 1..<end, isHidden ? suspicion : .none, in: &draft, escapes: .backslash, isNoted: false)
      }
      let scalar = Scalar(part: part, text: text, isString: true, isHidden: isHidden)
      return (scalar, min(end + 1, draft.source.count))
    }
    let end = draft.find(from: start) { $0.isSpace || ",]}:\"{[".utf8.contains($0) }
    let word = Array(draft.source[start..<end])
    if (byte == UInt8(ascii: "-") || byte.isASCIIDigit)
      && word.allSatisfy({ $0.isASCIIDigit || "+-.eE".utf8.contains($0) })
    {
      // The identifier of a session that is a number counts sessions.
      let isCount = word.count < 8 && frame?.has(.session) == true && !redaction.isWide
      let isPiece = frame?.name == "token" && isFollowed(by: Self.ofPieces, &draft, from: end)
      let isHidden =
        suspicion >= .modified && !isCount && !isPiece || suspicion == .secrets && frame?.isObject == false
      if word != zero, isHidden || finders.contains(where: { $0.isSecret(word) }) {
        hideNumber(start..<end, in: &draft, suspicion)
      } else {
        draft.keep(start..<end)
      }
      return (Scalar(part: part, text: word, isString: false, isHidden: isHidden), end)
    }
    let isCutOff = end == draft.source.count
    guard
      ["true", "false", "null"].contains(where: { isCutOff ? $0.utf8.starts(with: word) : $0.utf8.elementsEqual(word) })
    else { return nil }
    draft.keep(start..<end)
    return (nil, end)
  }

  /// Whether a string under a secret name is no secret, by the structure around it.
  private func isOrdinary(_ text: [UInt8], in frame: Frame?, _ draft: inout Draft, end: Int) -> Bool {
    guard let frame, !redaction.isWide else { return false }
    let (isText, spaces) = (text.isText, text.count { $0 == 0x20 })
    if frame.isOfMessages, spaces > (isText ? 0 : 1), !["authorization", "cookie"].contains(frame.name?.lowercased()) {
      return true
    }
    let isNamed = frame.name != nil && frame.member.suspicion >= .list
    if isText, !isNamed, spaces > 1, let last = text.last, ".!?".utf8.contains(last) { return true }
    // A time within a secret object stays a time, and the label of a pair a label.
    if frame.content >= .modified {
      return text.isTimestamp || frame.hasLabel && isFollowed(by: Self.values, &draft, from: end)
    }
    guard let name = frame.name else { return false }
    if name == "token" {
      let isPiece = isText && (text.count < 6 || text.first == 0x20)
      if isPiece || isFollowed(by: Self.ofPieces, &draft, from: end) { return true }
    }
    guard isText else { return false }
    if name.lowercased() == "session", text.count <= 12 { return true }
    // A catalog of texts names them by their words: `"newPassword": "New password"`.
    let words = CredentialNames.words(of: String(decoding: text, as: UTF8.self))
    return !words.isEmpty && CredentialNames.words(of: name).suffix(words.count) == words[...]
  }

  /// Notes a secret, one half of a label and value pair, or the name of a column.
  private mutating func note(_ scalar: Scalar, in frames: inout [Frame], _ draft: inout Draft) {
    if scalar.isHidden { noteSecret(scalar.text) }
    let last = frames.count - 1
    noteColumn(scalar, in: &frames)
    var frame = frames[last]
    defer { frames[last] = frame }
    if frame.hasValue { frame.value = scalar }
    guard frame.content < .modified else { return }
    if frame.has(.formLabel), frame.label == .none {
      frame.label = suspicion(ofLabel: scalar.text.map { $0 == 0x20 ? UInt8(ascii: "_") : $0 })
      frame.isOfForm = frame.label > .none
    } else if frame.name == "type", scalar.text.elementsEqual("password".utf8) {
      (frame.label, frame.isPassword) = (.secret, true)
    }
    guard frame.hasLabel, !frame.isPassword else { return }
    (frame.label, frame.isOfForm) = (suspicion(ofLabel: scalar.text), false)
    guard let value = frame.value, !value.isHidden, !value.text.isEmpty, value.text != mark,
      value.isString ? frame.label.covers(value.text) : frame.label >= .modified
    else { return }
    noteSecret(value.text)
    take(value.text, frame.label)
    draft.change(value.part, to: value.isString ? Escapes.backslash.added(to: mark) : zero)
  }

  /// Notes the name of a column: an element of a list, or the label of an object in it.
  private mutating func noteColumn(_ scalar: Scalar, in frames: inout [Frame]) {
    let isLabel = frames[frames.count - 1].name == nil || frames[frames.count - 1].has(.label)
    let table = frames.count - (frames[frames.count - 1].isObject ? 3 : 2)
    // The place of an invalid value, in FastAPI.
    if !frames[frames.count - 1].isObject, table >= 0, frames[table].name == "loc" {
      frames[table].label = suspicion(ofLabel: scalar.text)
    }
    guard isLabel, table >= 0, frames[table].has(.head), frames[table].columns.count < 1024 else { return }
    frames[table].columns.append(suspicion(ofLabel: scalar.text))
  }

  mutating func noteSecret(_ text: [UInt8]) {
    // Longer ones are not repeated as a whole, and would be expensive to look for.
    if !text.isEmpty, text != mark, text.count <= 4096 { found.insert(text) }
  }
}
