#if InspectorServer && DEBUG && (os(Linux) || os(macOS))
  import Foundation
  import NIOCore
  import NIOHTTP1
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHAR
  import WaylayInspector
  import WaylayInterceptors
  import WaylayMocks

  @testable import WaylayRemote
  @testable import WaylayRemoteControl

  /// An app's side of a door, in this process.
  struct OpenDoor {
    let invitation: RemoteInvitation
    let inspector = Inspector()
    let mocks = MockInterceptor(.init(unmatched: .status(404)))
    let conditions = NetworkConditions()
    let calls: DoorCalls
    let door: RemoteDoor
    let client: DoorClient
    let registry: InterceptorRegistry

    init(
      _ invitation: RemoteInvitation = RemoteInvitation(),
      allowing permissions: RemoteDoor.Permissions = [.reading, .stubs, .conditions]
    ) async throws {
      self.invitation = invitation
      calls = DoorCalls(inspector, mocks, conditions, permissions)
      door = try await RemoteDoor.open(invitation, calls)
      client = DoorClient(invitation)
      registry = InterceptorRegistry(configuration: .ephemeral) { [inspector, conditions, mocks] in
        inspector
        conditions
        mocks
      }
    }

    /// Loads a URL in the app; returns status and body.
    func load(_ url: String, fields: [String: String] = [:], body: String? = nil) async throws -> String {
      var request = URLRequest(url: try #require(URL(string: url)))
      request.httpMethod = body == nil ? "GET" : "POST"
      request.allHTTPHeaderFields = fields
      let response = try await registry.load(request, body: body.map { .text($0) })
      let data = try await response.body.collect(upTo: 1 << 20)
      return "\(response.status.code) \(String(decoding: data, as: UTF8.self))"
    }
  }

  @Suite("The remote door", .heavy, .timeLimit(.minutes(10)))
  struct DoorTests {
    @Test(
      "exchanges are found by the page's language, one by one and as an archive, the newest ones first within limits")
    func reading() async throws {
      let app = try await OpenDoor()
      _ = try await app.client.call("addStubs", ["stubs": [["url": "/a", "responses": [["json": ["n": 1]]]]]])
      for page in 1...3 { #expect(try await app.load("https://shop.example/a?page=\(page)") == #"200 {"n":1}"#) }
      _ = try await app.load("https://shop.example/b")
      let found = try await app.client.call("exchanges", ["query": "status:2xx", "limit": JSONValue(2)])
      let rows = try #require(found["exchanges"]?.array)
      #expect(rows.compactMap { $0["url"]?.string?.suffix(1) } == ["2", "3"] && found["leftOut"] == 1)
      #expect(rows[0]["source"] == "mocked" && rows[0]["status"] == 200)
      let id = try #require(rows[0]["id"]?.int)
      let older = try await app.client.call("exchanges", ["before": JSONValue(id)])
      #expect(older["exchanges"]?.array?.count == 1)
      let one = try await app.client.call("exchange", ["id": JSONValue(id)])
      #expect(one["exchange"]?["response"]?["content"]?["text"] == #"{"n":1}"#)
      let har = try await app.client.call("har", ["query": "host:shop.example"])
      #expect(har["har"]?["log"]?["entries"]?.array?.count == 4 && har["leftOut"] == 0)
      let near = try await app.client.call("explain", ["url": "https://shop.example/A"])
      #expect(near["explanation"]?.string?.contains("Nearest of 1 stub") == true)
      let why = try await app.client.call("explain", ["id": JSONValue(id)])
      #expect(why["explanation"]?.string?.contains("answers.") == true)
      let issues = try await app.client.call("issues")
      #expect(issues["issues"]?[0]?["kind"] == "unmatched")
      app.registry.invalidate()
    }

    @Test("stubs are added, replaced and removed by their ids, and the app always has one of them")
    func stubs() async throws {
      let app = try await OpenDoor()
      func add(_ text: String, replacing: JSONValue? = nil) async throws -> JSONValue {
        let stubs: JSONValue = [["url": "/a", "responses": [["text": .init(text)]]]]
        return try await app.client.call("addStubs", ["stubs": stubs, "replacing": replacing])["stubs"] ?? nil
      }
      #expect(try await add("one") == [1])
      #expect(try await add("two") == [2])
      #expect(try await app.load("https://shop.example/a") == "200 two")
      #expect(try await add("three", replacing: [2]) == [3])
      #expect(try await app.load("https://shop.example/a") == "200 three")
      #expect(try await app.client.call("removeStubs", ["ids": [3]])["removed"] == 1)
      #expect(try await app.load("https://shop.example/a") == "200 one")
      #expect(try await add("four", replacing: true) == [4])
      #expect(try await app.client.call("removeStubs")["removed"] == 1)
      #expect(try await app.load("https://shop.example/a").hasPrefix("404"))
      app.registry.invalidate()
    }

    @Test(
      "a message that makes no sense is refused with its code, and a member that a call does not have by its name",
      arguments: [
        ("[]", "badMessage", "not an object"), ("{", "badMessage", "not JSON"),
        (#"{"call":"x"}"#, "unknownCall", "no such"),
        (#"{"call":"exchanges","lmit":1}"#, "unknownMember", "lmit"),
        (#"{"call":"exchanges","limit":1001}"#, "badMessage", "limit"),
        (#"{"call":"exchanges","query":"stauts:x"}"#, "badMessage", "stauts"),
        (#"{"call":"exchange","id":7}"#, "notFound", "not kept"),
        (#"{"call":"addStubs","stubs":[{"url":"/a","statuses":1}]}"#, "unknownMember", "statuses"),
        (#"{"call":"addStubs","stubs":[{"url":"/a","responses":[{"status":99}]}]}"#, "badStub", "99"),
        (#"{"call":"addStubs","stubs":[{"url":"a b://"}]}"#, "badStub", "a b://"),
        (#"{"call":"addStubs","stubs":[{"url":"/a","query":{"page":2}}]}"#, "badStub", "page"),
        (#"{"call":"addStubs","stubs":[{"url":"/a","fields":{"Accept":null}}]}"#, "badStub", "Accept"),
        (#"{"call":"addStubs","stubs":[{"url":{"regex":"z$","flags":"i"}}]}"#, "unknownMember", "flags"),
        (#"{"call":"addStubs","stubs":[{"url":{"regex":"a","literal":"https://a/"}}]}"#, "badStub", "url"),
        (#"{"call":"addStubs","stubs":[{"url":"/a","times":[1,2,3]}]}"#, "badStub", "times"),
        (#"{"call":"addStubs","stubs":[{"url":"/a","method":""}]}"#, "badStub", "method"),
        (#"{"call":"addStubs","stubs":[{"url":"/a","responses":[{"delay":-5}]}]}"#, "badStub", "delay"),
        (#"{"call":"addStubs","stubs":[{"url":"/a","responses":[{"error":-1001,"never":true}]}]}"#, "badStub", "never"),
        (#"{"call":"removeStubs","ids":[1,"2"]}"#, "badMessage", "ids"),
        ("{\"call\":\"requests\",\"url\":\"\(String(repeating: "/**", count: 1_000))\"}", "badMessage", "url"),
        ("{\"call\":\"exchanges\",\"query\":\"\(String(repeating: "a", count: 5_000))\"}", "badMessage", "query"),
        (#"{"call":"setConditions","fault":"none"}"#, "badMessage", "fault"),
        (#"{"call":"setConditions","network":{"loss":2}}"#, "badMessage", "network"),
      ].map { Refusal(message: $0, code: $1, part: $2) })
    func refusals(refusal: Refusal) {
      let calls = DoorCalls(Inspector(), MockInterceptor(), NetworkConditions(), [.reading, .stubs, .conditions])
      let error = #expect(throws: JSONRefusal.self) { try calls.perform(refusal.message) }
      #expect(error?.code == refusal.code && error?.message.contains(refusal.part) == true, "\(error?.message ?? "")")
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
      let message: String
      let code: String
      let part: String

      var testDescription: String { "\(message.prefix(80)): \(code)" }
    }

    @Test("what is not allowed, or not there, is refused")
    func permissions() throws {
      let calls = DoorCalls(Inspector(), nil, nil, [.reading, .conditions])
      #expect(throws: JSONRefusal.self) { try calls.perform(#"{"call":"addStubs","stubs":[]}"#) }
      #expect(throws: JSONRefusal.self) { try calls.perform(#"{"call":"setConditions"}"#) }
      #expect(throws: JSONRefusal.self) { try calls.perform(#"{"call":"issues"}"#) }
      #expect(try calls.perform(#"{"call":"exchanges"}"#) == #"{"exchanges":[],"leftOut":0}"#)
    }

    @Test("no secret of the traffic is in any response")
    func redaction() async throws {
      let app = try await OpenDoor()
      let secret = "\(Recording.mark)-\(UUID().uuidString)"
      _ = try? await app.load(
        "https://shop.example/login?token=\(secret)",
        fields: ["Authorization": "Bearer \(secret)", "Cookie": "s=\(secret)"],
        body: #"{"password":"\#(secret)"}"#)
      for message in [
        #"{"call":"exchanges"}"#, #"{"call":"exchange","id":1}"#, #"{"call":"har"}"#, #"{"call":"requests"}"#,
        #"{"call":"issues"}"#, #"{"call":"explain","id":1}"#,
      ] {
        let text = try app.calls.perform(message)
        #expect(text.contains("login") && !text.contains(secret), "\(message)")
        Recording.note(text)
      }
      app.registry.invalidate()
    }

    @Test("a secret that a later exchange shows is hidden in every response on the earlier one")
    func lateSecrets() async throws {
      let app = try await OpenDoor()
      let secret = UUID().uuidString
      _ = try await app.load("https://shop.example/early?x=\(secret)")
      _ = try await app.load("https://shop.example/login", body: #"{"password":"\#(secret)"}"#)
      // The second exchange is redacted by the first call at the latest.
      _ = try app.calls.perform(#"{"call":"har"}"#)
      for message in [
        #"{"call":"exchanges"}"#, #"{"call":"exchange","id":1}"#, #"{"call":"har"}"#, #"{"call":"requests"}"#,
        #"{"call":"issues"}"#, #"{"call":"explain","id":1}"#,
      ] {
        let text = try app.calls.perform(message)
        #expect(text.contains("early") && !text.contains(secret), "\(message)")
      }
      app.registry.invalidate()
    }

    @Test("an expression that never ends matches nothing, and its call and the app's next load end")
    func endless() async throws {
      let app = try await OpenDoor()
      let url = "https://shop.example/" + String(repeating: "a", count: 40)
      _ = try await app.load(url)
      for expression in ["(a+)+$X", "(a|a)*$X", "(.*)*X", String(repeating: "a*", count: 100) + "X"] {
        let found = try await app.client.call("requests", ["url": ["regex": JSONValue(expression)]])
        #expect(found["har"]?["log"]?["entries"]?.array?.isEmpty == true)
        _ = try await app.client.call(
          "addStubs", ["stubs": [["url": ["regex": JSONValue(expression)]]], "replacing": true])
        #expect(try await app.load(url).hasPrefix("404"))
      }
      app.registry.invalidate()
    }

    @Test("requests with large bodies are all counted, their bodies cut as the Inspector's are")
    func uploads() async throws {
      let app = try await OpenDoor()
      let body = String(repeating: "a", count: 6 << 20)
      for _ in 1...3 { _ = try await app.load("https://shop.example/photo", body: body) }
      let found = try await app.client.call("requests")
      #expect(found["har"]?["log"]?["entries"]?.array?.count == 3 && found["leftOut"] == 0)
      #expect(found["har"]?["log"]?["entries"]?[0]?["request"]?["postData"]?["_size"]?.int == body.utf8.count)
      app.registry.invalidate()
    }

    @Test("entries that do not fit into a response are left out and counted, and one that does not is refused")
    func large() throws {
      let inspector = Inspector(limits: .init(bytes: 100 << 20, bodyBytes: 20 << 20), redaction: .none)
      for size in [17 << 20, 9 << 20, 1 << 20] {
        inspector.add(
          HAR.Entry(
            started: Date(), request: HAR.Request(method: "GET", url: "https://shop.example/large"),
            response: HAR.Response(
              status: 200, body: HAR.Body(Data(repeating: 97, count: size), mediaType: "text/plain"))))
      }
      let calls = DoorCalls(inspector, nil, nil, [.reading])
      let har = try calls.perform(#"{"call":"har"}"#)
      #expect(har.ranges(of: "startedDateTime").count == 2 && har.hasSuffix(#""leftOut":1}"#))
      let error = #expect(throws: JSONRefusal.self) { try calls.perform(#"{"call":"exchange","id":1}"#) }
      #expect(error?.code == "tooLarge")
    }

    @Test("a message that a door does not take is refused with its size before it is sent")
    func oversized() async throws {
      let client = DoorClient(RemoteInvitation(), launchTime: .zero)
      let large = JSONValue(String(repeating: "a", count: 9 << 20))
      let error = await #expect(throws: WaylayError.self) { try await client.call("addStubs", ["stubs": large]) }
      #expect(error?.code == .refusedByDoor && error?.message.contains("8 MiB") == true)
    }

    @Test("as many stubs as there may be are replaced by as many, and all are removed at once")
    func many() throws {
      let mocks = MockInterceptor()
      let calls = DoorCalls(Inspector(), mocks, nil, [.stubs])
      let list = (1...10_000).map { #"{"url":"/\#($0 % 100)","optional":true}"# }.joined(separator: ",")
      for _ in 1...2 { _ = try calls.perform(#"{"call":"addStubs","replacing":true,"stubs":[\#(list)]}"#) }
      let error = #expect(throws: JSONRefusal.self) {
        try calls.perform(#"{"call":"addStubs","stubs":[{"url":"/one"}]}"#)
      }
      #expect(error?.message.contains("10 000 stubs") == true)
      #expect(try calls.perform(#"{"call":"removeStubs"}"#) == #"{"removed":10000}"#)
      _ = try calls.perform(#"{"call":"addStubs","stubs":[{"url":"/one"}]}"#)
      #expect(mocks.issues.map(\.kind) == [.unused])
    }

    @Test("stubs and conditions that came through the door end with it, and without a door there are none")
    func ends() async throws {
      let (mocks, conditions) = (MockInterceptor(), NetworkConditions())
      var invitation = RemoteInvitation()
      invitation.stubs = [["url": "/a", "responses": [["status": 200]]]]
      invitation.conditions = ["fault": "offline"]
      func open() async throws -> RemoteDoor {
        try await RemoteDoor.open(
          invitation, DoorCalls(Inspector(), mocks, conditions, [.reading, .stubs, .conditions]))
      }
      var door: RemoteDoor? = try await open()
      #expect(mocks.issues.count == 1 && conditions.summary == "offline")
      withExtendedLifetime(door) {}
      door = nil
      while !mocks.issues.isEmpty || !conditions.summary.isEmpty, !Task.isCancelled { await Task.yield() }
      var tasks: [Task<Void, Never>] = []
      for port in invitation.ports {
        let listener = try await Listener(port: UInt16(port), token: nil, limits: ConnectionLimits()) { _, _ in }
        tasks.append(Task { await listener.run() })
      }
      await #expect(throws: WaylayError.self) { try await open() }
      #expect(mocks.issues.isEmpty && conditions.summary.isEmpty)
      invitation.conditions = ["fault": "late"]
      await #expect(throws: WaylayError.self) { try await open() }
      #expect(mocks.issues.isEmpty && conditions.summary.isEmpty)
      for task in tasks {
        task.cancel()
        await task.value
      }
    }

    @Test("a control throws where it could not count, reports each issue once, and says how many it has not seen")
    func counting() async throws {
      let mocks = MockInterceptor(.init(unmatched: .status(404)))
      try await withRemoteControl {
      } perform: { remote in
        let text = try #require(remote.invitation.values.first)
        var door: RemoteDoor? = try await RemoteDoor.open(
          RemoteInvitation(parsing: text), DoorCalls(Inspector(), mocks, nil, [.reading]))
        let end = InterceptorChain.Next { _ in throw URLError(.unsupportedURL) }
        func load(_ path: String) async throws {
          let request = InterceptedRequest(.get, try #require(URL(string: "https://shop.example/\(path)")))
          _ = try await mocks.startLoading(request, next: end)
        }
        for number in 1...202 { try await load("\(number)") }
        let found = Log<String>()
        for _ in 1...2 {
          try await withKnownIssue(isIntermittent: true) {
            try await remote.verify()
          } matching: { issue in
            found.add("\(issue)")
            return true
          }
        }
        #expect(found.all.filter { $0.contains("No stub matches") }.count == 200)
        #expect(found.all.filter { $0.contains("2 more issues") }.count == 2)
        for _ in 1...1_000 { try await load("again") }
        #expect(try await remote.requests(to: "/7").count == 1)
        #expect(try await remote.requests(to: "/again").count == 1_000)
        try await load("again")
        let error = await #expect(throws: WaylayError.self) { try await remote.requests(to: "/again") }
        #expect(error?.code == .refusedByDoor)
        // The control has verified: its scope needs no app any more.
        withExtendedLifetime(door) {}
        door = nil
        let client = DoorClient(try RemoteInvitation(parsing: text), launchTime: .seconds(1))
        while (try? await client.call("exchanges")) != nil, !Task.isCancelled {}
      }
    }

    @Test("an explanation by an exchange says that its request is redacted")
    func shownRequest() async throws {
      let app = try await OpenDoor()
      _ = try await app.client.call("addStubs", ["stubs": [["url": "/a", "fields": ["Authorization": "Bearer a"]]]])
      #expect(
        try await app.load("https://shop.example/a", fields: ["Authorization": "Bearer a"]).hasPrefix("200"))
      let text = try await app.client.call("explain", ["id": 1])["explanation"]?.string ?? ""
      #expect(text.contains("redacted request") && text.contains("mocked"))
      app.registry.invalidate()
    }

    @Test("an explanation takes no issue away")
    func explanation() throws {
      let mocks = MockInterceptor { Stub(.get, "/orders", .text("never used")) }
      let calls = DoorCalls(Inspector(), mocks, nil, .reading)
      #expect(try calls.perform(#"{"call":"explain","url":"https://shop.example/order"}"#).contains("Nearest"))
      #expect(mocks.issues.map(\.kind) == [.unused])
    }

    @Test("a port that drips a byte now and then is no door")
    func dripping() async throws {
      let invitation = RemoteInvitation()
      var limits = ConnectionLimits()
      limits.takesBodies = true
      let listener = try await Listener(port: UInt16(invitation.ports[0]), token: nil, limits: limits) {
        _, responder in
        try? await responder.send(ByteBuffer(string: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"))
        while (try? await responder.send(ByteBuffer(string: "a"))) != nil, !Task.isCancelled {
          try? await ContinuousClock().sleep(for: .milliseconds(100))
        }
      }
      let task = Task { await listener.run() }
      let client = DoorClient(invitation, launchTime: .seconds(1))
      let error = await #expect(throws: WaylayError.self) { try await client.call("exchanges") }
      #expect(error?.code == .noRemoteDoor)
      task.cancel()
      await task.value
    }

    @Test(
      "a call may take as long as the app lives, and ends when the door says no more", arguments: [true, false])
    func slow(isAlive: Bool) async throws {
      let invitation = RemoteInvitation()
      let port = invitation.ports[0]
      /// The times that the door was asked for since it has the call.
      let asked = Locked<Int?>(nil)
      var limits = ConnectionLimits()
      limits.takesBodies = true
      let listener = try await Listener(port: UInt16(port), token: "door", limits: limits) { request, responder in
        let nonce = String(repeating: "a", count: 32)
        if request.path == "/hello" {
          asked.withLock { $0 = $0.map { $0 + 1 } }
          // A stopped app says nothing.
          if !isAlive, asked.withLock({ $0 != nil }) { try? await Never.comes() }
          let proof = invitation.proof("door", "\(port)", String(buffer: request.body), nonce)
          try? await responder.send(
            Response.json(.ok, #"{"version":1,"nonce":"\#(nonce)","proof":"\#(proof)"}"#).bytes)
        } else {
          asked.withLock { $0 = 0 }
          if !isAlive { try? await Never.comes() }
          while asked.withLock({ $0 ?? 0 }) < 2, !Task.isCancelled { await Task.yield() }
          var response = Response.json(.ok, "{}")
          response.fields = [("X-Waylay-Proof", invitation.proof("reply", nonce, "200", "{}"))]
          try? await responder.send(response.bytes)
        }
      }
      let task = Task { await listener.run() }
      let client = DoorClient(invitation)
      if isAlive {
        #expect(try await client.call("exchanges") == [:])
      } else {
        let error = await #expect(throws: WaylayError.self) { try await client.call("exchanges") }
        #expect(error?.code == .noRemoteDoor && error?.message.contains("was stopped") == true)
      }
      task.cancel()
      await task.value
    }

    @Test("conditions keep the name of their network")
    func networkNames() async throws {
      let app = try await OpenDoor()
      for network in [NetworkProfile.threeG, NetworkProfile("tunnel", latency: .seconds(1), downstream: 9)] {
        _ = try await app.client.call("setConditions", ["network": network.json])
        #expect(app.conditions.summary == network.description)
      }
      _ = try await app.client.call("setConditions", ["network": "3G"])
      #expect(app.conditions.network == .threeG)
      app.registry.invalidate()
    }

    @Test("a port that refuses access is named, since it may be the door of another user's app")
    func refusing() async throws {
      let invitation = RemoteInvitation()
      let listener = try await Listener(port: UInt16(invitation.ports[0]), token: "other", limits: .init()) { _, _ in }
      let task = Task { await listener.run() }
      let client = DoorClient(invitation, launchTime: .seconds(1))
      let error = await #expect(throws: WaylayError.self) { try await client.call("exchanges") }
      #expect(error?.code == .noRemoteDoor && error?.message.contains("refuses access") == true)
      task.cancel()
      await task.value
    }

    @Test("the proof of a reply is for its status and its body")
    func proof() async throws {
      let invitation = RemoteInvitation()
      let app = try await OpenDoor(invitation)
      let direct = InterceptorRegistry(configuration: .ephemeral)
      func text(_ path: String, _ body: String, _ fields: [String: String]) async throws -> (String?, String) {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(invitation.ports[0])/door/\(path)")))
        request.httpMethod = "POST"
        request.allHTTPHeaderFields = fields.merging(["X-Waylay": "1"]) { $1 }
        let response = try await direct.load(request, body: .text(body))
        let data = try await response.body.collect(upTo: 1 << 20)
        return (response.head.value(forHTTPHeaderField: "X-Waylay-Proof"), String(decoding: data, as: UTF8.self))
      }
      for (message, status) in [(#"{"call":"exchanges"}"#, "200"), ("{}", "400")] {
        let hello = try await text("hello", String(repeating: "a", count: 32), [:]).1
        let nonce = try #require(try JSONValue(parsing: hello)["nonce"]?.string)
        let proof = invitation.proof("call", nonce, message)
        let reply = try await text("call", message, ["X-Waylay-Nonce": nonce, "X-Waylay-Proof": proof])
        #expect(reply.0 == invitation.proof("reply", nonce, status, reply.1))
      }
      direct.invalidate()
      app.registry.invalidate()
    }

    @Test("a nonce is good at its own door alone, and strangers that ask for others do not use it up")
    func nonces() async throws {
      let invitation = RemoteInvitation()
      let doors = [try await OpenDoor(invitation), try await OpenDoor(invitation)]
      let direct = InterceptorRegistry(configuration: .ephemeral)
      @Sendable func send(
        _ path: String, _ body: String, _ fields: [String: String], _ door: Int
      ) async throws -> Data {
        let url = "http://127.0.0.1:\(invitation.ports[door])/door/\(path)"
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = "POST"
        request.allHTTPHeaderFields = fields.merging(["X-Waylay": "1"]) { $1 }
        return try await direct.load(request, body: .text(body)).body.collect(upTo: 1 << 20)
      }
      let own = String(repeating: "a", count: 32)
      let nonce = try #require(try JSONValue(reading: try await send("hello", own, [:], 0))["nonce"]?.string)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<Sizes.of(5_000, small: 50) {
          if number >= 16 { _ = try await group.next() }
          group.addTask { _ = try await send("hello", own, [:], 0) }
        }
        try await group.waitForAll()
      }
      let message = #"{"call":"exchanges"}"#
      let fields = ["X-Waylay-Nonce": nonce, "X-Waylay-Proof": invitation.proof("call", nonce, message)]
      #expect(try await send("call", message, fields, 1) == Data("Access is denied.".utf8))
      #expect(try await send("call", message, fields, 0) == Data(#"{"exchanges":[],"leftOut":0}"#.utf8))
      #expect(try await send("call", message, fields, 0) == Data("Access is denied.".utf8))
      direct.invalidate()
      for door in doors { door.registry.invalidate() }
    }

    @Test("without the secret, with another, from a page of another origin or by another name, nothing is to be had")
    func strangers() async throws {
      let app = try await OpenDoor()
      _ = try await app.client.call("exchanges")
      let port = try #require(app.invitation.ports.first)
      let registry = InterceptorRegistry(configuration: .ephemeral)
      func send(
        _ path: String, _ body: String, _ fields: [String: String], _ method: String = "POST"
      ) async throws -> String {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/\(path)")))
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        let response = try await registry.load(request, body: method == "GET" ? nil : .text(body))
        return "\(response.status.code) "
          + String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
      }
      func nonce() async throws -> String {
        let hello = try await send("door/hello", String(repeating: "a", count: 32), ["X-Waylay": "1"])
        return try #require(try JSONValue(parsing: String(hello.dropFirst(4)))["nonce"]?.string)
      }
      let message = #"{"call":"exchanges"}"#
      var answers: [String] = []
      for number in 0..<100 {
        let nonce = try await nonce()
        let right = [
          "X-Waylay": "1", "X-Waylay-Nonce": nonce, "X-Waylay-Proof": app.invitation.proof("call", nonce, message),
        ]
        func with(_ changes: [String: String]) -> [String: String] { right.merging(changes) { $1 } }
        switch number % 10 {
        case 0: answers.append(try await send("door/call", message, ["X-Waylay": "1"]))
        case 1:
          let proof = RemoteInvitation().proof("call", nonce, message)
          answers.append(try await send("door/call", message, with(["X-Waylay-Proof": proof])))
        case 2: answers.append(try await send("door/call", message + " ", right))
        case 3: answers.append(try await send("door/call", message, with(["Origin": "http://evil.example"])))
        case 4: answers.append(try await send("door/call", message, with(["Sec-Fetch-Site": "cross-site"])))
        case 5: answers.append(try await send("door/call", message, with(["X-Waylay": "0"])))
        case 6: answers.append(try await send("other/call", message, right))
        case 7: answers.append(try await send("door/call", "", right, "GET"))
        case 8: answers.append(try await send("door/hello", "short", right))
        default:
          #expect(try await send("door/call", message, right).hasPrefix("200"))
          answers.append(try await send("door/call", message, right))
        }
      }
      #expect(answers.count == 100 && Set(answers) == ["403 Access is denied."])
      registry.invalidate()
      app.registry.invalidate()
    }

    @Test("strangers on all sixteen ports are told nothing but a nonce, also those that relay to the door")
    func taken() async throws {
      let invitation = RemoteInvitation()
      // The true door has another port than those that the client tries.
      let elsewhere = RemoteInvitation()
      let text = elsewhere.text.replacing(elsewhere.secret, with: invitation.secret)
      let app = try await OpenDoor(RemoteInvitation(parsing: text))
      _ = try await app.client.call("exchanges")
      let told = Log<String>()
      let relay = InterceptorRegistry(configuration: .ephemeral)
      var limits = ConnectionLimits()
      limits.takesBodies = true
      var tasks: [Task<Void, Never>] = []
      for port in invitation.ports {
        let listener = try await Listener(port: UInt16(port), token: nil, limits: limits) { request, responder in
          let body = String(buffer: request.body)
          told.add(body + " \(request.head.headers)")
          var hello = URLRequest(url: URL(string: "http://127.0.0.1:\(elsewhere.ports[0])/door/hello")!)
          (hello.httpMethod, hello.allHTTPHeaderFields) = ("POST", ["X-Waylay": "1"])
          let data = try? await relay.load(hello, body: .text(body)).body.collect(upTo: 1 << 20)
          try? await responder.send(Response.json(.ok, String(decoding: data ?? Data(), as: UTF8.self)).bytes)
        }
        tasks.append(Task { await listener.run() })
      }
      let client = DoorClient(invitation, launchTime: .seconds(5))
      let error = await #expect(throws: WaylayError.self) { try await client.call("exchanges") }
      #expect(error?.code == .noRemoteDoor && !told.all.isEmpty)
      #expect(
        told.all.allSatisfy { !$0.contains(invitation.secret) && !$0.contains("Proof") && !$0.contains("exchanges") })
      for task in tasks {
        task.cancel()
        await task.value
      }
      relay.invalidate()
      app.registry.invalidate()
    }

    @Test("with all ports taken the app is told so, and with some taken it has the first that is free")
    func ports() async throws {
      let invitation = RemoteInvitation()
      var tasks: [Task<Void, Never>] = []
      for port in invitation.ports.dropLast() {
        let listener = try await Listener(port: UInt16(port), token: nil, limits: ConnectionLimits()) { _, _ in }
        tasks.append(Task { await listener.run() })
      }
      let app = try await OpenDoor(invitation)
      #expect(try await app.client.call("exchanges")["leftOut"] == 0)
      let error = await #expect(throws: WaylayError.self) { try await OpenDoor(invitation) }
      #expect(error?.code == .cannotListen)
      for task in tasks {
        task.cancel()
        await task.value
      }
      app.registry.invalidate()
    }

    @Test("sixty-four calls at once are all answered")
    func crowd() async throws {
      let app = try await OpenDoor()
      try await withThrowingTaskGroup(of: JSONValue.self) { group in
        for _ in 0..<64 { group.addTask { try await app.client.call("exchanges") } }
        for try await reply in group { #expect(reply["leftOut"] == 0) }
      }
      app.registry.invalidate()
    }

    @Test("the door closes with its handle")
    func closing() async throws {
      let invitation = RemoteInvitation()
      var app: OpenDoor? = try await OpenDoor(invitation)
      _ = try await app?.client.call("exchanges")
      app?.registry.invalidate()
      app = nil
      let client = DoorClient(invitation, launchTime: .seconds(1))
      while (try? await client.call("exchanges")) != nil, !Task.isCancelled {}
      await #expect(throws: WaylayError.self) { try await client.call("exchanges") }
    }

    @Test("no mutation of a message brings the door down, or leaves it with a stub that it has not named")
    func mutations() throws {
      let messages = [
        #"{"call":"exchanges","query":"status:>=400 -host:\"a\"","limit":5,"before":9}"#,
        #"{"call":"har","query":"a"}"#,
        #"{"call":"requests","method":"GET","url":{"regex":"a(b)"}}"#,
        #"{"call":"requests","url":"/**/a*b*/:id(a+)/**","limit":3}"#,
        #"{"call":"explain","url":"https://a/","method":"GET"}"#,
        #"{"call":"addStubs","stubs":[{"url":"/a/:id","query":{"a":null},"body":{"json":[1]},"times":[1,2],"responses":[{"text":"a","delay":0.5,"fault":"truncated(afterBytes: 4)"}]}],"replacing":[1]}"#,
        #"{"call":"setConditions","fault":"offline","network":{"latency":0.1,"downstream":9,"loss":0.1}}"#,
      ]
      let calls = DoorCalls(Inspector(), MockInterceptor(), NetworkConditions(), [.reading, .stubs, .conditions])
      var random = SplitMix(state: 42)
      for _ in 0..<Sizes.of(50_000, small: 1_500) {
        var bytes = Array((messages.randomElement(using: &random) ?? "").utf8)
        for _ in 0...Int.random(in: 0..<4, using: &random) {
          let place = Int.random(in: 0..<bytes.count, using: &random)
          switch Int.random(in: 0..<4, using: &random) {
          case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
          case 1: bytes.insert(contentsOf: bytes[place...].prefix(8), at: place)
          case 2: bytes.removeSubrange(place..<min(bytes.count, place + 3))
          default: bytes[place] = "0123456789-[]{}\",:".utf8.randomElement(using: &random) ?? 0
          }
          if bytes.isEmpty { bytes = [0] }
        }
        do {
          let reply = try calls.perform(String(decoding: bytes, as: UTF8.self))
          #expect(try JSONValue(parsing: reply).object != nil)
        } catch { #expect((error as? JSONRefusal)?.message.isEmpty == false) }
        if Int.random(in: 0..<50, using: &random) == 0 { _ = try calls.perform(#"{"call":"removeStubs"}"#) }
      }
    }

    @Test(
      "on Linux another user is refused, whatever it knows",
      .enabled(
        if: Platform.isLinux && geteuid() == 0
          && ["/usr/bin/setpriv", "/usr/bin/curl"].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) },
        "only root can be another user, with setpriv and curl"))
    func others() async throws {
      let app = try await OpenDoor()
      _ = try await app.client.call("exchanges")
      let curl = [
        "--silent", "--noproxy", "*", "--header", "X-Waylay: 1", "--data", String(repeating: "a", count: 32),
        "http://127.0.0.1:\(app.invitation.ports[0])/door/hello",
      ]
      let other = try await Program(path: "/usr/bin/setpriv")
        .run(["--reuid", "65534", "--clear-groups", "/usr/bin/curl"] + curl)
      #expect(other.output == "Access is denied.")
      #expect(try await Program(path: "/usr/bin/curl").run(curl).output.contains("proof"))
      app.registry.invalidate()
    }
  }
#endif
