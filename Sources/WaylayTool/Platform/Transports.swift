// A file of its own for its condition on the platform.
#if CommandLineTool
  import Foundation
  import WaylayCore

  /// What carries requests.
  enum Transports {
    /// A transport that trusts an authority beside those of the system; `nil` for the usual one.
    static func make(authority: Data?) throws -> (any Transport)? {
      guard let authority else { return nil }
      #if CORELIBS_FOUNDATION
        guard CurlTransport.isAvailable else {
          throw ToolFailure(
            .failed, "noCurl", "--cacert needs libcurl: \(CurlTransport.unavailableReason ?? "it is not there").")
        }
        var options = CurlTransport.Options()
        options.additionalAuthorities = [authority]
        return CurlTransport(configuration: .ephemeral, options: options)
      #else
        throw ToolFailure(.usage, "usage.cacert", "--cacert is for Linux: add the authority to the keychain here.")
      #endif
    }
  }
#endif
