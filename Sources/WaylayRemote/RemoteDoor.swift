#if InspectorServer
  import Foundation
  import NIOCore
  import WaylayHAR
  public import WaylayInspector
  public import WaylayInterceptors
  public import WaylayMocks
  import WaylayRemoteControl

  /// A door into a running debug build: a UI test or an agent that launched the app reads its traffic, and changes its
  /// stubs and network conditions.
  ///
  /// ```swift
  /// #if DEBUG
  ///   let door = try await RemoteDoor.open(inspector, mocks: mocks, conditions: conditions)
  /// #endif
  /// ```
  ///
  /// Open it before the first request, and keep it: the door closes when it is released. The app opens nothing unless
  /// its parent process invited it: without the environment variable `WAYLAY_REMOTE`, and in every release build,
  /// ``open(_:mocks:conditions:allowing:)`` returns `nil`, and costs nothing.
  ///
  /// The door listens on the loopback address only, proves that it knows the invitation's secret, and responds only to
  /// callers that prove it, too; the secret is never sent. Pages in browsers are refused. On Linux the kernel reports
  /// the owner of a connection, and other users are refused; on other systems, only the secret protects the door. The
  /// door redacts its responses like the Inspector's page.
  public final class RemoteDoor: Sendable {
    /// The operations that a remote process may use.
    public struct Permissions: OptionSet, Sendable {
      /// The bits.
      public let rawValue: Int

      /// Makes permissions of bits.
      public init(rawValue: Int) { self.rawValue = rawValue }

      /// Read exchanges, requests and issues.
      public static let reading = Permissions(rawValue: 1)
      /// Add and remove stubs.
      public static let stubs = Permissions(rawValue: 2)
      /// Change the network conditions.
      public static let conditions = Permissions(rawValue: 4)
    }

    private let task: Task<Void, Never>

    private static let environment = Locked(false)

    /// The invitation, for one of several calls at once.
    private static func takeInvitation() -> String? {
      environment.withLock { _ in
        defer { unsetenv(RemoteInvitation.variable) }
        return ProcessInfo.processInfo.environment[RemoteInvitation.variable]
      }
    }

    private init(_ task: Task<Void, Never>) { self.task = task }

    deinit { task.cancel() }

    /// Opens the door if the parent process invited the app.
    ///
    /// The stubs and conditions of the invitation are in force when the call returns. The variable is removed from the
    /// environment, also by a release build, so that no child process inherits it.
    ///
    /// - Parameters:
    ///   - inspector: The traffic to show.
    ///   - mocks: The mock that gets stubs; `nil` to accept none. With the option `unmatched: .passThrough`, requests
    ///     without a stub go to the network.
    ///   - conditions: The conditions to set; `nil` to accept none.
    ///   - permissions: The operations that a remote process may use.
    /// - Returns: The door; `nil` without an invitation, and in a release build.
    /// - Throws: `WaylayError.invalidInvitation`, and `WaylayError.cannotListen` if all ports of the invitation are
    ///   taken, or the system forbids to listen.
    public static func open(
      _ inspector: Inspector, mocks: MockInterceptor? = nil, conditions: NetworkConditions? = nil,
      allowing permissions: Permissions = [.reading, .stubs, .conditions]
    ) async throws -> RemoteDoor? {
      #if DEBUG
        guard let text = takeInvitation() else { return nil }
        return try await open(RemoteInvitation(parsing: text), DoorCalls(inspector, mocks, conditions, permissions))
      #else
        _ = takeInvitation()
        return nil
      #endif
    }

    #if DEBUG
      static func open(_ invitation: RemoteInvitation, _ calls: DoorCalls) async throws -> RemoteDoor {
        do throws(JSONRefusal) { try calls.begin(invitation) } catch {
          throw WaylayError(.invalidInvitation, "\(RemoteInvitation.variable): \(error.message)")
        }
        let handler = DoorHandler(invitation, calls)
        var limits = ConnectionLimits()
        (limits.body, limits.takesBodies) = (8 << 20, true)
        for port in invitation.ports {
          do {
            let listener = try await Listener(port: UInt16(port), token: "door", limits: limits) {
              // A send error is ignored: the caller has disconnected.
              try? await $1.send(await handler.response(to: $0, at: port).bytes)
            }
            return RemoteDoor(Task { await listener.run() })
          } catch let error as WaylayError where (error.underlying as? IOError)?.errnoCode == EADDRINUSE {}
        }
        throw WaylayError(.cannotListen, "All \(invitation.ports.count) ports of the invitation are taken.")
      }
    #endif
  }
#else
  /// The door, which requires the package trait `InspectorServer`.
  @available(*, unavailable, message: "Enable the trait InspectorServer of the package waylay.")
  public enum RemoteDoor: Sendable {
    /// Unavailable: names the missing trait.
    public static func open(
      _ inspector: Any, mocks: Any? = nil, conditions: Any? = nil, allowing: Any? = nil
    ) -> Any? { nil }
  }
#endif
