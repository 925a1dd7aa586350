import HTTPTypes

extension CacheRequest {
  /// Reads a request, without some of its fields.
  package init(_ request: InterceptedRequest, ignoring ignored: Set<String> = []) {
    let fields =
      ignored.isEmpty ? request.fields : HTTPFields(request.fields.filter { !ignored.contains($0.name.canonicalName) })
    self.init(
      method: request.method.rawValue, url: request.url, fields: fields, cachePolicy: request.options.cachePolicy)
  }
}
