extension MockResponse {
  /// The same response after a delay, which is the time to the first byte.
  ///
  /// Closures compute their response when the request arrives, before the delay.
  public func delay(_ duration: Duration) -> MockResponse {
    delay(.fixed(duration))
  }

  /// The same response after a delay, which may be drawn anew for each request.
  public func delay(_ delay: MockDelay) -> MockResponse {
    with { copy in
      copy.note(delay.defect)
      copy.timing.firstByte = delay.isZero ? nil : delay
    }
  }

  /// The same response with its last byte at the given time after the request; the body arrives evenly from the first
  /// byte on.
  ///
  /// ```swift
  /// .file(video).delay(.milliseconds(200)).total(.seconds(5))
  /// ```
  public func total(_ duration: Duration) -> MockResponse {
    total(.fixed(duration))
  }

  /// The same response with its last byte after a time that may be drawn anew for each request.
  public func total(_ delay: MockDelay) -> MockResponse {
    with { copy in
      copy.note(delay.defect)
      copy.timing.total = delay.isZero ? nil : delay
    }
  }

  /// The same response with the given number of body bytes per second.
  ///
  /// - Parameter bytesPerSecond: A positive number; any other fails the load with ``MockError/Code/invalidTiming``.
  public func bandwidth(bytesPerSecond: Double) -> MockResponse {
    with { copy in
      copy.note(MockNetwork.bandwidthDefect(bytesPerSecond))
      copy.timing.bandwidth = bytesPerSecond
    }
  }

  /// The same response over a network with its latency, bandwidth and packet loss.
  public func network(_ network: MockNetwork) -> MockResponse {
    with { copy in
      copy.note(network.defect)
      copy.timing.network = network
    }
  }
}
