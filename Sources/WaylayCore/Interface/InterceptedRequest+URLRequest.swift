import Foundation
import HTTPTypes

extension InterceptedRequest {
  /// Makes a request from a `URLRequest`, whose `httpBody` or `httpBodyStream` moves into ``body``.
  ///
  /// - Parameters:
  ///   - urlRequest: The request. Without a URL, or with an invalid method or header field, it fails when it is sent.
  ///   - body: The body, in place of the one in `urlRequest`.
  ///   - context: The context of the session that the load belongs to.
  public init(_ urlRequest: URLRequest, body: MessageBody? = nil, context: LoadContext = LoadContext()) {
    var bare = urlRequest
    // On Linux, changing a request without a URL traps.
    let carried = bare.url == nil ? nil : bare.takeBody()
    if bare.url != nil { RequestTag.strip(&bare) }
    self.init(.next(), bare, body: body ?? carried ?? .empty, context: context)
  }

  /// Makes a request from a `URLRequest` that has neither a body nor a tag.
  init(_ id: ID, _ bare: URLRequest, body: MessageBody, context: LoadContext) {
    let parts = Parts(bare)
    storage = CopyOnWrite(
      Content(id: id, context: context, parts: parts, body: body, isProjected: parts.source != nil))
  }

  /// The request as a `URLRequest`, for existing code that modifies one.
  ///
  /// It carries no body: ``body`` does, and a body set on it moves there. Repeated fields are joined; when you set the
  /// request, unchanged fields keep their position and stay separate. The request keeps what this type has no property
  /// for, such as `URLProtocol` properties on Apple platforms.
  ///
  /// It carries the loop guard's tag (on Linux in `mainDocumentURL`), which identifies a request made from it as coming
  /// from inside this load; ``Options/mainDocumentURL`` is the app's own value.
  public var urlRequest: URLRequest {
    get {
      guard let lineage = lineage?.counting ?? lineage?.within(SharedWork.current).counting else { return untagged }
      var tagged = untagged
      RequestTag.tag(&tagged, with: lineage)
      return tagged
    }
    set {
      guard newValue.url != nil else { return storage.value.parts.defect = .withoutURL }
      var bare = newValue
      RequestTag.strip(&bare)
      if let body = bare.takeBody() { self.body = body }
      var parts = Parts(bare)
      (parts.options.allowsHedging, parts.options.deadline) = (options.allowsHedging, options.deadline)
      parts.fields = fields.becoming(parts.fields)
      self.parts = parts
      storage.value.isProjected = true
    }
  }

  /// The projection without a tag, for the wire and for histories.
  package var untagged: URLRequest {
    if storage.value.isProjected, let source = parts.source { return source }
    var projection = parts.source ?? URLRequest(url: url)
    projection.url = url
    projection.httpMethod = method.rawValue
    projection.allHTTPHeaderFields = fields.joinedByName
    options.apply(to: &projection)
    return projection
  }

  /// A reason why a `URLRequest` cannot be sent.
  enum Defect: Sendable, Equatable {
    case withoutURL
    case method
    case fieldName(String)
    case lineBreak(String)
    case tooManyFields
  }

  /// The parts of a `URLRequest`.
  struct Parts {
    var method = HTTPRequest.Method.get
    var url: URL
    var fields: HTTPFields
    var options: Options
    /// The `URLRequest` that the parts were made from. It keeps the properties that no part represents.
    var source: URLRequest?
    /// The property of the `URLRequest` that an HTTP message cannot express: sending the request fails.
    var defect: Defect?
  }
}

extension InterceptedRequest.Parts {
  init(_ request: URLRequest) {
    // The URL is a placeholder if the request has none; `defect` keeps such a request from being sent.
    self.init(url: request.url ?? URL(fileURLWithPath: "/"), fields: [:], options: .init(request))
    add(request.allHTTPHeaderFields ?? [:])
    if let text = request.httpMethod, text != "GET" {
      if let known = HTTPRequest.Method(rawValue: text) { method = known } else { defect = .method }
    }
    if request.url == nil { defect = .withoutURL } else { source = request }
  }

  /// Adds the fields of a dictionary, sorted by name.
  private mutating func add(_ dictionary: [String: String]) {
    guard dictionary.count <= MessageLimits.mostFields else { return defect = .tooManyFields }
    for (text, value) in dictionary.count < 2 ? Array(dictionary) : dictionary.sorted(by: { $0.key < $1.key }) {
      guard let name = HTTPField.Name(text) else {
        defect = .fieldName(text)
        continue
      }
      // `HTTPField` would replace these bytes by spaces.
      if value.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) { defect = .lineBreak(text) }
      fields.append(HTTPField(name: name, value: value))
    }
  }
}

extension URLRequest {
  /// A note from the app to the interceptors of this request's chain. It is never sent.
  ///
  /// ```swift
  /// request.interceptorNote = "uncached"
  /// // in an interceptor:
  /// func canInit(with request: URLRequest) -> Bool { request.interceptorNote != "uncached" }
  /// ```
  ///
  /// In `startLoading` it is `request.urlRequest.interceptorNote`. It survives redirects.
  public var interceptorNote: String? {
    get { RequestNote.read(from: self) }
    set { RequestNote.write(newValue, to: &self) }
  }

  /// Removes and returns the body: data as data, a stream as a one-shot body; `nil` if there is none.
  mutating func takeBody() -> MessageBody? {
    if let data = httpBody {
      httpBody = nil
      return .data(data)
    }
    guard let stream = httpBodyStream else { return nil }
    httpBodyStream = nil
    return .stream(reading: stream)
  }
}

extension HTTPFields {
  /// Returns the fields with the values of another list, which has each name once. Unchanged fields keep their position
  /// and stay separate.
  fileprivate func becoming(_ others: HTTPFields) -> HTTPFields {
    guard self != others else { return self }
    var result = HTTPFields()
    var done: Set<HTTPField.Name> = []
    for field in self {
      guard let new = others[field.name] else { continue }
      if self[field.name].map({ $0.utf8.elementsEqual(new.utf8) }) ?? false {
        result.append(field)
        done.insert(field.name)
      } else if done.insert(field.name).inserted {
        result.append(HTTPField(name: field.name, value: new))
      }
    }
    for field in others where done.insert(field.name).inserted { result.append(field) }
    return result
  }
}
