#if canImport(FoundationNetworking)
  import Foundation

  /// The networks that a request of the loading system may use: on Linux it knows cellular ones alone, and no transport
  /// can tell.
  enum RequestNetworkAccess {
    static func read(from request: URLRequest) -> InterceptedRequest.NetworkAccess {
      request.allowsCellularAccess ? .all : InterceptedRequest.NetworkAccess.all.subtracting(.cellular)
    }

    static func write(_ access: InterceptedRequest.NetworkAccess, to request: inout URLRequest) {
      request.allowsCellularAccess = access.contains(.cellular)
    }
  }
#endif
