import Shop
import Testing
import WaylayArchive
import WaylayTesting

private let shirt = Product(id: 1, name: "Shirt")
private let products = "https://api.shop.example.com/products"

@Suite struct ShopTests {
  /// The app's own chain, over the stubs of the test.
  private func client(token: String = "valid", archive: ArchiveCache = ArchiveCache()) -> ShopClient {
    let account = Account(token: token) { "valid" }
    return ShopClient(session: .shop(account: account, archive: archive, configuration: .mocked))
  }

  @Test(.mocked { Stub(.get, products, .json([shirt])).where(.field("Authorization", "Bearer valid")) })
  func listsProducts() async throws {
    #expect(try await client().products() == [shirt])
  }

  @Test(
    .mocked {
      Stub(.get, products, .status(401)).where(.field("Authorization", "Bearer old"))
      Stub(.get, products, .json([shirt])).where(.field("Authorization", "Bearer valid"))
    })
  func renewsAToken() async throws {
    #expect(try await client(token: "old").products() == [shirt])
  }

  @Test(.mocked { Stub(.get, products, .status(503).field("Retry-After", "0"), .json([shirt])) })
  func sendsAgainWhenTheServerIsBusy() async throws {
    #expect(try await client().products() == [shirt])
  }

  @Test(
    .mocked { Stub(.get, products, .json([shirt]).field("Cache-Control", "max-age=0"), .fault(.offline)) })
  func showsWhatItHasWithoutANetwork() async throws {
    let client = client()
    #expect(try await client.products() == [shirt])
    #expect(try await client.products() == [shirt])
  }

  @Test(.mocked { Stub(.post, "https://api.shop.example.com/orders", .status(201)) })
  func ordersAProduct() async throws {
    try await client().order(1, count: 2)
    let sent = try MockInterceptor.current.requests(.post, "/orders").only().json([String: Int].self)
    #expect(sent == ["product": 1, "count": 2])
  }
}
