// Stand-ins for Apple's Security, for `Scripts/apple.sh`: type-checked against, never linked. Own work.
//
// Without Objective-C there is no bridging: the types of Core Foundation that Apple bridges are those they are bridged to.

public import FoundationEssentials

public typealias CFArray = [Any]
public typealias CFData = Data
public typealias CFDictionary = [String: Any]
public typealias CFString = String

/// https://developer.apple.com/documentation/security/sectrust
public final class SecTrust {
  init() { fatalError() }
}

/// https://developer.apple.com/documentation/security/seccertificate
public final class SecCertificate {
  init() { fatalError() }
}

/// https://developer.apple.com/documentation/security/secidentity
public final class SecIdentity {
  init() { fatalError() }
}

/// https://developer.apple.com/documentation/security/errsecsuccess
public var errSecSuccess: Int32 { fatalError() }

/// https://developer.apple.com/documentation/security/sectrustcopycertificatechain(_:)
@available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, *)
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { fatalError() }

/// https://developer.apple.com/documentation/security/seccertificatecopydata(_:)
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { fatalError() }

/// https://developer.apple.com/documentation/security/secpkcs12import(_:_:_:)
public func SecPKCS12Import(
  _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> Int32 { fatalError() }

/// https://developer.apple.com/documentation/security/ksecimportexportpassphrase
public let kSecImportExportPassphrase: CFString = ""
/// https://developer.apple.com/documentation/security/ksecimportitemidentity
public let kSecImportItemIdentity: CFString = ""
