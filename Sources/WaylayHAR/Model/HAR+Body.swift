public import Foundation

extension HAR {
  /// The body of a request or a response.
  ///
  /// In a file, the body is text if possible, otherwise Base64. The format has no Base64 for request bodies: these use
  /// the custom field `_base64`, with empty text.
  public struct Body: Hashable, Sendable {
    /// The bytes, or the beginning of them.
    public var data: Data
    /// The media type, as in the header field `Content-Type`.
    public var mediaType: String
    /// The total number of bytes, which is larger than the kept number if only the beginning is kept.
    public var size: Int
    /// The parts of a form, if the archive lists them.
    public var parameters: [Parameter] = []
    /// A comment.
    public var comment: String?
    /// Custom fields, by name.
    public var extensions: [String: JSONValue] = [:]

    /// Whether only the beginning is kept.
    public var isTruncated: Bool { size > data.count }

    /// Makes a body.
    ///
    /// - Parameters:
    ///   - data: The bytes, or the beginning of them.
    ///   - mediaType: The media type of the bytes.
    ///   - size: The total number of bytes, if only the beginning is kept.
    public init(_ data: Data = Data(), mediaType: String = "", size: Int? = nil) {
      self.data = data
      self.mediaType = mediaType
      self.size = max(size ?? 0, data.count)
    }

    /// The text, if the bytes are valid text.
    public var text: String? {
      // Bytes that are text by chance have control characters, and programs show them badly.
      guard !data.contains(0), let text = String(data: data, encoding: .utf8) else { return nil }
      // A byte order mark is not always kept.
      return text.utf8.count == data.count ? text : nil
    }
  }

  /// A part of a submitted form.
  public struct Parameter: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Its value, if it is not a file.
    public var value: String?
    /// The name of the file.
    public var fileName: String?
    /// The media type of the file.
    public var mediaType: String?
    /// A comment.
    public var comment: String?

    /// Makes a part of a form.
    public init(name: String, value: String? = nil, fileName: String? = nil, mediaType: String? = nil) {
      self.name = name
      self.value = value
      self.fileName = fileName
      self.mediaType = mediaType
    }
  }
}
