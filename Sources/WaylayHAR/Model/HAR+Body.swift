public import Foundation

extension HAR {
  /// The body of a request or of an answer.
  ///
  /// In a file it is a text where it can be one, and base64 else. The format has no base64 for the body of a request:
  /// there it is in a field of our own, `_base64`, and the text is empty.
  public struct Body: Hashable, Sendable {
    /// Its bytes, or the beginning of them.
    public var data: Data
    /// Its media type, as the header field `Content-Type` has it.
    public var mediaType: String
    /// How many bytes there were: more than are kept, where only the beginning is.
    public var size: Int
    /// The parts of a form, where the archive lists them.
    public var parameters: [Parameter] = []
    /// A remark.
    public var comment: String?
    /// Fields that are not the format's own, by name.
    public var extensions: [String: JSONValue] = [:]

    /// Whether only the beginning is kept.
    public var isTruncated: Bool { size > data.count }

    /// Makes a body.
    ///
    /// - Parameters:
    ///   - data: Its bytes, or the beginning of them.
    ///   - mediaType: What they are.
    ///   - size: How many bytes there were, where only the beginning is kept.
    public init(_ data: Data = Data(), mediaType: String = "", size: Int? = nil) {
      self.data = data
      self.mediaType = mediaType
      self.size = max(size ?? 0, data.count)
    }

    /// The text, if the bytes are one.
    public var text: String? {
      // Bytes that are text by chance have control characters, and programs show them badly.
      guard !data.contains(0), let text = String(data: data, encoding: .utf8) else { return nil }
      // A byte order mark is not always kept.
      return text.utf8.count == data.count ? text : nil
    }
  }

  /// A part of a form that was sent.
  public struct Parameter: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Its value, where it is no file.
    public var value: String?
    /// The name of the file.
    public var fileName: String?
    /// The media type of the file.
    public var mediaType: String?
    /// A remark.
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
