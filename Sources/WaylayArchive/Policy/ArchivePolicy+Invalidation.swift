extension ArchivePolicy {
  /// The URLs whose stored responses no longer hold after `response` to `request` (RFC 9111, section 4.4): the
  /// target's, and those that `Location` and `Content-Location` name at the same origin. None for a safe method, and
  /// none for an error.
  package func invalidations(
    status: Int, fields: HTTPFields, for request: CacheRequest, options: CacheOptions = CacheOptions()
  ) -> [URL] {
    guard !options.isKeyedByBody, !request.method.isSafe, (200..<400).contains(status), let target = request.url else {
      return []
    }
    var urls = [target]
    for name in [HTTPField.Name.location, .contentLocation] {
      guard let text = fields[name], let url = URL(string: text, relativeTo: target)?.absoluteURL,
        url.hasSameOrigin(as: target)
      else {
        continue
      }
      if !urls.contains(url) { urls.append(url) }
    }
    return urls
  }
}
