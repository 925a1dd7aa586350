import WaylayArchive
import WaylayInterceptors

/// The forecasts of another server, which this one asks at most once a minute for each city.
public struct Forecasts: Sendable {
  private let upstream: any URLLoader

  /// Makes a chain over a session.
  ///
  /// - Parameter configuration: The configuration of the session; tests pass `.mocked`.
  public init(configuration: URLSessionConfiguration = .ephemeral) {
    let registry = InterceptorRegistry {
      // A caller does not wait longer than this, whatever retries do.
      Intercept(request: { $0.options.deadline = .now + .seconds(5) })
      Retry(attempts: 3, initialDelay: .milliseconds(100))
      ArchiveCache { $0.lifetimes = [.lifetime(.seconds(60), for: .host("weather.example.com"))] }
      ConcurrencyLimit(perHost: 8)
    }
    upstream = URLSession(configuration: configuration.intercepted(by: registry))
  }

  /// Returns what to answer: the forecast, or 502 when the other server does not respond.
  public func response(city: String) async -> (status: Int, body: Data) {
    var address = URLComponents(string: "https://weather.example.com/")
    address?.path = "/" + city
    guard let url = address?.url else { return (400, Data()) }
    do {
      let (data, response) = try await upstream.data(from: url)
      return ((response as? HTTPURLResponse)?.statusCode == 200 ? 200 : 502, data)
    } catch {
      return (502, Data("the weather service does not respond\n".utf8))
    }
  }
}
