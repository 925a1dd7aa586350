// The walk, 5 of 5: an exchange is made of the request (`CurlExchange`) and given to the loop (`CurlLoop`), whose
// thread lets it wait in the queue until a connection has room (`CurlQueue`), sets its options (`CurlRequest`) and adds
// it to libcurl's transfers: `curl_multi_add_handle`. libcurl's callbacks fill the exchange's head and the pipe of its
// body.

#if CORELIBS_FOUNDATION
  internal import CWaylayCurl
  public import Foundation
  import Logging

  /// A transport over libcurl, the default on Linux: the engine beneath `URLSession` there, without the limitations of
  /// `URLSession`.
  ///
  /// Bodies stream both ways in bounded memory: a slow reader holds the server back, and a request body is sent while
  /// it is produced. IPv6 literals work, TLS errors are distinguishable, and a ``Route`` dials another address while
  /// the certificate is still verified against the URL's host.
  ///
  /// ```swift
  /// var options = CurlTransport.Options()
  /// options.additionalAuthorities = [try Data(contentsOf: companyAuthority)]
  /// let registry = InterceptorRegistry(transport: CurlTransport(options: options)) { AddLanguage() }
  /// ```
  ///
  /// The transport uses the copy of libcurl that FoundationNetworking has loaded (platform fact U7). If it is not
  /// found, ``isAvailable`` is `false`, and a registry uses ``URLSessionTransport``; it also does so for sessions with
  /// other protocol classes, which libcurl does not support. Not available on Apple platforms. No option disables
  /// certificate verification.
  public final class CurlTransport: OwnTransport {
    /// The options of a transport.
    public struct Options: Sendable {
      /// Certificate authorities to trust in addition to the system's, each as PEM text, such as a company's own or a
      /// test server's. Loads fail with `WaylayError.invalidCertificate` if one is not a certificate.
      public var additionalAuthorities: [Data] = []
      /// The maximum number of connections to one host at a time. Default: the configuration's.
      public var maximumConnectionsPerHost: Int?
      /// The timeout in seconds for opening a connection, TLS included. Default: the request's timeout.
      public var connectTimeout: TimeInterval?
      /// The number of response bytes buffered for a slow reader before the server is held back; at least 1.
      public var bufferSize = 256 * 1024
      /// Pins and client certificates.
      public var security = TransportSecurity()
      /// The limits for heads and trailers, sent and received.
      public var limits = MessageLimits()

      /// Makes the default options.
      public init() {}
    }

    /// Whether libcurl was found, version 7.68 or later.
    public static var isAvailable: Bool { waylay_curl_load() }

    /// Why libcurl cannot be used; `nil` when it can.
    public static var unavailableReason: String? {
      isAvailable ? nil : String(cString: waylay_curl_problem())
    }

    /// The version of libcurl, such as `7.88.1`.
    public static var libraryVersion: String? { isAvailable ? String(cString: waylay_curl_version()) : nil }

    /// Whether libcurl asks before it sends a request on an open connection (7.80, U10).
    static var hasPrerequest: Bool { waylay_curl_version_number() >= 0x07_50_00 }

    /// Whether decoding can still be turned off when the body arrives: from 8.5 on, libcurl decides at the head.
    static var canStopDecoding: Bool { waylay_curl_version_number() < 0x08_05_00 }

    /// Whether several requests may share an HTTP/2 connection (8.1): an older libcurl mixes up their bodies (U21).
    package static var canMultiplex: Bool { waylay_curl_version_number() >= 0x08_01_00 }

    /// Whether the TLS library of libcurl supports pins: otherwise it refuses the option.
    private static let canPin: Bool = {
      guard isAvailable, let easy = waylay_curl_easy_new() else { return false }
      defer { waylay_curl_easy_free(easy) }
      let pin = "sha256//\(Data(count: 32).base64EncodedString())"
      return waylay_curl_set_text(easy, CurlOption.pinnedPublicKey, pin) == 0
    }()

    /// Whether libcurl takes client certificates from memory (7.71), which works with OpenSSL and its forks. With other
    /// TLS libraries the option has no effect.
    private static let canPresentCertificates: Bool = {
      guard isAvailable, waylay_curl_version_number() >= 0x07_47_00 else { return false }
      let library = String(cString: waylay_curl_tls())
      return ["OpenSSL", "LibreSSL", "BoringSSL", "quictls", "AWS-LC"].contains { library.contains($0) }
    }()

    let options: Options
    /// Whether there are pins or client certificates.
    let isSecured: Bool
    private let loop: CurlLoop
    let authorities: CurlAuthorities

    /// Makes a transport; its thread starts with the first load and ends after a while without work.
    ///
    /// - Parameters:
    ///   - configuration: The number of connections per host. Its storages are not used.
    ///   - options: Further options.
    public init(configuration: URLSessionConfiguration = .default, options: Options = Options()) {
      var options = options
      // A buffer of zero bytes would pause every body forever.
      options.bufferSize = max(1, options.bufferSize)
      self.options = options
      isSecured = options.security != TransportSecurity()
      loop = CurlLoop(
        connectionsPerHost: options.maximumConnectionsPerHost ?? configuration.httpMaximumConnectionsPerHost)
      authorities = CurlAuthorities(with: options.additionalAuthorities)
    }

    deinit {
      loop.invalidate()
    }

    /// All capabilities.
    public var capabilities: TransportCapabilities {
      let all: TransportCapabilities = [.backPressure, .streamedUploads, .connectionMetrics, .routes]
      return Self.hasPrerequest ? all.union(.gates) : all
    }

    /// Sends `request`; returns when the response's head arrives.
    public func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      if let reason = Self.unavailableReason {
        throw TransportError(
          .resourceUnavailable, requestBytesSent: 0,
          message: "libcurl cannot be used: \(reason). Use URLSessionTransport instead.")
      }
      guard request.route?.gate == nil || Self.hasPrerequest else {
        throw WaylayError(
          .transportIncapable,
          "libcurl \(Self.libraryVersion ?? "") cannot hold a request back at a gate: use 7.80 or later, or try one "
            + "address at a time.",
          url: request.url, requestID: request.id)
      }
      try request.checkRoute()
      if let fault = authorities.fault { throw fault }
      if isSecured, let demands = options.security.demands(for: request.url),
        demands.pins != nil && !Self.canPin || demands.certificate != nil && !Self.canPresentCertificates
      {
        throw TransportSecurity.incapable("libcurl \(Self.libraryVersion ?? "")", of: request)
      }
      let exchange = try CurlExchange(request, of: self, on: loop)
      return try await withTaskCancellationHandler {
        try await exchange.start()
      } onCancel: {
        exchange.cancel()
      }
    }

    /// Ends all exchanges and closes all connections. Later loads fail.
    public func invalidate() {
      loop.invalidate()
    }

    /// Closes all kept connections, and ends the thread as soon as no exchange runs. Later loads start it again.
    package func rest() {
      loop.rest()
    }

    /// Closes all connections to an address, idle or in use, so that nothing more is sent there on an old connection;
    /// transfers on them fail with `networkConnectionLost`.
    ///
    /// - Parameter address: An IPv4 or IPv6 literal, without brackets.
    /// - Returns: The number of connections closed.
    @discardableResult
    public func closeConnections(to address: String) -> Int {
      loop.closeConnections(to: address)
    }

    /// Closes all connections, idle or in use, because the network has changed and they receive nothing more.
    ///
    /// An exchange that has received nothing yet and may be sent again starts over; others fail with
    /// `networkConnectionLost`.
    public func closeConnections() {
      _ = loop.closeConnections(to: nil)
    }

    /// Closes the idle connections to an address and port; those in use continue. It takes effect before any load that
    /// starts after this call.
    ///
    /// Requires libcurl 7.80 or later, which reports the connection that a request is sent on; with an older version
    /// the call does nothing.
    public func closeIdleConnections(to address: String, port: Int) {
      guard Self.isAvailable, Self.hasPrerequest else { return }
      loop.send(.closeIdle(address: address, port: port))
    }
  }

  /// The certificate authorities of a transport: the system's, and those of its options.
  ///
  /// One file instead of a directory, because libcurl (7.87) reads a file once, but a directory for every connection,
  /// which takes tens of milliseconds on the thread of the loop. If the options add authorities, the file is in memory
  /// and includes the system's.
  final class CurlAuthorities: Sendable {
    /// The path of the file; `nil` if libcurl uses its default, or a file in memory is impossible.
    let path: String?
    /// The authorities as bytes if there is no file.
    let bytes: Data?
    /// Why an authority of the options cannot be used.
    let fault: WaylayError?
    private let descriptor: Int32

    init(with additional: [Data]) {
      fault =
        additional.indices.lazy.compactMap { index in
          PEM.fault(of: additional[index], without: "CERTIFICATE", as: "additionalAuthorities[\(index)]")
        }.first
      let known = waylay_curl_load() ? waylay_curl_authorities().map { String(cString: $0) } : nil
      let system: String? = if let known, access(known, R_OK) == 0 { known } else { nil }
      guard !additional.isEmpty else {
        (path, bytes, descriptor) = (system, nil, -1)
        return
      }
      var all = system.flatMap { FileManager.default.contents(atPath: $0) } ?? Data()
      for authority in additional {
        all.append(UInt8(ascii: "\n"))
        all.append(authority)
      }
      descriptor = all.withUnsafeBytes { bytes in
        bytes.baseAddress.map { waylay_curl_memory_file($0, bytes.count) } ?? -1
      }
      (path, bytes) = descriptor >= 0 ? ("/proc/self/fd/\(descriptor)", nil) : (nil, all)
    }

    deinit {
      if descriptor >= 0 { close(descriptor) }
    }
  }

  /// The default transport of a registry.
  package enum PlatformTransport {
    private static let hasWarned = Locked(false)

    /// Makes a libcurl transport, unless libcurl is not found or other protocol classes are to be asked before the
    /// network, which only a session does.
    ///
    /// - Parameters:
    ///   - configuration: The settings of the session that it serves.
    ///   - limits: The limits for messages.
    ///   - security: Pins and client certificates.
    ///   - logger: Logs when libcurl cannot be used.
    package static func make(
      _ configuration: URLSessionConfiguration, limits: MessageLimits = MessageLimits(),
      security: TransportSecurity = TransportSecurity(), logger: Logger?
    ) -> any Transport {
      if !configuration.hasForeignProtocolClasses {
        guard let reason = CurlTransport.unavailableReason else {
          var options = CurlTransport.Options()
          (options.limits, options.security) = (limits, security)
          return CurlTransport(configuration: configuration, options: options)
        }
        if let logger, hasWarned.withLock({ !exchange(&$0, with: true) }) {
          logger.warning("libcurl cannot be used, so requests go through URLSession: \(reason)")
        }
      }
      return URLSessionTransport(configuration: configuration, limits: limits, security: security)
    }

    /// Closes the kept connections of a transport, because no load is expected soon. Later loads work as before.
    static func rest(_ transport: (any Transport)?) {
      (transport as? CurlTransport)?.rest()
    }
  }
#endif
