// MARK: Errors of the loading system (NSURLError.h)

/// https://developer.apple.com/documentation/foundation/urlerror
public struct URLError: Error, Hashable {
  /// https://developer.apple.com/documentation/foundation/urlerror/code
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { fatalError() }
    public static var unknown: Code { fatalError() }
    public static var cancelled: Code { fatalError() }
    public static var badURL: Code { fatalError() }
    public static var timedOut: Code { fatalError() }
    public static var unsupportedURL: Code { fatalError() }
    public static var cannotFindHost: Code { fatalError() }
    public static var cannotConnectToHost: Code { fatalError() }
    public static var networkConnectionLost: Code { fatalError() }
    public static var dnsLookupFailed: Code { fatalError() }
    public static var httpTooManyRedirects: Code { fatalError() }
    public static var resourceUnavailable: Code { fatalError() }
    public static var notConnectedToInternet: Code { fatalError() }
    public static var redirectToNonExistentLocation: Code { fatalError() }
    public static var badServerResponse: Code { fatalError() }
    public static var userCancelledAuthentication: Code { fatalError() }
    public static var userAuthenticationRequired: Code { fatalError() }
    public static var zeroByteResource: Code { fatalError() }
    public static var cannotDecodeRawData: Code { fatalError() }
    public static var cannotDecodeContentData: Code { fatalError() }
    public static var cannotParseResponse: Code { fatalError() }
    public static var appTransportSecurityRequiresSecureConnection: Code { fatalError() }
    public static var fileDoesNotExist: Code { fatalError() }
    public static var fileIsDirectory: Code { fatalError() }
    public static var noPermissionsToReadFile: Code { fatalError() }
    public static var dataLengthExceedsMaximum: Code { fatalError() }
    public static var secureConnectionFailed: Code { fatalError() }
    public static var serverCertificateHasBadDate: Code { fatalError() }
    public static var serverCertificateUntrusted: Code { fatalError() }
    public static var serverCertificateHasUnknownRoot: Code { fatalError() }
    public static var serverCertificateNotYetValid: Code { fatalError() }
    public static var clientCertificateRejected: Code { fatalError() }
    public static var clientCertificateRequired: Code { fatalError() }
    public static var cannotLoadFromNetwork: Code { fatalError() }
    public static var cannotCreateFile: Code { fatalError() }
    public static var cannotOpenFile: Code { fatalError() }
    public static var cannotCloseFile: Code { fatalError() }
    public static var cannotWriteToFile: Code { fatalError() }
    public static var cannotRemoveFile: Code { fatalError() }
    public static var cannotMoveFile: Code { fatalError() }
    public static var downloadDecodingFailedMidStream: Code { fatalError() }
    public static var downloadDecodingFailedToComplete: Code { fatalError() }
    public static var internationalRoamingOff: Code { fatalError() }
    public static var callIsActive: Code { fatalError() }
    public static var dataNotAllowed: Code { fatalError() }
    public static var requestBodyStreamExhausted: Code { fatalError() }
  }

  public init(_ code: Code, userInfo: [String: Any] = [:]) { fatalError() }
  public var code: Code { fatalError() }
  public var errorCode: Int { fatalError() }
  public var userInfo: [String: Any] { fatalError() }
  public var localizedDescription: String { fatalError() }
  public var failingURL: URL? { fatalError() }
  public static var errorDomain: String { fatalError() }
  public static func == (a: URLError, b: URLError) -> Bool { fatalError() }
  public func hash(into hasher: inout Hasher) { fatalError() }

  public static var unknown: Code { fatalError() }
  public static var cancelled: Code { fatalError() }
  public static var badURL: Code { fatalError() }
  public static var timedOut: Code { fatalError() }
  public static var unsupportedURL: Code { fatalError() }
  public static var cannotFindHost: Code { fatalError() }
  public static var cannotConnectToHost: Code { fatalError() }
  public static var networkConnectionLost: Code { fatalError() }
  public static var dnsLookupFailed: Code { fatalError() }
  public static var httpTooManyRedirects: Code { fatalError() }
  public static var resourceUnavailable: Code { fatalError() }
  public static var notConnectedToInternet: Code { fatalError() }
  public static var redirectToNonExistentLocation: Code { fatalError() }
  public static var badServerResponse: Code { fatalError() }
  public static var userCancelledAuthentication: Code { fatalError() }
  public static var userAuthenticationRequired: Code { fatalError() }
  public static var zeroByteResource: Code { fatalError() }
  public static var cannotDecodeRawData: Code { fatalError() }
  public static var cannotDecodeContentData: Code { fatalError() }
  public static var cannotParseResponse: Code { fatalError() }
  public static var appTransportSecurityRequiresSecureConnection: Code { fatalError() }
  public static var fileDoesNotExist: Code { fatalError() }
  public static var fileIsDirectory: Code { fatalError() }
  public static var noPermissionsToReadFile: Code { fatalError() }
  public static var dataLengthExceedsMaximum: Code { fatalError() }
  public static var secureConnectionFailed: Code { fatalError() }
  public static var serverCertificateHasBadDate: Code { fatalError() }
  public static var serverCertificateUntrusted: Code { fatalError() }
  public static var serverCertificateHasUnknownRoot: Code { fatalError() }
  public static var serverCertificateNotYetValid: Code { fatalError() }
  public static var clientCertificateRejected: Code { fatalError() }
  public static var clientCertificateRequired: Code { fatalError() }
  public static var cannotLoadFromNetwork: Code { fatalError() }
  public static var cannotCreateFile: Code { fatalError() }
  public static var cannotOpenFile: Code { fatalError() }
  public static var cannotCloseFile: Code { fatalError() }
  public static var cannotWriteToFile: Code { fatalError() }
  public static var cannotRemoveFile: Code { fatalError() }
  public static var cannotMoveFile: Code { fatalError() }
  public static var downloadDecodingFailedMidStream: Code { fatalError() }
  public static var downloadDecodingFailedToComplete: Code { fatalError() }
  public static var internationalRoamingOff: Code { fatalError() }
  public static var callIsActive: Code { fatalError() }
  public static var dataNotAllowed: Code { fatalError() }
  public static var requestBodyStreamExhausted: Code { fatalError() }
}
