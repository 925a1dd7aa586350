import Foundation
import WaylayHAR

// A redaction writes a hidden value into a cassette as `REDACTED-1`: the same number for the same value. Without a number
// are values that differ in each request, such as a nonce, and all in files of other programs. `REDACTED-USER-A` is a
// value with a name (`Redaction.hide(value:as:)`), which is compared as any text.

/// A hidden value of a recorded request, and the value of a live request in its place.
struct HiddenValue {
  let place: String
  let number: Int?
  var value: String?
}

/// The live values in place of hidden ones, by number.
struct Bindings: Sendable {
  let mark: String
  private var values: [Int: String] = [:]
  /// The numbers of live values.
  private(set) var numbers: [String: Int] = [:]

  init(_ mark: String) { self.mark = mark }

  /// The number of a value: one that a played response gave has it in its text.
  private func number(of value: String) -> Int? {
    if let number = numbers[value] { return number }
    guard let (pieces, found) = value.pieces(at: mark), pieces == ["", ""] else { return nil }
    return found[0]
  }

  /// The numbers of values, if all are known.
  func numbers(of found: [HiddenValue]) -> [JSONValue]? {
    let numbers = found.compactMap { $0.value.flatMap(number).map { JSONValue($0) } }
    return numbers.count == found.count ? numbers : nil
  }

  /// Whether no value is known as that of another number, and no number as that of another value.
  func allow(_ recorded: [JSONValue], _ found: [HiddenValue]) -> Bool {
    // Also within the request.
    var (new, known) = ([Int: String](), [String: Int]())
    return zip(recorded, found).allSatisfy { recorded, found in
      guard let recorded = recorded.int, let value = found.value else { return true }
      if let number = number(of: value) ?? known[value] { return number == recorded }
      guard values[recorded] ?? new[recorded] == nil else { return false }
      (new[recorded], known[value]) = (value, recorded)
      return true
    }
  }

  /// Binds numbers to values.
  ///
  /// - Returns: The places of numbers that had another value.
  mutating func bind(_ recorded: [JSONValue], _ found: [HiddenValue]) -> Set<String> {
    var changed: Set<String> = []
    for (recorded, found) in zip(recorded, found) {
      guard let recorded = recorded.int, let value = found.value else { continue }
      let known = number(of: value)
      if known == recorded {
        // A number from a response is bound to its own text: no other value has it.
        values[recorded] = values[recorded] ?? value
        continue
      }
      if known != nil || values[recorded] != nil { changed.insert(found.place) }
      guard known == nil else { continue }
      if let old = values.updateValue(value, forKey: recorded) { numbers[old] = nil }
      numbers[value] = recorded
    }
    return changed
  }
}

extension JSONValue {
  /// The hidden values in a recorded value, in order, and the live values in their places.
  func hidden(_ mark: String, in other: JSONValue?, at place: String) -> [HiddenValue] {
    switch kind {
    case .string(let text):
      guard let (pieces, numbers) = text.pieces(at: mark) else { return [] }
      let values = other.flatMap { ($0.string ?? $0.description).captures(between: pieces) }
      return numbers.enumerated().map { HiddenValue(place: place, number: $1, value: values?[$0]) }
    case .array(let elements):
      // Items and parts begin with their names.
      let name = ["body", "URL", "path", "host"].contains(where: place.hasPrefix) ? nil : elements.first?.string
      return elements.enumerated().flatMap { index, element in
        element.hidden(
          mark, in: other?.array?.dropFirst(index).first,
          at: place.hasPrefix("body") ? "\(place)[\(index)]" : name.map { "\(place) \($0)" } ?? place)
      }
    case .object(let members):
      return members.sorted { $0.name < $1.name }.flatMap { member in
        member.value.hidden(mark, in: other?[member.name], at: "\(place).\(member.name)")
      }
    default: return []
    }
  }
}

extension Cassette.Aspect {
  /// The beginning of a place in this part of a request.
  var place: String {
    switch kind {
    case .method: "method"
    case .url: "URL"
    case .host: "host"
    case .path: "path"
    case .query, .queryItem: "query"
    case .headerField(let name): "header \(name)"
    case .field(let name): "field \(name)"
    case .json(let path): "body at \(path)"
    case .body: "body at $"
    }
  }
}

extension String {
  /// The texts between hidden values without a name, and the numbers of these; `nil` without any.
  func pieces(at mark: String) -> (texts: [String], numbers: [Int?])? {
    guard !mark.isEmpty, contains(mark) else { return nil }
    var (texts, numbers, text, rest) = ([String](), [Int?](), "", self[...])
    while let found = rest.range(of: mark) {
      text += rest[..<found.lowerBound]
      rest = rest[found.upperBound...]
      let word = rest.first == "-" ? rest.dropFirst().prefix { $0.isASCII && ($0.isLetter || $0.isNumber) } : ""
      if word.first?.isLetter == true {
        text += mark
        continue
      }
      texts.append(text)
      numbers.append(Int(word))
      if numbers.last != .some(nil) { rest = rest[word.endIndex...] }
      text = ""
    }
    return numbers.isEmpty ? nil : (texts + [text + rest], numbers)
  }

  /// The texts between given ones that occur in order, the first as prefix, the last as suffix.
  func captures(between texts: [String]) -> [String]? {
    guard texts.count > 1, let first = texts.first, let last = texts.last, hasPrefix(first),
      dropFirst(first.count).hasSuffix(last)
    else { return nil }
    var (rest, found) = (dropFirst(first.count).dropLast(last.count), [String]())
    for text in texts.dropFirst().dropLast() {
      guard let next = text.isEmpty ? rest.startIndex..<rest.startIndex : rest.range(of: text) else { return nil }
      found.append(String(rest[..<next.lowerBound]))
      rest = rest[next.upperBound...]
    }
    return found + [String(rest)]
  }
}

extension Data {
  /// The numbers of hidden values, with the ranges of `-` and digits, in order.
  func hiddenNumbers(_ mark: String) -> [(range: Range<Int>, number: Int)] {
    // URLs, forms, JSON and markup may escape characters of the mark.
    let spellings = Set(
      [[], .form, .backslash, .entity].map { (escapes: Escapes) in escapes.added(to: Array(mark.utf8)) })
    return spellings.flatMap { hiddenNumbers(spelled: $0) }.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }

  private func hiddenNumbers(spelled mark: [UInt8]) -> [(range: Range<Int>, number: Int)] {
    var (found, start) = ([(range: Range<Int>, number: Int)](), startIndex)
    let prefix = Data(mark + [UInt8(ascii: "-")])
    while !mark.isEmpty, let next = self[start...].firstRange(of: prefix) {
      let digits = self[next.upperBound...].prefix { 0x30...0x39 ~= $0 }
      start = digits.endIndex
      let isWhole = !self[digits.endIndex...].prefix(1).contains { 0x41...0x5A ~= $0 & 0xDF }
      guard isWhole, digits.count < 10, let number = Int(String(decoding: digits, as: UTF8.self)) else { continue }
      found.append((next.upperBound - 1..<digits.endIndex, number))
    }
    return found
  }

  func withoutHiddenNumbers(_ mark: String) -> Data {
    hiddenNumbers(mark).reversed().reduce(into: self) { $0.removeSubrange($1.range) }
  }
}

extension HAR.Request {
  /// The request with hidden values as those of a live request are written, without numbers.
  func withoutHiddenNumbers(_ mark: String) -> HAR.Request {
    func plain(_ text: String) -> String {
      let bytes = Data(text.utf8)
      return bytes.hiddenNumbers(mark).isEmpty
        ? text : String(decoding: bytes.withoutHiddenNumbers(mark), as: UTF8.self)
    }
    var request = self
    request.url = plain(url)
    request.headers = headers.map { field in
      var field = field
      field.value = plain(field.value)
      return field
    }
    if let body { request.body?.data = body.data.withoutHiddenNumbers(mark) }
    return request
  }
}

extension HAR.Response {
  /// The numbers that a client learns from the response.
  func hiddenNumbers(_ mark: String) -> [Int] {
    let texts = headers.map { Data($0.value.utf8) } + [body.data]
    return texts.flatMap { $0.hiddenNumbers(mark) }.map(\.number)
  }
}
