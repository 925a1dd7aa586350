// One class for all configurations is possible where a load knows its session: this file is empty elsewhere.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  @Suite("Configurations that one registry intercepts", .timeLimit(.minutes(5)))
  struct SharedClassTests {
    private func classes(_ configurations: [URLSessionConfiguration]) -> Set<ObjectIdentifier> {
      Set(configurations.compactMap { $0.protocolClasses?.first }.map { ObjectIdentifier($0) })
    }

    @Test("share a class, unless requests of theirs are given other header fields")
    func classes() {
      let (one, other) = (InterceptorRegistry { Link.pass() }, InterceptorRegistry { Link.pass() })
      let plain = (0..<100).map { number in
        (number.isMultiple(of: 2) ? URLSessionConfiguration.default : .ephemeral).intercepted(by: one)
      }
      let coloured = URLSessionConfiguration.ephemeral
      coloured.httpAdditionalHeaders = ["X-Colour": "red"]
      #expect(classes(plain).count == 1)
      #expect(classes(plain + [coloured.intercepted(by: one)]).count == 2)
      #expect(classes(plain + [URLSessionConfiguration.ephemeral.intercepted(by: other)]).count == 2)
    }

    @Test(
      "a session for each request keeps nothing", .enabled(if: Process.measuresMemory, "sanitizers keep what is freed"),
      .exitTest)
    func growth() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let registry = InterceptorRegistry { Link.answer("hello", inline: true) }
        func serve(_ count: Int) async throws {
          for _ in 0..<count {
            let session = URLSession.intercepted(by: registry)
            _ = try await session.data(from: .example)
            session.finishTasksAndInvalidate()
          }
        }
        func intercept(_ count: Int) {
          for _ in 0..<count { _ = URLSessionConfiguration.ephemeral.intercepted(by: registry) }
        }
        try await serve(500)
        intercept(5_000)
        let before = Process.residentBytes
        intercept(50_000)
        try await serve(500)
        let growth = Process.residentBytes - before
        Process.require(growth < 16 << 20, "\(growth) bytes more than before")
      }
    }

    @Test("the sessions of one have their connections in common, and with those of no other")
    func connections() async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry { Link.pass() }
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry)
        let sessions = [configuration, configuration].map { URLSession(configuration: $0) }
        for session in sessions { _ = try await session.data(from: origin.url("/hello")) }
        #expect(origin.connectionCount == 1)
        let other = URLSession(configuration: .ephemeral.intercepted(by: registry))
        _ = try await other.data(from: origin.url("/hello"))
        #expect(origin.connectionCount == 2)
        _ = sessions
      }
    }

    @Test("cookies, timeouts and header fields set later are those of each")
    func settings() async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry { Link.pass() }
        let (one, other) = (
          URLSessionConfiguration.ephemeral.intercepted(by: registry),
          URLSessionConfiguration.ephemeral.intercepted(by: registry)
        )
        other.httpAdditionalHeaders = ["X-Late": "other"]
        let sessions = [one, other].map { URLSession(configuration: $0) }
        _ = try await sessions[0].data(from: origin.url("/cookies/set?who=one"))
        for _ in 0..<2 {
          _ = try await sessions[0].data(from: origin.url("/hello"))
          #expect(origin.requests.last?["Cookie"] == ["who=one"] && origin.requests.last?["X-Late"] == [])
          _ = try await sessions[1].data(from: origin.url("/hello"))
          #expect(origin.requests.last?["Cookie"] == [] && origin.requests.last?["X-Late"] == ["other"])
        }
      }
    }

    @Test("foreign classes of one are asked for its requests alone")
    func foreign() async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry { Link.pass() }
        let inner = InterceptorRegistry { Link.answer("inner") }
        let nested = URLSessionConfiguration.ephemeral.intercepted(by: inner).intercepted(by: registry)
        let plain = URLSessionConfiguration.ephemeral.intercepted(by: registry)
        for _ in 0..<2 {
          let nestedAnswer = try await URLSession(configuration: nested).text(from: origin.url("/hello"))
          let plainAnswer = try await URLSession(configuration: plain).text(from: origin.url("/hello"))
          #expect(nestedAnswer.1 == "inner" && plainAnswer.1 == "hello")
        }
      }
    }

    @Test("intercepted twice by a registry, a request runs its chain once")
    func twice() async throws {
      let runs = Log<Int>()
      let registry = InterceptorRegistry {
        Link { request, next in
          runs.add(1)
          return try await next(request)
        }
      }
      try await withOrigin { origin in
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry).intercepted(by: registry)
        let answer = try await URLSession(configuration: configuration).text(from: origin.url("/hello"))
        #expect(answer.1 == "hello")
      }
      #expect(runs.all.count == 1)
    }

    @Test("after invalidate() all fail, those that are made later too")
    func invalidated() async {
      let registry = InterceptorRegistry { Link.pass() }
      let before = URLSession.intercepted(by: registry)
      registry.invalidate()
      for session in [before, URLSession.intercepted(by: registry)] {
        let error = await failure { try await session.data(from: .example) }
        #expect(error.flatMap(cause)?.code == .registryInvalidated)
      }
    }
  }
#endif
