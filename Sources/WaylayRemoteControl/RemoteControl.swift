public import WaylayHAR

/// Controls an app that a UI test has launched: sets its stubs and network conditions, and reads its requests.
///
/// ```swift
/// let remote = RemoteControl { Stub(.get, "/versions", .status(503)) }
/// app.launchEnvironment.merge(remote.invitation) { $1 }  // an XCUIApplication; or a Process
/// app.launch()
/// try await remote.set(.offline)
/// try await remote.stubs { Stub(.get, "/orders", .json([])) }
/// #expect(try await remote.requests(to: "/orders").count == 1)
/// try await remote.verify()
/// ```
///
/// The app is a debug build that calls `RemoteDoor.open` of `WaylayRemote` before its first request. The stubs of the
/// initializer apply from then on. A stub for another process must have a form in JSON, with listed responses: a
/// closure, a predicate, a stream or a form in it is reported at the stub.
///
/// Each call fails within seconds with `WaylayError.noRemoteDoor` if the app ended, was killed or was stopped; the
/// first call waits until the app has opened its door. Any number of controls, each with its app, work in parallel.
public final class RemoteControl: Sendable {
  /// The control of the running test, with the trait `.remoteControlled`.
  @TaskLocal public static var current: RemoteControl?

  fileprivate let client: DoorClient
  private let location: MockSourceLocation
  fileprivate let state = Locked(State())

  fileprivate struct State {
    /// Whether the invitation was read: an app may have it.
    var hasInvited = false
    /// Whether the test has called ``verify(fileID:filePath:line:column:)``.
    var hasVerified = false
    /// The issues that were reported.
    var reported: Set<JSONValue> = []
  }

  /// Makes a control, with the stubs and conditions that apply from the app's first request on.
  ///
  /// - Parameters:
  ///   - fault: A fault of all requests; `nil` for none.
  ///   - network: The simulated network; `nil` for none.
  ///   - launchTime: How long the first call waits for the app to open its door.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  ///   - stubs: The stubs; later ones take precedence.
  public init(
    fault: NetworkFault? = nil, network: NetworkProfile? = nil, launchTime: Duration = .seconds(30),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    @StubBuilder _ stubs: () throws -> [Stub]
  ) rethrows {
    location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    var invitation = RemoteInvitation()
    for stub in try stubs() {
      do throws(MockError) { invitation.stubs.append(try stub.json()) } catch {
        (error.location ?? location).report(error.message)
      }
    }
    if let defect = fault?.defect ?? network?.defect {
      location.report(defect)
    } else {
      invitation.conditions = Self.conditions(fault, network).compactMapValues(\.self).jsonValue
    }
    client = DoorClient(invitation, launchTime: launchTime)
  }

  /// The variable of the app's environment that invites it: a secret of the two processes, the stubs and conditions of
  /// the initializer. Empty, with an issue of the test, if it exceeds 64 KiB: add large stubs after the launch. The next
  /// call waits for a launch.
  public var invitation: [String: String] {
    let text = client.invitation.text
    guard text.utf8.count <= RemoteInvitation.limit else {
      location.report(
        """
        The stubs make the invitation \(text.utf8.count) bytes long, and the limit is \(RemoteInvitation.limit): \
        add the large ones with stubs(_:) after the launch.
        """)
      return [:]
    }
    state.withLock { $0.hasInvited = true }
    client.forget()
    return [RemoteInvitation.variable: text]
  }

  /// Makes all further requests of the app fail, in place of earlier conditions.
  public func set(_ fault: NetworkFault) async throws { try await set(fault, nil) }

  /// Slows all further requests of the app down, in place of earlier conditions.
  public func set(_ network: NetworkProfile) async throws { try await set(nil, network) }

  /// Ends all conditions.
  public func resetConditions() async throws { try await set(nil, nil) }

  private func set(_ fault: NetworkFault?, _ network: NetworkProfile?) async throws {
    _ = try await client.call("setConditions", Self.conditions(fault, network))
  }

  private static func conditions(_ fault: NetworkFault?, _ network: NetworkProfile?) -> [String: JSONValue?] {
    ["fault": fault?.description.jsonValue, "network": network?.json]
  }

  /// Adds stubs, which take precedence over those the app has.
  ///
  /// - Parameters:
  ///   - replacesAll: Whether the stubs that came from this control are removed.
  ///   - stubs: The stubs.
  /// - Throws: `MockError.notPortable` for a stub that cannot be given to another process, and
  ///   `WaylayError.refusedByDoor` for more than 8 MiB at once, or more than 10 000 stubs.
  public func stubs(replacingAll replacesAll: Bool = false, @StubBuilder _ stubs: () throws -> [Stub]) async throws {
    let list = try stubs().map { try $0.json() }
    _ = try await client.call(
      "addStubs", ["stubs": JSONValue(list), "replacing": replacesAll ? JSONValue(true) : Optional.none])
  }

  /// Removes the stubs that came from this control.
  public func removeStubs() async throws { _ = try await client.call("removeStubs") }

  /// Returns the requests that the app's mock has received for a URL, without secrets, with bodies as long as the app's
  /// Inspector keeps them.
  ///
  /// - Parameters:
  ///   - url: A pattern as for a stub.
  ///   - method: The method; `nil` for any.
  /// - Throws: `WaylayError.refusedByDoor` for more than 1 000 requests, or 16 MiB: an incomplete list would give a
  ///   wrong count.
  public func requests(
    to url: some URLPatternConvertible, _ method: HTTPRequest.Method? = nil
  ) async throws -> [HAR.Entry] {
    let found = try await client.call(
      "requests", ["url": url.urlPattern.json, "method": method.map { JSONValue($0.rawValue) }, "limit": 1_000])
    guard found["leftOut"] == 0, let har = found["har"] else {
      throw WaylayError(.refusedByDoor, "The app has received more requests than a response holds: narrow the pattern.")
    }
    return try HAR(data: Data(har.description.utf8)).entries
  }

  /// Reports requests of the app that no stub matched, with the nearest stubs, and stubs that no request used, as
  /// failures of the running test at the caller's line. Each is reported once by a control.
  public func verify(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) async throws {
    let caller = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let found = try await client.call("issues")
    for issue in found["issues"]?.array ?? [] where state.withLock({ $0.reported.insert(issue).inserted }) {
      caller.report(
        "\(issue["message"]?.string ?? "")\n[\(issue["place"]?.string ?? "")]",
        isWarning: issue["isWarning"]?.bool == true)
    }
    if let more = found["leftOut"]?.int, more > 0 { caller.report("The app has \(more) more issues.") }
    state.withLock { $0.hasVerified = true }
  }
}

/// Makes a control for a part of a test, such as one of XCTest, and verifies it at the end, if the app was invited.
///
/// ```swift
/// func testOffline() async throws {
///   try await withRemoteControl {
///     Stub(.get, "/orders", .json([]))
///   } perform: { remote in
///     app.launchEnvironment.merge(remote.invitation) { $1 }
///     app.launch()
///   }
/// }
/// ```
///
/// - Parameters:
///   - fileID: The file to report issues at: the caller's.
///   - filePath: The path of that file.
///   - line: The caller's line.
///   - column: The caller's column.
///   - stubs: The stubs; later ones take precedence.
///   - body: The part of the test.
public func withRemoteControl<Value>(
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  @StubBuilder _ stubs: () throws -> [Stub], perform body: (RemoteControl) async throws -> Value
) async throws -> Value {
  let remote = try RemoteControl(fileID: fileID, filePath: filePath, line: line, column: column, stubs)
  let result: Value
  do { result = try await RemoteControl.$current.withValue(remote) { try await body(remote) } } catch {
    // The issues may explain the error; an app that has ended has none.
    if remote.client.hasMet { try? await remote.verify(fileID: fileID, filePath: filePath, line: line, column: column) }
    throw error
  }
  let state = remote.state.withLock { $0 }
  do {
    if state.hasInvited { try await remote.verify(fileID: fileID, filePath: filePath, line: line, column: column) }
  } catch let error as WaylayError where error.code == .noRemoteDoor && state.hasVerified {
    // Ignore the failure: the body has verified the issues, and then ended the app.
  }
  return result
}
