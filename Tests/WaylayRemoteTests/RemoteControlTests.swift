#if InspectorServer && (os(Linux) || os(macOS))
  import Foundation
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHAR
  import WaylayMocks
  import WaylayTesting

  @testable import WaylayRemoteControl

  @Suite("A UI test's control of an app in another process", .heavy, .timeLimit(.minutes(10)))
  struct RemoteControlTests {
    @Test("an app's requests are answered, counted and verified from outside, its network is switched off and on")
    func whole() async throws {
      let remote = RemoteControl { Stub(.get, "/versions", .text("closed", status: 503)) }
      let app = try RemoteApp(remote.invitation)
      #expect(try await app.open("https://shop.example/versions") == "503 closed")
      try await remote.stubs { Stub(.get, "/orders", .text("one"), .text("two")).where(.query("page", "2")) }
      #expect(try await app.open("https://shop.example/orders?page=2") == "200 one")
      #expect(try await app.open("https://shop.example/orders?page=2") == "200 two")
      try await remote.set(.offline)
      #expect(try await app.open("https://shop.example/orders?page=2") == "failed -1009")
      try await remote.resetConditions()
      #expect(try await app.open("https://shop.example/orders?page=2&token=tell-no-one") == "200 two")
      let requests = try await remote.requests(to: "/orders")
      #expect(requests.count == 3 && requests.allSatisfy { $0.request.method == "GET" })
      #expect(!"\(requests)".contains("tell-no-one"))
      #expect(try await remote.requests(to: "/versions", .post).isEmpty)
      try await remote.verify()
      await app.end()
    }

    @Test("verify reports a stub that no request used, with the nearest request and the stub's line, at its own line")
    func verification() async throws {
      let remote = RemoteControl { Stub(.get, "/order", .text("one")) }
      let app = try RemoteApp(remote.invitation)
      try await remote.stubs { Stub(.get, "/orders", .text("two")) }
      #expect(try await app.open("https://shop.example/orders") == "200 two")
      try await withKnownIssue {
        try await remote.verify()
      } matching: { issue in
        let text = "\(issue)"
        return text.contains("/order") && text.contains("RemoteControlTests.swift") && text.contains("Nearest")
      }
      try await remote.removeStubs()
      try await remote.verify()
      await app.end()
    }

    @Test(
      "with the trait, and in a function's scope, each test has its own control, and one that invites no app is free",
      .remoteControlled { Stub(.get, "/orders", .text("traits")) })
    func scopes() async throws {
      let remote = try #require(RemoteControl.current)
      let app = try RemoteApp(remote.invitation)
      #expect(try await app.open("https://shop.example/orders") == "200 traits")
      try await withRemoteControl {
        Stub(.get, "/orders", .text("unused"))
      } perform: { other in
        #expect(RemoteControl.current === other && other !== remote)
      }
      // The trait verifies while the app lives.
      Self.kept.withLock { $0 = app }
    }

    private static let kept = Locked<RemoteApp?>(nil)

    @Test("two apps and two controls do not meet")
    func parallel() async throws {
      let controls = ["a", "b"].map { name in RemoteControl { Stub(.get, "/name", .text(name)) } }
      let apps = try controls.map { try RemoteApp($0.invitation) }
      for (name, (control, app)) in zip(["a", "b"], zip(controls, apps)) {
        #expect(try await app.open("https://shop.example/name") == "200 \(name)")
        #expect(try await control.requests(to: "/name").count == 1)
        await app.end()
      }
    }

    @Test("an app that was killed, or stopped, is said to be gone, within seconds", arguments: [SIGKILL, SIGSTOP])
    func gone(signal: Int32) async throws {
      let remote = RemoteControl { Stub(.get, "/orders", .text("here")) }
      let app = try RemoteApp(remote.invitation)
      #expect(try await app.open("https://shop.example/orders") == "200 here")
      #expect(try await remote.requests(to: "/orders").count == 1)
      app.kill(signal)
      let start = ContinuousClock.now
      let error = await #expect(throws: WaylayError.self) { try await remote.set(.offline) }
      #expect(error?.code == .noRemoteDoor && error?.message.contains("was stopped") == true)
      // Two seconds on a machine that does nothing else.
      #expect(start.duration(to: .now) < .seconds(20))
      await app.end()
    }

    @Test("an app that is launched again is found again")
    func again() async throws {
      let remote = RemoteControl { Stub(.get, "/orders", .text("here")) }
      for _ in 1...2 {
        let app = try RemoteApp(remote.invitation)
        // It may still be starting.
        #expect(try await remote.requests(to: "/orders").isEmpty)
        #expect(try await app.open("https://shop.example/orders") == "200 here")
        #expect(try await remote.requests(to: "/orders").count == 1)
        await app.end()
      }
    }

    @Test("an app that opens no door is waited for as long as told, and the error says what to check")
    func silent() async throws {
      let remote = RemoteControl(launchTime: .milliseconds(50)) {}
      let error = await #expect(throws: WaylayError.self) { try await remote.set(.offline) }
      #expect(error?.code == .noRemoteDoor && error?.message.contains("RemoteDoor.open") == true)
    }

    @Test("a stub for the first request answers it, in each of many launches, many of them at once")
    func launches() async throws {
      let count = ProcessInfo.processInfo.environment["WAYLAY_LAUNCHES"].flatMap(Int.init) ?? 24
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count {
          if number >= min(64, count / 3) { _ = try await group.next() }
          group.addTask {
            let remote = RemoteControl { Stub(.get, "/first", .text("stubbed \(number)")) }
            let app = try RemoteApp(remote.invitation)
            #expect(try await app.open("https://shop.example/first") == "200 stubbed \(number)")
            await app.end()
          }
        }
        try await group.waitForAll()
      }
    }

    #if CommandLineTool && Tunnel
      @Test(
        "a test works within waylay tunnel, which gives it proxies that refuse, and within an air gap there",
        .enabled(if: Platform.isLinux && Program.tests != nil, "the bundle of tests is a program on Linux alone"))
      func tunnelled() async throws {
        let tests = try #require(Program.tests)
        let end = try await Program("waylay").run([
          "tunnel", "--route", "api.test=127.0.0.1", "--", tests.path, "--testing-library", "swift-testing",
          "--filter", "RemoteControlTests.whole|StubListTests.airgap",
        ])
        #expect(end.code == 0 && end.output.contains("run with 2 tests"), "\(end.output)")
      }
    #endif

    @Test("conditions of the invitation hold for the first request")
    func conditions() async throws {
      let app = try RemoteApp(RemoteControl(fault: .offline) {}.invitation)
      #expect(try await app.open("https://shop.example/first") == "failed -1009")
      await app.end()
    }

    @Test("conditions that no network has are an issue before the launch, and not in the invitation")
    func defects() {
      withKnownIssue {
        let remote = RemoteControl(fault: .connectionReset(afterBytes: -1)) {}
        #expect(remote.invitation.values.first?.contains("connectionReset") == false)
      } matching: {
        "\($0)".contains("negative number of bytes")
      }
    }

    @Test("an invitation is read as it was written")
    func reading() throws {
      let text = try #require(RemoteControl(network: .threeG) { Stub(.get, "/a") }.invitation.values.first)
      #expect(try RemoteInvitation(parsing: text).text == text)
    }

    @Test("a closure is refused with a sentence that names the stub, before the launch and after")
    func closures() async throws {
      withKnownIssue {
        let remote = RemoteControl { Stub(.get, "/now") { .text("\(Date())") } }
        #expect(remote.invitation.values.first?.contains("/now") == false)
      } matching: {
        "\($0)".contains("GET /now cannot be sent to another process because of the closure")
      }
      let error = await #expect(throws: MockError.self) {
        try await RemoteControl {}.stubs { Stub(.get, "/", .text("")).where(.predicate("odd") { _ in true }) }
      }
      #expect(error?.code == .notPortable && error?.message.contains("odd") == true)
    }

    @Test("an invitation beyond 64 KiB is an issue before the launch, and nothing is put into the environment")
    func large() {
      let body = String(repeating: "a", count: RemoteInvitation.limit)
      let remote = RemoteControl { Stub(.get, "/large", .text(body)) }
      withKnownIssue {
        #expect(remote.invitation.isEmpty)
      } matching: {
        "\($0)".contains("bytes long, and the limit is")
      }
    }

    @Test(
      "what is no invitation is refused",
      arguments: ["", "{}", "[]", #"{"version":2}"#, #"{"version":1,"secret":"a","ports":[2000]}"#]
        + [#""conditions":"offline""#, #""stubs":{}"#].map {
          #"{"version":1,"secret":"\#(String(repeating: "a", count: 64))","ports":[2000],\#($0)}"#
        })
    func invitations(text: String) {
      let error = #expect(throws: WaylayError.self) { _ = try RemoteInvitation(parsing: text) }
      #expect(error?.code == .invalidInvitation)
    }

    @Test("an invitation's member that is not known is refused by its name, and the secret is not repeated")
    func strangeMember() throws {
      let text = RemoteInvitation().text.replacing("\"version\"", with: "\"vresion\":1,\"version\"")
      let error = #expect(throws: WaylayError.self) { _ = try RemoteInvitation(parsing: text) }
      let secret = try #require(try JSONValue(parsing: text)["secret"]?.string)
      #expect(error?.message.contains("vresion") == true && error?.message.contains(secret) == false)
    }

    @Test("HMAC-SHA256 is that of RFC 4231 for keys as long as the secret's, and proofs differ by each word")
    func proofs() throws {
      let secret = String(repeating: "0123456789abcdef", count: 4)
      let invitation = try RemoteInvitation(parsing: #"{"version":1,"secret":"\#(secret)","ports":[2000]}"#)
      // By Python's hmac.
      #expect(invitation.proof("door", "2000") == "cda8a8ea60b7424f4e60be250ff0829658e9ee50259f8cac2524a0b7f3430f2e")
      #expect(invitation.proof("a", "b") != invitation.proof("a\nb", ""))
      #expect("ab".utf8.isSame(as: "ab".utf8) && !"ab".utf8.isSame(as: "ac".utf8))
      #expect(!"ab".utf8.isSame(as: "abc".utf8) && !"".utf8.isSame(as: "a".utf8))
    }
  }
#endif
