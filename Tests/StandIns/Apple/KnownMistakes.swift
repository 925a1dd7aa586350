// Six mistakes for `Scripts/apple.sh`, which expects an error on each of the marked lines and no other.
import Foundation

final class Overriding: URLProtocol {
  required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {  // mistake
    super.init(request: request, cachedResponse: cachedResponse, client: client)
  }
}

func capturing(_ loader: URLProtocol) {
  DispatchQueue.global().async { loader.stopLoading() }  // mistake
}

func tooNew() {
  _ = Task.immediate {}  // mistake
}

final class Optionality: URLProtocol {
  override func startLoading() {
    client.urlProtocolDidFinishLoading(self)  // mistake
  }
}

final class Loader: URLProtocol {
  override class func canInit(with request: NSURLRequest) -> Bool { true }  // mistake
}

func closed(_ policy: HTTPCookie.AcceptPolicy) -> Bool {
  switch policy {  // mistake
  case .always, .onlyFromMainDocumentDomain: true
  case .never: false
  }
}
