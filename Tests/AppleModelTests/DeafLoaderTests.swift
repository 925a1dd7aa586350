#if !canImport(Darwin)
  import AppleCore
  import AppleModel
  import Foundation
  import FoundationNetworking
  import Testing

  /// What a registry can do where the loader asks no protocol class, and how an app learns of it.
  @Suite("A loader that asks no protocol class, against the model", .timeLimit(.minutes(10)))
  struct DeafLoaderTests {
    private let seen = Seen()
    private let url = URL(string: "https://model.test/page") ?? URL(fileURLWithPath: "/")

    /// What stands for each module in a chain: an observer before, and an answer of its own or a route behind.
    private static let roles: [Role] = [.mock, .archive, .route, .inspector]

    private func registry(_ role: Role) -> InterceptorRegistry {
      InterceptorRegistry(transport: InnerSession.transport()) { Module(role: role, seen: seen) }
    }

    private func verify(_ system: AppleLoadingSystem) async throws {
      try await InterceptionProbe.verify { request in
        if let error = await system.load(request).error { throw error }
      }
    }

    @Test("an intercepted configuration asks for the classic loader, whatever it was made from")
    func asksForClassic() async throws {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.usesClassicLoadingMode = false
      let registry = registry(.mock)
      let intercepted = configuration.intercepted(by: registry)
      #expect(intercepted.usesClassicLoadingMode)
      #expect(!configuration.usesClassicLoadingMode)
      let system = AppleLoadingSystem(intercepted)
      #expect(String(decoding: await system.load(URLRequest(url: url)).body, as: UTF8.self) == "mock")
      try await verify(system)
      // The probe is no load of a chain.
      #expect(seen.urls == [url])
      #expect(system.sentToNetwork.isEmpty)
      registry.invalidate()
    }

    @Test(
      "without it, requests pass a mock, an archive, a route and an inspector by, and the check says so",
      arguments: roles)
    func passedBy(role: Role) async throws {
      let registry = registry(role)
      let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry)
      configuration.usesClassicLoadingMode = false
      let system = AppleLoadingSystem(configuration)
      let outcome = await system.load(URLRequest(url: url))
      #expect(String(decoding: outcome.body, as: UTF8.self) == "network")
      #expect(system.sentToNetwork == [url])
      #expect(seen.urls.isEmpty)
      let error = await #expect(throws: WaylayError.self) { try await verify(system) }
      #expect(error?.code == .notIntercepted)
      #expect(error?.message.contains("usesClassicLoadingMode") == true)
      // A closed port of this machine is all that it tried: no name was asked for.
      #expect(system.sentToNetwork.count == 2 && system.sentToNetwork.last?.host == "127.0.0.1")
      registry.invalidate()
    }

    @Test("a registry as loader needs none of it", arguments: roles)
    func loader(role: Role) async throws {
      let registry = registry(role)
      let loader: any URLLoader = registry
      let expected = role == .mock || role == .archive ? role.rawValue : ""
      if role == .route {
        // URLSession has no routes: the request is refused, rather than sent to another address.
        await #expect(throws: URLError.self) { try await loader.data(from: url) }
      } else {
        #expect(String(decoding: try await loader.data(from: url).0, as: UTF8.self) == expected)
      }
      #expect(seen.urls == [url])
      registry.invalidate()
    }

    @Test("the check passes the error of a registry that has ended")
    func invalidated() async throws {
      let registry = registry(.mock)
      let system = AppleLoadingSystem(URLSessionConfiguration.ephemeral.intercepted(by: registry))
      registry.invalidate()
      let error = await #expect(throws: WaylayError.self) { try await verify(system) }
      #expect(error?.code == .registryInvalidated)
    }
  }

  enum Role: String, Sendable { case mock, archive, route, inspector }

  private final class Seen: Sendable {
    private let list = Locked<[URL]>([])
    var urls: [URL] { list.withLock { $0 } }
    func note(_ url: URL) { list.withLock { $0.append(url) } }
  }

  private struct Module: RequestInterceptor {
    let role: Role
    let seen: Seen

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      seen.note(request.url)
      switch role {
      case .mock, .archive: return InterceptedResponse(to: request, body: .text(role.rawValue))
      case .inspector: return try await next(request)
      case .route:
        var request = request
        request.route = try Route("127.0.0.1")
        return try await next(request)
      }
    }
  }
#endif
