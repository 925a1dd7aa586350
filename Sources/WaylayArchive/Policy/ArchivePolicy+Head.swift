extension ArchivePolicy {
  /// The head of an answer out of the archive.
  ///
  /// - Parameter isValidated: The origin has just said that it holds: then it has an age only if it came with one (RFC
  ///   9111, section 5.1).
  package func head(
    of answer: CacheAnswer, record: CacheRecord, now: CacheTime, isValidated: Bool = false
  ) -> (status: Int, fields: HTTPFields) {
    var status = record.status
    var fields = record.fields
    switch answer.form {
    case .whole: break
    case .notModified:
      status = 304
      fields = Self.fieldsOfNotModified(record)
    case .range(let bytes):
      status = 206
      fields[values: .contentRange] = [ContentRange(bytes, of: record.completeLength).value]
      fields[values: .contentLength] = ["\(bytes.upperBound - bytes.lowerBound)"]
    case .unsatisfiableRange(let length):
      status = 416
      fields = FieldRules.without(
        ["content-type", "content-encoding", "content-language", "content-location", "etag", "last-modified"], fields)
      fields[values: .contentRange] = ["bytes */\(length)"]
      fields[values: .contentLength] = ["0"]
    }
    let age = min(record.age(at: now) / 1000, FieldBytes.maximumDelta)
    if !isValidated || age > 0 { fields.append(HTTPField(name: .age, value: "\(age)")) }
    return (status, fields)
  }

  /// What a 304 has to carry, and nothing else of the representation's (RFC 9110, section 15.4.5).
  private static func fieldsOfNotModified(_ record: CacheRecord) -> HTTPFields {
    var fields = HTTPFields()
    for field in record.fields {
      switch field.name.canonicalName {
      case "cache-control", "content-location", "date", "etag", "expires", "vary": fields.append(field)
      case "last-modified": if record.entityTag == nil { fields.append(field) }
      default: break
      }
    }
    return fields
  }
}

extension HTTPField.Name {
  static let age = HTTPField.Name("Age")!
}
