// A separate file for its platform condition.
#if CommandLineTool
  import Foundation
  import WaylayCore

  /// Makes the transport of the tool.
  enum Transports {
    /// A transport that also trusts the given authority; `nil` for the default transport.
    static func make(authority: Data?) throws -> (any Transport)? {
      guard let authority else { return nil }
      #if CORELIBS_FOUNDATION
        guard CurlTransport.isAvailable else {
          throw ToolFailure(
            .failed, "noCurl", "--cacert needs libcurl: \(CurlTransport.unavailableReason ?? "no libcurl was found").")
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
