#if canImport(WebKit)
  public import Foundation
  public import WebKit

  /// Answers a web view's requests for a scheme of your own from a registry: an archive, mocks, or the network by its
  /// chains.
  ///
  /// ```swift
  /// let configuration = WKWebViewConfiguration()
  /// configuration.setURLSchemeHandler(WebArchiveSchemeHandler("archived", registry), forURLScheme: "archived")
  /// let view = WKWebView(frame: .zero, configuration: configuration)
  /// view.load(URLRequest(url: URL(string: "archived://example.com/")!))
  /// ```
  ///
  /// `archived://example.com/a` is answered with the registry's response for `https://example.com/a`. The page has an
  /// origin of its own: it has no access to the cookies, the storage and the service workers of `https`, its links with
  /// `https` lead to the network, and request bodies that are blobs do not arrive. Use it for pages that come from an
  /// archive as a whole. A web view does not allow a handler for `https` itself: for a main document, see
  /// ``WebKit/WKWebView/loadArchived(_:from:)``.
  @MainActor
  public final class WebArchiveSchemeHandler: NSObject, WKURLSchemeHandler {
    private let scheme: String
    private let registry: InterceptorRegistry
    private var tasks: [ObjectIdentifier: Task<Void, Never>] = [:]

    /// Makes a handler for a scheme, in lower case, which is not one of the system's.
    public init(_ scheme: String, _ registry: InterceptorRegistry) { (self.scheme, self.registry) = (scheme, registry) }

    /// Starts the response.
    public func webView(_ webView: WKWebView, start urlSchemeTask: any WKURLSchemeTask) {
      let id = ObjectIdentifier(urlSchemeTask)
      tasks[id] = Task {
        await answer(urlSchemeTask)
        if !Task.isCancelled { tasks[id] = nil }
      }
    }

    /// Cancels the response. The task must not be called any more: it would raise an exception
    /// (https://developer.apple.com/documentation/webkit/wkurlschemetask).
    public func webView(_ webView: WKWebView, stop urlSchemeTask: any WKURLSchemeTask) {
      tasks.removeValue(forKey: ObjectIdentifier(urlSchemeTask))?.cancel()
    }

    private func answer(_ task: any WKURLSchemeTask) async {
      do {
        guard let own = task.request.url, let url = PageResponse.url(for: own, scheme: scheme) else {
          throw URLError(.unsupportedURL)
        }
        var request = task.request
        request.url = url
        let response = try await registry.load(request)
        guard let head = PageResponse.head(response, for: own) else { throw URLError(.cannotParseResponse) }
        guard !Task.isCancelled else { return }
        task.didReceive(head)
        for try await chunk in response.body {
          guard !Task.isCancelled else { return }
          task.didReceive(chunk)
        }
        guard !Task.isCancelled else { return }
        task.didFinish()
      } catch {
        guard !Task.isCancelled else { return }
        task.didFailWithError(error)
      }
    }
  }

  extension WKWebView {
    /// Loads a page whose main document a registry answers, from an archive for example.
    ///
    /// ```swift
    /// try await webView.loadArchived(URLRequest(url: url), from: registry)
    /// ```
    ///
    /// The page has the request's own URL and origin. Everything else that it names (pictures, scripts, styles) is loaded
    /// by the view itself, from the network: for a page that comes from an archive as a whole, see
    /// ``WebArchiveSchemeHandler``.
    ///
    /// - Throws: The registry's errors, and an error if the document is larger than 64 MiB.
    @discardableResult
    public func loadArchived(_ request: URLRequest, from registry: InterceptorRegistry) async throws -> WKNavigation {
      let response = try await registry.load(request)
      let data = try await response.body.collect(upTo: PageResponse.limit)
      guard let head = PageResponse.head(response, for: response.url) else { throw URLError(.cannotParseResponse) }
      var shown = request
      shown.url = response.url
      // https://developer.apple.com/documentation/webkit/wkwebview/loadsimulatedrequest(_:response:responsedata:)
      return loadSimulatedRequest(shown, response: head, responseData: data)
    }
  }
#endif
