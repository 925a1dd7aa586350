import Foundation
import TestOrigin
import Waylay

extension Scene {
  /// A mock in a session, for the very URLs of a server that is there and gets none of the requests.
  static let mock = Scene(
    title: "A mock answers: computed, one after the other, broken off; and says why nothing matched"
  ) {
    origin, report in
    let mock = MockInterceptor {
      Stub(.get, "\(origin.url("/users"))/:id") { request in .json(["id": request.parameters["id"] ?? ""]) }
      Stub(.get, origin.url("/status"), .text("busy", status: 503), .text("here you are").delay(.milliseconds(20)))
      Stub(.get, origin.url("/photo"), .text("half a picture").fault(.connectionReset(afterBytes: 4)))
    }
    let registry = InterceptorRegistry { mock }
    let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
    let before = origin.requests.count

    for path in ["/users/42", "/status", "/status"] {
      let (data, response) = try await session.data(from: origin.url(path))
      let status = (response as? HTTPURLResponse)?.statusCode ?? 0
      report.note("app got", "\(path): \(status) \(String(decoding: data, as: UTF8.self))")
    }
    do {
      _ = try await session.data(from: origin.url("/photo"))
      report.expect("the photo breaks off", was: "a response", false)
    } catch let error as URLError {
      report.note("app got", "/photo: \(error.localizedDescription)")
      report.expect("the photo breaks off", error.code, .networkConnectionLost)
    }
    do {
      _ = try await session.data(from: origin.url("/user/42"))
      report.expect("a request without a stub fails", was: "a response", false)
    } catch let error as URLError {
      let cause = error.cause(as: MockError.self)?.message ?? ""
      report.note("app got", "/user/42: \(cause)")
      report.expect("the nearest stub is named", was: cause, cause.contains("/users/:id"))
    }
    report.expect(
      "calls that the mock remembers", mock.requests.map(\.url.path),
      ["/users/42", "/status", "/status", "/photo", "/user/42"])
    report.expect("requests at the server", origin.requests.count - before, 0)
    registry.invalidate()
  }
}
