#if canImport(FoundationNetworking)
  import Foundation

  extension RequestTag {
    /// What the request's tag says, if it carries one.
    static func lineage(of request: URLRequest) -> Lineage? {
      guard let url = request.mainDocumentURL else { return nil }
      return parse(url.absoluteString)?.lineage
    }

    /// The request with a tag.
    static func tag(_ request: inout URLRequest, with lineage: Lineage) {
      strip(&request)
      guard lineage.depth == 1, request.mainDocumentURL == nil else {
        request.mainDocumentURL = URL(string: text(for: lineage, original: request.mainDocumentURL?.absoluteString))
        return
      }
      request.mainDocumentURL = lineage.entry.tag
    }

    /// The request as it was before it was tagged.
    static func strip(_ request: inout URLRequest) {
      guard let url = request.mainDocumentURL, let tag = parse(url.absoluteString) else { return }
      request.mainDocumentURL = tag.original.flatMap { URL(string: $0) }
    }
  }
#endif
