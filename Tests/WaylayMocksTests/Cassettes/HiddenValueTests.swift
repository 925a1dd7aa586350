import Foundation
import TestSupport
import Testing
import WaylayHAR
import WaylayMocks

@Suite("Hidden values of cassettes", .timeLimit(.minutes(5)))
struct HiddenValueTests {
  let folder: CassetteFolder

  init() throws {
    folder = try CassetteFolder()
  }

  private static let key = HTTPField.Name("X-Api-Key")!
  private static let users = ["ada": "pl4nted-ada-1", "bob": "pl4nted-bob-2"]

  /// Responds to the user whose credential is anywhere in the request.
  private static func server(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    let parts = "\(request.url) \(request.fields) \(request.fields[.authorization] ?? "")"
    let body = String(decoding: try await request.body.collect(upTo: 1 << 20), as: UTF8.self)
    let user = users.first { (parts + body).contains($0.value) }?.key ?? "nobody"
    return InterceptedResponse(to: request, fields: [.contentType: "text/plain"], body: .text("you are \(user)"))
  }

  /// A place of a credential, and the aspect that compares it.
  enum Place: CaseIterable {
    case field, authorization, cookie, query, json, number, form, path

    var matching: Set<Cassette.Aspect> {
      let base: Set<Cassette.Aspect> = [.method, .url, .query]
      return switch self {
      case .field: base.union([.headerField("X-Api-Key")])
      case .authorization: base.union([.headerField("Authorization")])
      case .cookie: base.union([.headerField("Cookie")])
      case .json, .number, .form: base.union([.body])
      case .query, .path: base
      }
    }

    func ask(_ cassette: Cassette, _ secret: String) async throws -> String {
      let url = "https://a.test/me"
      return switch self {
      case .field: try await cassette.text(.get, url, fields: [key: secret], network: server)
      case .authorization:
        try await cassette.text(.get, url, fields: [.authorization: "Bearer \(secret)"], network: server)
      case .cookie: try await cassette.text(.get, url, fields: [.cookie: "a=b; sid=\(secret)"], network: server)
      case .query: try await cassette.text(.get, "\(url)?page=1&access_token=\(secret)", network: server)
      case .json:
        try await cassette.text(
          .post, url, body: .text(#"{"user":{"api_key":"\#(secret)"}}"#), fields: [.contentType: "application/json"],
          network: server)
      case .number:
        try await cassette.text(
          .post, url, body: .text(#"{"n":1,"pins":[{"pin":\#(secret.utf8.reduce(1) { $0 * 31 % 9_973 + Int($1) })}]}"#),
          fields: [.contentType: "application/json"], network: server)
      case .form:
        try await cassette.text(
          .post, url, body: .text("a=1&client_secret=\(secret)"),
          fields: [.contentType: "application/x-www-form-urlencoded"], network: server)
      // Known by another exchange.
      case .path: try await cassette.text(.get, "https://a.test/of/\(secret)/me", network: server)
      }
    }
  }

  private func record(
    _ place: Place, _ users: [String], _ change: (inout Cassette.Options) -> Void = { _ in }
  )
    async throws -> Cassette
  {
    let recording = folder.cassette(.all) {
      $0.matching = place.matching
      change(&$0)
    }
    if place == .path {
      for secret in Self.users.values.sorted() {
        _ = try await recording.text(
          .get, "https://a.test/known/\(secret.suffix(1))", fields: [.authorization: "Bearer \(secret)"],
          network: Self.server)
      }
    }
    for user in users { _ = try await place.ask(recording, Self.users[user] ?? "") }
    try recording.eject()
    return recording
  }

  @Test("have one number for one value, and nothing more is said of them")
  func numbers() async throws {
    let recording = folder.cassette(.all)
    for (secret, pin) in [("pl4nted-one-1", 4711), ("pl4nted-two-2", 815), ("pl4nted-one-1", 4711)] {
      let coded = Plantings.base64("user:\(secret)")
      _ = try await recording.text(
        .post, "https://a.test/\(secret)?access_token=\(secret)",
        body: .text(#"{"token":"\#(secret)","pin":\#(pin),"text":"it is \#(secret), encoded \#(coded)"}"#),
        fields: [.contentType: "application/json"], network: echo)
    }
    try recording.eject()
    let entries = try folder.archive().entries
    #expect(
      entries.map(\.request.url) == [1, 4, 1].map { "https://a.test/REDACTED-\($0)?access_token=REDACTED-\($0)" })
    for (entry, number) in zip(entries, [1, 4, 1]) {
      let body = try #require(entry.request.body?.text)
      #expect(
        body.hasPrefix(#"{"token":"REDACTED-\#(number)","pin":0,"text":"it is REDACTED-\#(number), encoded REDACTED-"#))
      let list = try #require(entry.extensions["_redacted"]?.object)
      let pin = try #require(list["request.body.pin"]?.string)
      #expect(pin.hasPrefix("REDACTED-") && list.values.count { !$0.isNull } == 1, "\(list)")
    }
    #expect(String(decoding: folder.data() ?? Data(), as: UTF8.self).contains("pl4nted") == false)
  }

  @Test("exchange no users in silence: each choice is an issue, in whatever order", arguments: Place.allCases)
  func exchanges(place: Place) async throws {
    let recording = try await record(place, ["ada", "bob"])
    #expect(recording.issues.map(\.kind) == [.redacted] && recording.issues.allSatisfy(\.isWarning))
    for users in [["ada", "bob"], ["bob", "ada"]] {
      let playing = folder.cassette { ($0.matching, $0.unused) = (place.matching, .ignore) }
      for user in users { _ = try await place.ask(playing, Self.users[user] ?? "") }
      #expect(playing.issues.map(\.kind) == [.redacted] && !playing.issues[0].isWarning, "\(playing.issues)")
      let message = playing.issues.first?.message ?? ""
      #expect(
        message.contains("redaction.hide(value: \"…\", as: \"USER-A\")") && !message.contains("pl4nted"), "\(message)")
    }
  }

  @Test(
    "that have names belong to these values and no others, in whatever order",
    arguments: Place.allCases.filter { $0 != .number })
  func named(place: Place) async throws {
    func name(_ options: inout Cassette.Options) {
      options.matching = place.matching
      options.unused = .ignore
      for (user, secret) in Self.users { options.redaction.hide(value: secret, as: user) }
    }
    let recording = try await record(place, ["ada", "bob"], name)
    #expect(recording.issues.isEmpty, "\(recording.issues)")
    #expect(String(decoding: folder.data() ?? Data(), as: UTF8.self).contains("REDACTED-bob"))
    for users in [["ada", "bob"], ["bob", "ada"]] {
      let playing = folder.cassette(.none, changed: name)
      for user in users { #expect(try await place.ask(playing, Self.users[user] ?? "") == "you are \(user)") }
      #expect(playing.issues.isEmpty, "\(playing.issues)")
      #expect(await failure { try await place.ask(folder.cassette(.none, changed: name), "an0ther-eve-3") } != nil)
    }
  }

  @Test(
    "that a played login gave find their entries, in whatever order", arguments: [["ada", "bob"], ["bob", "ada"]])
  func logins(users: [String]) async throws {
    let network: @Sendable (InterceptedRequest) async throws -> InterceptedResponse = { request in
      guard let user = request.url.path.split(separator: "/").last, request.url.path.hasPrefix("/login") else {
        return try await Self.server(request)
      }
      return InterceptedResponse(
        to: request, fields: [.contentType: "application/json"],
        body: .text(#"{"access_token":"\#(Self.users[String(user)] ?? "")"}"#))
    }
    func run(_ cassette: Cassette, _ users: [String]) async throws -> [String] {
      var tokens: [String] = []
      for user in users {
        let text = try await cassette.text(.post, "https://a.test/login/\(user)", network: network)
        tokens.append(try JSONValue(parsing: text)["access_token"]?.string ?? "")
      }
      var texts: [String] = []
      for token in tokens {
        texts.append(
          try await cassette.text(
            .get, "https://a.test/me", fields: [.authorization: "Bearer \(token)"], network: network))
      }
      return texts
    }
    let recording = folder.cassette(.all) { $0.matching = Place.authorization.matching }
    _ = try await run(recording, ["ada", "bob"])
    try recording.eject()
    #expect(recording.issues.isEmpty, "\(recording.issues)")
    let playing = folder.cassette { $0.matching = Place.authorization.matching }
    #expect(try await run(playing, users) == users.map { "you are \($0)" })
    #expect(playing.issues.isEmpty, "\(playing.issues)")
  }

  @Test("that change in each request bind nothing")
  func changing() async throws {
    let recording = folder.cassette(.all)
    for nonce in ["pl4nted-nonce-1", "pl4nted-nonce-2"] {
      _ = try await recording.text(.get, "https://a.test/x?nonce=\(nonce)&csrf_token=\(nonce)0", network: echo)
    }
    try recording.eject()
    let playing = folder.cassette()
    for nonce in ["an0ther-nonce-3", "an0ther-nonce-4"] {
      _ = try await playing.text(.get, "https://a.test/x?nonce=\(nonce)&csrf_token=\(nonce)0")
    }
    #expect(recording.issues.isEmpty && playing.issues.isEmpty, "\(playing.issues)")
  }

  @Test("may have another value later, with a warning, if no other entry fits")
  func refreshed() async throws {
    _ = try await record(.query, ["ada", "ada", "ada"])
    let playing = folder.cassette()
    for secret in ["an0ther-old-1", "an0ther-new-2", "an0ther-new-2"] { _ = try await Place.query.ask(playing, secret) }
    #expect(playing.issues.map(\.kind) == [.redacted] && playing.issues[0].isWarning, "\(playing.issues)")
    #expect(playing.issues[0].message.contains("query access_token"), "\(playing.issues)")
  }

  @Test("find the entries of their value once it is known, before those of others")
  func bound() async throws {
    _ = try await record(.query, ["ada", "bob", "ada", "bob"])
    let playing = folder.cassette { $0.unused = .ignore }
    for user in ["ada", "ada", "bob", "bob"] {
      #expect(try await Place.query.ask(playing, Self.users[user] ?? "") == "you are \(user)")
    }
    #expect(playing.issues.count == 1, "\(playing.issues)")
  }

  @Test("keep their numbers when new episodes are recorded, and new values have new ones")
  func episodes() async throws {
    _ = try await record(.query, ["ada"])
    let recording = folder.cassette(.newEpisodes)
    _ = try await Place.query.ask(recording, "pl4nted-ada-1")
    for secret in ["pl4nted-ada-1", "pl4nted-new-2"] {
      _ = try await recording.text(.get, "https://a.test/more?access_token=\(secret)", network: echo)
    }
    try recording.eject()
    let urls = try folder.archive().entries.map { $0.request.url.suffix(10) }
    #expect(urls == ["REDACTED-1", "REDACTED-1", "REDACTED-2"], "\(urls)")
  }

  @Test("are found among a thousand tokens, and no two collide")
  func tokens() async throws {
    let tokens = (0..<Sizes.of(1000, small: 200)).map { number in
      ["{\"alg\":\"HS256\"}", "{\"sub\":\"pl4nted-\(number)\"}", "of \(number * 7919)"].map(Plantings.unpadded)
        .joined(separator: ".")
    }
    let recording = folder.cassette(.all)
    for (number, token) in tokens.enumerated() {
      _ = try await recording.text(.get, "https://a.test/me?token=\(token)") {
        InterceptedResponse(to: $0, body: .text("\(number)"))
      }
    }
    try recording.eject()
    let playing = folder.cassette { ($0.allowsRepeats, $0.unused) = (true, .ignore) }
    for order in [Array(tokens.indices), tokens.indices.reversed()] {
      for number in order {
        #expect(try await playing.text(.get, "https://a.test/me?token=\(tokens[number])") == "\(number)")
      }
    }
    #expect(playing.issues.count == 1)
  }

  @Test("of files with digests are never compared, and the choice between them is an issue")
  func digests() async throws {
    let entries = ["1a2b", "3c4d"].map { digest in
      var entry = HAR.Entry.made("GET", "https://a.test/x?api_key=REDACTED", "answer to \(digest)")
      entry.extensions["_redacted"] = ["request.url.api_key": JSONValue(digest), "salt": "00"]
      return entry
    }
    try folder.write(entries)
    let playing = folder.cassette()
    for number in 0..<2 { _ = try await playing.text(.get, "https://a.test/x?api_key=pl4nted-\(number)") }
    #expect(playing.issues.map(\.kind) == [.redacted] && !playing.issues[0].isWarning, "\(playing.issues)")
  }

  @Test("of one request are one value where they have one number")
  func twice() async throws {
    let recording = folder.cassette(.all)
    for (one, other) in [("pl4nted-one-1", "pl4nted-two-2"), ("pl4nted-one-1", "pl4nted-one-1")] {
      _ = try await recording.text(
        .get, "https://a.test/x?token=\(one)&api_key=\(other)",
        network: { request in
          InterceptedResponse(to: request, body: .text(one == other ? "same" : "different"))
        })
    }
    try recording.eject()
    let playing = folder.cassette { $0.unused = .ignore }
    let url = "https://a.test/x?token=an0ther-1&api_key=an0ther-1"
    #expect(try await playing.text(.get, url) == "same")
    #expect(playing.issues.isEmpty, "\(playing.issues)")
  }

  @Test("are found with other replacements, whatever their spelling is", arguments: ["<redacted>", "***", "hid\"den&"])
  func replacements(replacement: String) async throws {
    for place in [Place.field, .query, .json, .form] {
      let recording = folder.cassette(.all) {
        ($0.matching, $0.redaction.replacement) = (place.matching, replacement)
      }
      for user in ["ada", "bob"] { _ = try await place.ask(recording, Self.users[user] ?? "") }
      try recording.eject()
      let playing = folder.cassette { ($0.matching, $0.redaction.replacement) = (place.matching, replacement) }
      for user in ["ada", "bob"] {
        #expect(try await place.ask(playing, Self.users[user] ?? "") == "you are \(user)", "\(place)")
      }
      #expect(playing.issues.map(\.kind) == [.redacted], "\(place): \(playing.issues)")
    }
  }

  @Test("of another user get no repeated entry, and none that a played login names, without a warning")
  func foreign() async throws {
    func entry(_ number: Int, _ text: String) -> HAR.Entry {
      HAR.Entry.made("GET", "https://a.test/me?access_token=REDACTED-\(number)", text)
    }
    try folder.write([entry(1, "ada")])
    let repeating = folder.cassette { $0.allowsRepeats = true }
    for token in ["an0ther-1", "an0ther-2"] {
      _ = try await repeating.text(.get, "https://a.test/me?access_token=\(token)")
    }
    #expect(repeating.issues.map(\.kind) == [.redacted], "\(repeating.issues)")
    try folder.write([entry(1, "ada"), entry(1, "ada"), entry(2, "bob")])
    let playing = folder.cassette { $0.unused = .ignore }
    for (token, text) in [("REDACTED-1", "ada"), ("an0ther-2", "bob")] {
      #expect(try await playing.text(.get, "https://a.test/me?access_token=\(token)") == text)
    }
    #expect(playing.issues.isEmpty, "\(playing.issues)")
  }

  @Test("with impossible numbers are texts")
  func overflow() async throws {
    try folder.write([.made("GET", "https://a.test/x", "see REDACTED-9223372036854775807")])
    let recording = folder.cassette(.newEpisodes)
    _ = try await recording.text(.get, "https://a.test/y?access_token=pl4nted-1", network: echo)
    try recording.eject()
    #expect(try folder.archive().entries.last?.request.url.hasSuffix("REDACTED-1") == true)
  }

  @Test("are told of at each place at which a request leaves a choice")
  func places() async throws {
    try folder.write(
      [HAR.Entry.made("GET", "https://a.test/warm?session=REDACTED-3", "w")]
        + [(1, 3), (2, 3), (2, 4), (2, 5)].map { token, session in
          HAR.Entry.made("GET", "https://a.test/me?access_token=REDACTED-\(token)&session=REDACTED-\(session)", "")
        })
    let playing = folder.cassette { $0.unused = .ignore }
    for path in [
      "warm?session=s-aaaa-1", "me?access_token=t-1&session=s-aaaa-1", "me?access_token=t-2&session=s-bbbb-2",
    ] {
      _ = try await playing.text(.get, "https://a.test/\(path)")
    }
    #expect(playing.issues.count == 2 && playing.issues[1].message.contains("query session"), "\(playing.issues)")
  }

  @Test("in aspects that are not compared are no choice")
  func ignored() async throws {
    let recording = folder.cassette(.all)
    for user in ["ada", "bob"] { _ = try await Place.field.ask(recording, Self.users[user] ?? "") }
    try recording.eject()
    let playing = folder.cassette()
    for user in ["bob", "ada"] { _ = try await Place.field.ask(playing, Self.users[user] ?? "") }
    #expect(recording.issues.isEmpty && playing.issues.isEmpty, "\(playing.issues)")
  }
}
