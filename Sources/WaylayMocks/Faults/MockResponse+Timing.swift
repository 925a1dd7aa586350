extension MockResponse {
  /// The same after a delay, which is the time to the first byte.
  ///
  /// What a closure computes is computed when the request arrives, before the delay.
  public func delay(_ duration: Duration) -> MockResponse {
    delay(.fixed(duration))
  }

  /// The same after a delay that may be drawn anew for each request.
  public func delay(_ delay: MockDelay) -> MockResponse {
    with { copy in
      copy.note(delay.defect)
      copy.timing.firstByte = delay.isZero ? nil : delay
    }
  }

  /// The same with its last byte that long after the request; the body comes evenly from the first byte on.
  ///
  /// ```swift
  /// .file(video).delay(.milliseconds(200)).total(.seconds(5))
  /// ```
  public func total(_ duration: Duration) -> MockResponse {
    total(.fixed(duration))
  }

  /// The same with its last byte after a time that may be drawn anew for each request.
  public func total(_ delay: MockDelay) -> MockResponse {
    with { copy in
      copy.note(delay.defect)
      copy.timing.total = delay.isZero ? nil : delay
    }
  }

  /// The same with so many bytes of the body per second.
  ///
  /// - Parameter bytesPerSecond: A positive number; any other fails the load with ``MockError/Code/invalidTiming``.
  public func bandwidth(bytesPerSecond: Double) -> MockResponse {
    with { copy in
      copy.note(MockNetwork.bandwidthDefect(bytesPerSecond))
      copy.timing.bandwidth = bytesPerSecond
    }
  }

  /// The same over a network with its latency, bandwidth and losses.
  public func network(_ network: MockNetwork) -> MockResponse {
    with { copy in
      copy.note(network.defect)
      copy.timing.network = network
    }
  }
}
