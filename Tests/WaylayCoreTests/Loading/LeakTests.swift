import Foundation
import TestSupport
import Testing
import WaylayCore

@Suite("A load leaves nothing behind", .timeLimit(.minutes(5)))
struct LeakTests {
  /// A body whose end can be waited for: it lives as long as the load that it belongs to.
  private final class Canary: InputStream {
    private let die: @Sendable () -> Void

    init(_ die: @escaping @Sendable () -> Void) {
      self.die = die
      super.init(data: Data("x".utf8))
    }

    deinit {
      die()
    }

    override var hasBytesAvailable: Bool { false }
    override func open() {}
    override func close() {}
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int { 0 }
  }

  private func run(_ link: any RequestInterceptor, cancelling: Bool = false) async {
    let died = Event()
    do {
      let recorder = Recorder()
      let session = URLSession.intercepted(by: InterceptorRegistry { link }, delegate: recorder)
      var request = URLRequest(url: .example)
      request.httpMethod = "POST"
      request.httpBodyStream = Canary { died.happen() }
      let task = session.dataTask(with: request)
      task.resume()
      if cancelling { task.cancel() }
      await recorder.finished.wait()
      session.finishTasksAndInvalidate()
    }
    await died.wait()
  }

  @Test(
    "answered inline, answered later, streamed, failed, cancelled",
    .enabled(if: Platform.isLinux, "Apple's loading system takes no subclass of InputStream that is not its own"))
  func all() async {
    await run(Link.answer("inline", inline: true))
    await run(Link.answer("later"))
    await run(
      Link { request, _ in
        InterceptedResponse(
          to: request,
          body: .stream(
            AsyncStream {
              $0.yield(Data("a".utf8))
              $0.finish()
            }))
      })
    await run(Link { _, _ in throw URLError(.cannotParseResponse) })
    await run(
      Link { _, _ in
        let never = Event()
        await withTaskCancellationHandler {
          await never.wait()
        } onCancel: {
          never.happen()
        }
        throw CancellationError()
      }, cancelling: true)
  }
}
