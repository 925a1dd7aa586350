import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A product of the shop.
public struct Product: Codable, Equatable, Sendable {
  /// The number to order it by.
  public var id: Int
  /// The name to show.
  public var name: String

  /// Makes a product.
  public init(id: Int, name: String) {
    (self.id, self.name) = (id, name)
  }
}

/// The shop's API. It knows nothing of chains: it takes a session.
public struct ShopClient: Sendable {
  private let session: URLSession
  private static let address = "https://api.shop.example.com"

  /// Makes a client that sends its requests by a session.
  public init(session: URLSession) {
    self.session = session
  }

  /// Returns all products.
  public func products() async throws -> [Product] {
    try JSONDecoder().decode([Product].self, from: try await send(request("/products")))
  }

  /// Orders a product.
  public func order(_ id: Int, count: Int) async throws {
    var request = request("/orders")
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = try JSONEncoder().encode(["product": id, "count": count])
    _ = try await send(request)
  }

  private func request(_ path: String) -> URLRequest {
    URLRequest(url: URL(string: Self.address + path)!)
  }

  private func send(_ request: URLRequest) async throws -> Data {
    let (data, response) = try await session.data(for: request)
    guard let status = (response as? HTTPURLResponse)?.statusCode, 200..<300 ~= status else {
      throw URLError(.badServerResponse)
    }
    return data
  }
}
