#if InspectorServer
  import Foundation
  import NIOCore
  import WaylayHAR
  public import WaylayInspector
  import WaylayInspectorServer
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

    private init(_ task: Task<Void, Never>) { self.task = task }

    deinit { task.cancel() }

    /// Opens the door if the parent process invited the app.
    ///
    /// The stubs and conditions of the invitation are in force when the call returns. The variable is removed from the
    /// environment, so that no child process inherits it.
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
        guard let text = ProcessInfo.processInfo.environment[RemoteInvitation.variable] else { return nil }
        unsetenv(RemoteInvitation.variable)
        return try await open(RemoteInvitation(parsing: text), DoorCalls(inspector, mocks, conditions, permissions))
      #else
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
              await handler.respond(to: $0, by: $1)
            }
            return RemoteDoor(Task { await listener.run() })
          } catch {
            guard let error = error as? IOError, error.errnoCode == EADDRINUSE else {
              throw WaylayError(.cannotListen, "The door cannot listen on port \(port): \(error)", underlying: error)
            }
          }
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
