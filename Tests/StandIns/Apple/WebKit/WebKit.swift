// Stand-ins for what Waylay uses of WebKit, which macOS and iOS have. Each from the page that is named. What comes from Objective-C may have its
// result left unused.
public import Foundation
public import Network

/// https://developer.apple.com/documentation/webkit/wkwebsitedatastore
@MainActor
open class WKWebsiteDataStore: NSObject {
  override init() { fatalError() }
  /// https://developer.apple.com/documentation/webkit/wkwebsitedatastore/default()
  open class func `default`() -> WKWebsiteDataStore { fatalError() }
  /// https://developer.apple.com/documentation/webkit/wkwebsitedatastore/nonpersistent()
  open class func nonPersistent() -> WKWebsiteDataStore { fatalError() }
  /// https://developer.apple.com/documentation/webkit/wkwebsitedatastore/init(foridentifier:)
  @available(macOS 14.0, iOS 17.0, *)
  public convenience init(forIdentifier identifier: UUID) { fatalError() }
  open var isPersistent: Bool { fatalError() }
}

@available(macOS 14.0, iOS 17.0, *)
extension WKWebsiteDataStore {
  /// https://developer.apple.com/documentation/webkit/wkwebsitedatastore/proxyconfigurations-cdc1
  @preconcurrency
  public var proxyConfigurations: [ProxyConfiguration] {
    get { fatalError() }
    set { fatalError() }
  }
}

/// Not bound to the main actor, and not `Sendable`. Each of its methods raises an exception after `webView(_:stop:)`.
/// https://developer.apple.com/documentation/webkit/wkurlschemetask
public protocol WKURLSchemeTask: NSObjectProtocol {
  var request: URLRequest { get }
  func didReceive(_ response: URLResponse)
  func didReceive(_ data: Data)
  func didFinish()
  func didFailWithError(_ error: any Error)
}

/// https://developer.apple.com/documentation/webkit/wkurlschemehandler
@MainActor
public protocol WKURLSchemeHandler: NSObjectProtocol {
  func webView(_ webView: WKWebView, start urlSchemeTask: any WKURLSchemeTask)
  func webView(_ webView: WKWebView, stop urlSchemeTask: any WKURLSchemeTask)
}

/// https://developer.apple.com/documentation/webkit/wkwebviewconfiguration
@MainActor
open class WKWebViewConfiguration: NSObject {
  public override init() { fatalError() }
  /// https://developer.apple.com/documentation/webkit/wkwebviewconfiguration/websitedatastore
  open var websiteDataStore: WKWebsiteDataStore {
    get { fatalError() }
    set { fatalError() }
  }
  /// https://developer.apple.com/documentation/webkit/wkwebviewconfiguration/seturlschemehandler(_:forurlscheme:)
  open func setURLSchemeHandler(_ urlSchemeHandler: (any WKURLSchemeHandler)?, forURLScheme urlScheme: String) { fatalError() }
  /// https://developer.apple.com/documentation/webkit/wkwebviewconfiguration/urlschemehandler(forurlscheme:)
  open func urlSchemeHandler(forURLScheme urlScheme: String) -> (any WKURLSchemeHandler)? { fatalError() }
}

/// https://developer.apple.com/documentation/webkit/wknavigation
@MainActor
open class WKNavigation: NSObject {
  override init() { fatalError() }
}

/// A view of UIKit or AppKit there; of what makes it a view nothing is used.
/// https://developer.apple.com/documentation/webkit/wkwebview
@MainActor
open class WKWebView: NSObject {
  override init() { fatalError() }
  open var configuration: WKWebViewConfiguration { fatalError() }
  open var url: URL? { fatalError() }
  /// https://developer.apple.com/documentation/webkit/wkwebview/handlesurlscheme(_:)
  open class func handlesURLScheme(_ urlScheme: String) -> Bool { fatalError() }
  /// https://developer.apple.com/documentation/webkit/wkwebview/load(_:)
  @discardableResult open func load(_ request: URLRequest) -> WKNavigation? { fatalError() }
  /// https://developer.apple.com/documentation/webkit/wkwebview/loadsimulatedrequest(_:response:responsedata:)
  @discardableResult
  open func loadSimulatedRequest(_ request: URLRequest, response: URLResponse, responseData data: Data) -> WKNavigation { fatalError() }
}
