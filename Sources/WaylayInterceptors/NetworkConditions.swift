public import WaylayCore

/// An interceptor that simulates a bad network: slow, lossy, failing, or offline. You can change it at run time.
///
/// ```swift
/// let conditions = NetworkConditions()
/// let registry = InterceptorRegistry { conditions }
///
/// conditions.network = .threeG.loss(0.02)
/// conditions.fail(.connectionReset, share: 0.1)
/// conditions.fail(.offline)
/// conditions.reset()
/// ```
///
/// The models are those of mocks, applied to live traffic: the real transfer times add to the simulated ones. A change
/// applies to requests that start after it. For apps and their testers; tests without a network use a
/// `MockInterceptor`.
public final class NetworkConditions: OrderedInterceptor {
  private struct State {
    var network: NetworkProfile?
    var fault: NetworkFault?
    var share = 1.0
  }

  private let state = Locked(State())
  private let clock: any Clock<Duration>

  /// Makes the interceptor. It simulates nothing until you set a network or a fault.
  ///
  /// - Parameter clock: The clock for delays.
  public init(clock: any Clock<Duration> = ContinuousClock()) {
    self.clock = clock
  }

  /// The network to simulate; `nil` for none.
  public var network: NetworkProfile? {
    get { state.withLock { $0.network } }
    set { state.withLock { $0.network = newValue } }
  }

  /// Makes requests fail.
  ///
  /// - Parameters:
  ///   - fault: The kind of failure.
  ///   - share: The fraction of the requests that fail, from 0 to 1, chosen at random.
  public func fail(_ fault: NetworkFault, share: Double = 1) {
    state.withLock { ($0.fault, $0.share) = (fault, share) }
  }

  /// Replaces the fault and the network in one step.
  package func set(_ fault: NetworkFault?, _ network: NetworkProfile?) {
    state.withLock { $0 = State(network: network, fault: fault) }
  }

  /// The simulated network and fault as text.
  package var summary: String {
    let (network, fault) = state.withLock { ($0.network?.description, $0.fault?.description) }
    return [network, fault].compactMap { $0 }.joined(separator: ", ")
  }

  /// Stops all simulation.
  public func reset() { state.withLock { $0 = State() } }

  /// `true`: requests of interceptors use the same network.
  public var takesPartInNestedRequests: Bool { true }

  /// Passes the request on, or fails it.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    let state = state.withLock { $0 }
    guard state.network != nil || state.fault != nil else { return try await next(request) }
    try await state.network?.waitForFirstByte(of: request, clock: clock)
    let fault = Double.random(in: 0..<1) < state.share ? state.fault : nil
    if let error = fault?.error(for: request) { throw error }
    var response = try await next(request)
    response.body = response.body.arriving(over: state.network, failing: fault, for: request, clock: clock)
    return response
  }
}
