import Foundation

/// An error of a link that ships with the package, which knows whether the network failed or something else.
package protocol NetworkFailing: Error {
  /// Whether the origin could not be reached.
  var saysNetworkFailed: Bool { get }
}

extension Error {
  /// Whether the error says that the origin could not be reached, or did not answer as HTTP asks: a transport's failure, or what a link
  /// made of one. What an app's own link throws for reasons of its own is none.
  package var isNetworkFailure: Bool {
    if let error = self as? any NetworkFailing { return error.saysNetworkFailed }
    guard let error = self as? URLError else { return false }
    // A link of ours that has given up says why beneath.
    if let cause = error.userInfo[NSUnderlyingErrorKey] as? any NetworkFailing { return cause.saysNetworkFailed }
    return URLError.Code.unreachable.contains(error.code)
  }
}

extension TransportError: NetworkFailing {
  package var saysNetworkFailed: Bool { !URLError.Code.ofRequest.contains(code) }
}

extension URLError.Code {
  /// What the loading system says of a network that is not there, or of an origin that is silent.
  fileprivate static let unreachable: Set<URLError.Code> = [
    .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed, .notConnectedToInternet,
    .internationalRoamingOff, .callIsActive, .dataNotAllowed, .cannotLoadFromNetwork,
  ]

  /// What a transport says of the request, or of the app, rather than of the network.
  fileprivate static let ofRequest: Set<URLError.Code> = [
    .cancelled, .badURL, .unsupportedURL, .userCancelledAuthentication, .userAuthenticationRequired, .requestBodyStreamExhausted,
    .clientCertificateRejected, .clientCertificateRequired, .fileDoesNotExist, .noPermissionsToReadFile, .cannotOpenFile,
    .cannotWriteToFile, .cannotCreateFile, .dataLengthExceedsMaximum, .appTransportSecurityRequiresSecureConnection,
    .resourceUnavailable,
  ]
}
