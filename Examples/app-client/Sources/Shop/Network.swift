import WaylayArchive
import WaylayInterceptors

extension URLSession {
  /// The session of the app: retries, authorizes, and shows what it has when the network is gone.
  ///
  /// - Parameters:
  ///   - account: The user's account.
  ///   - archive: The cache; the app passes `ArchiveCache(at:)`, tests pass `ArchiveCache()`.
  ///   - configuration: The configuration; tests pass `.mocked`.
  public static func shop(
    account: Account, archive: ArchiveCache, configuration: URLSessionConfiguration = .default
  ) -> URLSession {
    // The archive keeps what it stores in one place: URLSession's cache would keep it a second time.
    configuration.urlCache = nil
    let registry = InterceptorRegistry {
      Retry(attempts: 3)
      BearerToken(hosts: .host("api.shop.example.com")) {
        await account.token
      } refresh: { _ in
        try await account.refresh()
      }
      archive
    }
    return URLSession(configuration: configuration.intercepted(by: registry))
  }
}
