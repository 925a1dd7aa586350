#if canImport(Darwin) || WAYLAY_APPLE_MODEL
  import Foundation

  extension RequestTag {
    private static let key = "waylay.lineage"

    /// What the request's tag says, if it carries one.
    static func lineage(of request: URLRequest) -> Lineage? {
      (RequestProperty.value(key, of: request) as? String).flatMap { parse($0)?.lineage }
    }

    /// The request with a tag.
    static func tag(_ request: inout URLRequest, with lineage: Lineage) {
      request = RequestProperty.setting([key: text(for: lineage)], in: request)
    }

    /// The request as it was before it was tagged.
    static func strip(_ request: inout URLRequest) {
      guard RequestProperty.value(key, of: request) != nil else { return }
      request = RequestProperty.setting([key: nil], in: request)
    }
  }

  /// What a redirect hands on to the next protocol object, in properties of its request.
  enum RedirectTag {
    private static let hopKey = "waylay.hop"
    private static let idKey = "waylay.id"
    private static let originKey = "waylay.origin"

    static func hop(of request: URLRequest) -> Int {
      RequestProperty.value(hopKey, of: request) as? Int ?? 0
    }

    static func id(of request: URLRequest) -> InterceptedRequest.ID? {
      (RequestProperty.value(idKey, of: request) as? UInt64).map { InterceptedRequest.ID(number: $0) }
    }

    /// The URL the app asked for, when `request` is a later hop.
    static func origin(of request: URLRequest) -> URL? {
      (RequestProperty.value(originKey, of: request) as? String).flatMap { URL(string: $0) }
    }

    static func tagged(
      _ request: URLRequest, hop: Int, id: InterceptedRequest.ID, from source: URLRequest
    ) -> URLRequest {
      let origin = origin(of: source) ?? source.url
      return RequestProperty.setting([hopKey: hop, idKey: id.number, originKey: origin?.absoluteString], in: request)
    }
  }
#endif
