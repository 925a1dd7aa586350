// About Foundation on Linux: this file is empty elsewhere.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing

  @testable import WaylayCore

  @Suite("A Foundation whose layout is another one", .timeLimit(.minutes(5)))
  struct LayoutTests {
    private protocol Owned: AnyObject {}
    private final class Object: Owned {}

    private final class Owner {
      var number = 1
      var strong: (any Owned)?
      weak var feeble: (any Owned)?
    }

    @Test("a weak reference has name, type and size of a strong one; that it is stored in another way is noticed")
    func weakReference() throws {
      let (owner, object) = (Owner(), Object())
      (owner.strong, owner.feeble) = (object, object)
      let strong = try #require(storedPlace(of: "strong", in: Owner.self))
      let feeble = try #require(storedPlace(of: "feeble", in: Owner.self))
      #expect(ObjectIdentifier(strong.type) == ObjectIdentifier(feeble.type))
      #expect(isStored(object, at: strong.offset, in: owner))
      #expect(!isStored(object, at: feeble.offset, in: owner))
      #expect(!isStored(Object(), at: strong.offset, in: owner))
      #expect(!isStored(nil, at: strong.offset, in: owner))
    }

    @Test("nothing is lost with this Foundation")
    func whole() {
      let report = InterceptorRegistry.interceptionReport
      #expect(report == InterceptionReport(canIntercept: true, losses: []))
      #expect(report.description == "loads of sessions are intercepted")
    }

    @Test(
      "a name that is gone is a loss, or the end of interception, and is logged once", .exitTest,
      arguments: [
        "workQueue", "session", "knownBody", "syncQ", "taskRegistry", "behaviours", "tasks", "suspendCount",
        "_callCompletionHandlerInline", "properties", "temporaryFileURL", "error", "_currentRequest",
        "_countOfBytesReceived", "_countOfBytesSent", "countOfBytesExpectedToReceive", "countOfBytesExpectedToSend",
        "nextTaskIdentifier", "invalidated", "multiHandle",
      ])
    func renamed(name: String) async {
      await #expect(processExitsWith: .success) { [name = name as String] in
        Process.limit()
        TaskInternals.renamed.withLock { _ = $0.insert(name) }
        let lines = Log<String>()
        for _ in 1...2 {
          let registry = InterceptorRegistry(logger: .recording(lines)) { Link.answer("hello") }
          let session = URLSession.intercepted(by: registry)
          let isEssential = ["workQueue", "session", "knownBody"].contains(name)
          let report = InterceptorRegistry.interceptionReport
          Process.require(InterceptorRegistry.canIntercept != isEssential, "\(report)")
          Process.require(isEssential || !report.losses.isEmpty, "nothing is said of \(name)")
          Process.require(isEssential || report.description.contains(report.losses[0]), "\(report)")
          if !isEssential { Process.require(try await session.text(from: .example).1 == "hello", name) }
          guard !isEssential, report.losses.contains(where: { $0.contains("bytes(for:)") }) else { continue }
          let code = await failure { try await session.bytes(from: .example) }.flatMap(cause)?.code
          Process.require(code == .foundationChanged && InterceptorRegistry.canIntercept, "\(String(describing: code))")
        }
        Process.require(lines.all.count { $0.contains("version of Foundation") } == 1, "\(lines.all)")
      }
    }

    @Test("tasks of every kind are intercepted by reflection where something is not stored as it seems", .exitTest)
    func misplaced() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        // What is read there in place of the session is no address of an object.
        TaskInternals.misplacement.withLock { $0 = MemoryLayout<UnsafeRawPointer>.size }
        let origin = try await TestOrigin.start()
        let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
        var post = URLRequest(url: origin.url("/echo"))
        post.httpMethod = "POST"
        for _ in 1...2 {
          let (data, _) = try await session.data(from: origin.url("/redirect/302?to=/hello"), delegate: Recorder())
          Process.require(data == Data("hello".utf8), "\(data)")
          _ = try await session.upload(for: post, from: Data("body".utf8))
          let (file, _) = try await session.download(from: origin.url("/hello"))
          Process.require(try Data(contentsOf: file) == data, "\(file)")
          let recorder = Recorder()
          URLSession.intercepted(by: InterceptorRegistry { Link.pass() }, delegate: recorder)
            .dataTask(with: origin.url("/hello")).resume()
          await recorder.finished.wait()
          Process.require(recorder.entries.last == .completed(nil), "\(recorder.entries)")
        }
        Process.require(
          origin.requests.filter { $0.path == "/echo" }.map(\.body.count) == [4, 4], "\(origin.requests)")
        Process.require(!TaskInternals.readsStored, "what is stored elsewhere was taken for the session")
        Process.require(InterceptorRegistry.canIntercept, "reflection finds what is stored elsewhere")
        await origin.stop()
      }
    }
  }
#endif
