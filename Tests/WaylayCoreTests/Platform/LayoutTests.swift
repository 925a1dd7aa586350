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
