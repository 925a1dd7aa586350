// Stand-ins for Apple's CFNetwork, for `Scripts/apple.sh`: type-checked against, never linked. Own work.
//
// Without Objective-C there is no bridging: the types of Core Foundation that Apple bridges are those they are bridged to.

public import FoundationEssentials

public typealias CFURL = URL

/// `Unmanaged`, which takes classes alone: what is bridged has none here.
public struct UnmanagedValue<Value> {
  public func takeRetainedValue() -> Value { fatalError() }
}

/// https://developer.apple.com/documentation/cfnetwork/cfnetworkcopysystemproxysettings()
public func CFNetworkCopySystemProxySettings() -> UnmanagedValue<[String: Any]>? { fatalError() }
/// https://developer.apple.com/documentation/cfnetwork/cfnetworkcopyproxiesforurl(_:_:)
public func CFNetworkCopyProxiesForURL(_ url: CFURL, _ proxySettings: [String: Any]) -> UnmanagedValue<[Any]> { fatalError() }

/// https://developer.apple.com/documentation/cfnetwork/kcfproxytypekey
public let kCFProxyTypeKey = ""
/// https://developer.apple.com/documentation/cfnetwork/kcfproxytypenone
public let kCFProxyTypeNone = ""
