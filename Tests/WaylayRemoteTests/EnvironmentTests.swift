#if InspectorServer && DEBUG && (os(Linux) || os(macOS))
  import Foundation
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayInspector
  import WaylayRemote

  @testable import WaylayRemoteControl

  @Suite("The environment of an app and of its test", .exitTest, .timeLimit(.minutes(5)))
  struct EnvironmentTests {
    @Test(
      "an app without an invitation opens nothing, and one with an invitation leaves none to its children")
    func environment() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let inspector = Inspector()
        guard try await RemoteDoor.open(inspector) == nil else { exit(1) }
        setenv(RemoteInvitation.variable, RemoteInvitation().text, 1)
        // One of several calls at once opens the door.
        let doors = try await withThrowingTaskGroup(of: RemoteDoor?.self) { group in
          for _ in 1...8 { group.addTask { try await RemoteDoor.open(inspector) } }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        exit(doors.count { $0 != nil } == 1 && getenv(RemoteInvitation.variable) == nil ? 0 : 2)
      }
    }

    @Test("a proxy of the environment is not asked")
    func proxies() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        for name in ["http_proxy", "all_proxy"] { setenv(name, "http://127.0.0.1:9", 1) }
        for name in ["no_proxy", "NO_PROXY"] { unsetenv(name) }
        let app = try await OpenDoor()
        exit(try await app.client.call("exchanges")["leftOut"] == 0 ? 0 : 1)
      }
    }
  }
#endif
