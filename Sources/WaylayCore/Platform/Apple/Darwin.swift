#if !CORELIBS_FOUNDATION
  import Foundation
  import Security

  // The code that needs Apple's own classes, so that it cannot run on Linux. The other files of this folder run there
  // against a model of Apple's loading system, which has a counterpart of this file. Type-checked by
  // `Scripts/apple.sh`.

  /// The base class of Waylay's protocol classes on Apple platforms. It inherits the initialiser, which is not `required`
  /// here.
  class PlatformProtocol: URLProtocol {
    /// Set by the object when it starts: on Apple platforms, calls of `canInit` are unrelated to the creation of
    /// objects (P6).
    final var ownership: Installation.Ownership?

    /// The length of the body that the loading system expects to send; 0 and -1 stand for unknown.
    /// https://developer.apple.com/documentation/foundation/urlsessiontask/countofbytesexpectedtosend
    final var expectedBodyLength: Int64? {
      task.flatMap { $0.countOfBytesExpectedToSend > 0 ? $0.countOfBytesExpectedToSend : nil }
    }

    /// The task: the protocol objects of its redirects form one load.
    final var owner: (any AnyObject & Sendable)? { task }

    /// Waits for a second, and for as long as the task is suspended.
    final func second() async throws {
      repeat { try await Task.sleep(for: .seconds(1)) } while task?.state == .suspended
    }
  }

  /// The thread that `startLoading` was called on, and the modes of its run loop: where the client may be called.
  ///
  /// Unchecked: of a `RunLoop`, other threads may only call the method for blocks and the one that wakes it up.
  /// https://developer.apple.com/documentation/corefoundation/cfrunloopperformblock(_:_:_:)
  struct ClientThread: @unchecked Sendable {
    private let runLoop = RunLoop.current
    private let modes = Array(Set([.default, RunLoop.current.currentMode ?? .default]))

    func perform(_ work: @escaping @Sendable () -> Void) {
      runLoop.perform(inModes: modes, block: work)
      CFRunLoopWakeUp(runLoop.getCFRunLoop())
    }
  }

  /// The properties of a request, which copies keep. Their values must be property lists (``RequestHold``).
  /// https://developer.apple.com/documentation/foundation/urlprotocol/setproperty(_:forkey:in:)
  enum RequestProperty {
    static func value(_ key: String, of request: URLRequest) -> Any? { URLProtocol.property(forKey: key, in: request) }

    /// The request with other values for some properties; `nil` removes one.
    static func setting(_ values: [String: Any?], in request: URLRequest) -> URLRequest {
      guard let mutable = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return request }
      for (key, value) in values {
        URLProtocol.removeProperty(forKey: key, in: mutable)
        if let value { URLProtocol.setProperty(value, forKey: key, in: mutable) }
      }
      return mutable as URLRequest
    }
  }

  /// The networks that a request of the loading system may use.
  enum RequestNetworkAccess {
    static func read(from request: URLRequest) -> InterceptedRequest.NetworkAccess {
      var access: InterceptedRequest.NetworkAccess = []
      if request.allowsCellularAccess { access.insert(.cellular) }
      if request.allowsExpensiveNetworkAccess { access.insert(.expensive) }
      if request.allowsConstrainedNetworkAccess { access.insert(.constrained) }
      return access
    }

    static func write(_ access: InterceptedRequest.NetworkAccess, to request: inout URLRequest) {
      request.allowsCellularAccess = access.contains(.cellular)
      request.allowsExpensiveNetworkAccess = access.contains(.expensive)
      request.allowsConstrainedNetworkAccess = access.contains(.constrained)
    }
  }

  extension URLSessionConfiguration {
    /// Whether the session waits for a network.
    /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/waitsforconnectivity
    var waitsForNetwork: Bool { waitsForConnectivity }

    /// Selects the classic loader, which supports protocol classes. It is the default, but may not stay so, according
    /// to the header.
    /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/usesclassicloadingmode
    func useClassicLoader() {
      if #available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *) { usesClassicLoadingMode = true }
    }
  }

  extension URLAuthenticationChallenge {
    /// Whether the load, rather than the system, answers the challenge.
    var isForLoad: Bool {
      let methods = [
        NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
      ]
      return !protectionSpace.isProxy() && methods.contains(protectionSpace.authenticationMethod)
    }
  }

  extension URLAuthenticationChallenge {
    var isServerTrust: Bool { protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust }
    var asksForCertificate: Bool { protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate }

    /// The server's own certificate, in DER.
    /// https://developer.apple.com/documentation/security/sectrustcopycertificatechain(_:)
    var leafCertificate: Data? {
      guard let trust = protectionSpace.serverTrust,
        let leaf = (SecTrustCopyCertificateChain(trust) as? [SecCertificate])?.first
      else { return nil }
      return SecCertificateCopyData(leaf) as Data
    }
  }

  extension URLCredential {
    /// The credential of a PKCS #12 file. https://developer.apple.com/documentation/security/secpkcs12import(_:_:_:)
    static func certificate(_ certificate: ClientCertificate) -> URLCredential? {
      guard case .pkcs12(let data, let passphrase) = certificate.form else { return nil }
      var items: CFArray?
      let options = [kSecImportExportPassphrase as String: passphrase] as CFDictionary
      guard SecPKCS12Import(data as CFData, options, &items) == errSecSuccess,
        let item = (items as? [[String: Any]])?.first, let identity = item[kSecImportItemIdentity as String]
      else { return nil }
      // The key guarantees an identity; a conditional cast to a type of Core Foundation always succeeds.
      return URLCredential(identity: identity as! SecIdentity, certificates: nil, persistence: .forSession)
    }
  }

  extension Stream {
    /// A pair of connected streams.
    /// https://developer.apple.com/documentation/foundation/stream/getboundstreams(withbuffersize:inputstream:outputstream:)
    static func boundPair(bufferSize: Int) -> (input: InputStream?, output: OutputStream?) {
      var (input, output): (InputStream?, OutputStream?)
      getBoundStreams(withBufferSize: bufferSize, inputStream: &input, outputStream: &output)
      return (input, output)
    }
  }
#endif
