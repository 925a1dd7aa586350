import Foundation
import Waylay
import WaylayHAR
import WaylayInspector
import WaylayInspectorServer

// The listings of `Inspecting.md` about the page. They compile here; the tests of the modules run what they show.

private func reporting(url: URL, file: URL) async throws {
  let inspector = Inspector()
  let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { inspector }))
  _ = try await session.data(from: url)
  try inspector.report(title: "Sign in").write(to: file)
}

private func showing(recording: URL, page: URL) throws {
  let archive = try HAR(contentsOf: recording)
  try InspectorPage(title: "Login").html(showing: archive).write(to: page)
}

#if InspectorServer
  private func serving(inspector: Inspector, session: URLSession) async throws {
    let server = InspectorServer(inspector, session: session)
    let page = try await server.start()
    _ = page
  }
#endif
