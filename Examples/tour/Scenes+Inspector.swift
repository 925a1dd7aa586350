import Foundation
import TestOrigin
import Waylay
import WaylayInspector

extension Scene {
  static let page = Scene(title: "An Inspector writes a page of what an app has sent") { origin, report in
    let inspector = Inspector()
    let registry = InterceptorRegistry { inspector }
    let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
    var request = URLRequest(url: origin.url("/hello"))
    request.setValue("Bearer a-secret-of-the-app", forHTTPHeaderField: "Authorization")
    _ = try await session.data(for: request)
    _ = try await session.data(from: origin.url("/missing"))
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-tour.html")
    let page = inspector.report(title: "The tour")
    try page.write(to: file)
    report.note("open in a browser", file.path)
    report.expect("the requests are on it", inspector.count, 2)
    report.expect("the credential is not", page.range(of: Data("a-secret-of-the-app".utf8)) == nil, true)
    registry.invalidate()
  }
}
