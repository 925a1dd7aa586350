import Foundation
import HTTPTypes
import Testing

@testable import WaylayArchive

@Suite("URLRequest.CachePolicy and the archive's modes", .timeLimit(.minutes(5)))
struct ModeTests {
  private func stored(age: Double, _ cacheControl: String = "max-age=10") -> PolicyCache {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: cacheControl, .eTag: "\"1\""], body: "old"))
    cache.wait(age)
    return cache
  }

  @Test("useProtocolCachePolicy: as RFC 9111 says")
  func protocolPolicy() {
    var cache = stored(age: 5)
    #expect(cache.load(nil).body == "old")
    cache.wait(5)
    #expect(cache.load(.init(body: "new")).body == "new")
  }

  @Test("reloadIgnoringLocalCacheData: from the network, without conditions, and stored")
  func reload() {
    var cache = stored(age: 5)
    let result = cache.load(
      .init(fields: [.cacheControl: "max-age=10"], body: "new"), cachePolicy: .reloadIgnoringLocalCacheData)
    #expect(result.body == "new")
    #expect(cache.sent.last?.fields == [:])
    #expect(cache.load(nil).body == "new")
    #expect(cache.load(nil, cachePolicy: .reloadIgnoringLocalCacheData).status == PolicyCache.unreachable)
  }

  @Test("reloadIgnoringLocalAndRemoteCacheData: the same, and past the caches on the way")
  func reloadAll() {
    var cache = stored(age: 5)
    cache.load(.init(body: "new"), cachePolicy: .reloadIgnoringLocalAndRemoteCacheData)
    #expect(cache.sent.last?["Cache-Control"] == "no-cache")
    #expect(cache.sent.last?["Pragma"] == "no-cache")
    #expect(cache.sent.last?["If-None-Match"] == nil)
    cache.load("GET", [.cacheControl: "max-age=5"], cachePolicy: .reloadIgnoringLocalAndRemoteCacheData) { _ in .init()
    }
    #expect(cache.sent.last?["Cache-Control"] == "max-age=5, no-cache")
  }

  @Test(
    "returnCacheDataElseLoad: what is stored whatever its age, else from the network",
    arguments: ["max-age=10", "no-cache", "max-age=10, must-revalidate"])
  func elseLoad(_ cacheControl: String) {
    var cache = stored(age: 1_000_000, cacheControl)
    let result = cache.load(nil, cachePolicy: .returnCacheDataElseLoad)
    #expect(result.body == "old")
    #expect(result.isStale)
    #expect(
      cache.load(.init(body: "x"), url: "http://example.com/b", cachePolicy: .returnCacheDataElseLoad).body == "x")
  }

  @Test("returnCacheDataDontLoad: what is stored whatever its age, else an error")
  func dontLoad() {
    var cache = stored(age: 1_000_000)
    #expect(cache.load(.init(), cachePolicy: .returnCacheDataDontLoad).body == "old")
    #expect(
      cache.load(.init(), url: "http://example.com/b", cachePolicy: .returnCacheDataDontLoad).status
        == PolicyCache.unavailable)
    #expect(cache.load(.init(), "POST", cachePolicy: .returnCacheDataDontLoad).status == PolicyCache.unavailable)
    #expect(cache.sent.count == 1)
  }

  @Test("reloadRevalidatingCacheData: what is stored once the origin has confirmed it")
  func revalidating() {
    var cache = stored(age: 5)
    #expect(
      cache.load(.init(status: 304, fields: [.eTag: "\"1\""]), cachePolicy: .reloadRevalidatingCacheData).body == "old")
    #expect(cache.sent.last?["If-None-Match"] == "\"1\"")
    #expect(cache.load(.init(body: "new"), cachePolicy: .reloadRevalidatingCacheData).body == "new")
    #expect(cache.load(nil, cachePolicy: .reloadRevalidatingCacheData).status == PolicyCache.unreachable)
  }

  @Test("Offline: any stored answer whatever the request asks for, marked as stale; a miss is an error")
  func offline() {
    for cacheControl in ["max-age=10", "no-cache", "max-age=10, must-revalidate"] {
      var cache = stored(age: 1_000_000, cacheControl)
      cache.options.mode = .offline
      for policy in [
        URLRequest.CachePolicy.useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .reloadRevalidatingCacheData,
        .returnCacheDataDontLoad,
      ] {
        let result = cache.load(.init(), cachePolicy: policy)
        #expect(result.body == "old")
        #expect(result.isStale)
        #expect(result.reason.code == .anyAge)
      }
      #expect(cache.load(.init(), [.cacheControl: "no-cache"]).body == "old")
      #expect(cache.load(.init(), url: "http://example.com/b").status == PolicyCache.unavailable)
      #expect(cache.load(.init(), "POST").status == PolicyCache.unavailable)
      #expect(cache.sent.count == 1)
    }
  }

  @Test("Offline, a fresh answer is not marked, an invalidated one is")
  func offlineFresh() {
    var cache = stored(age: 5)
    cache.load(.init(), "PUT")
    cache.options.mode = .offline
    #expect(cache.load(nil).isStale)
    var fresh = stored(age: 5)
    fresh.options.mode = .offline
    #expect(!fresh.load(nil).isStale)
  }

  @Test("Offline, another variant is still not the one that was asked for")
  func offlineVary() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.vary: "Authorization"]), [.authorization: "alice"])
    cache.options.mode = .offline
    #expect(cache.load(.init(), [.authorization: "bob"]).status == PolicyCache.unavailable)
    #expect(cache.load(.init(), [.authorization: "alice"]).status == 200)
  }

  @Test("Offline, ranges, tags and conditions are answered from what there is")
  func offlineForms() {
    var cache = stored(age: 100)
    cache.options.mode = .offline
    #expect(cache.load(nil, [.range: "bytes=0-1"]).body == "ol")
    #expect(cache.load(nil, [.range: "bytes=7-"]).status == 416)
    #expect(cache.load(nil, [.range: "bytes=7-"])["Content-Range"] == "bytes */3")
    #expect(cache.load(nil, [.range: "bytes=0-0,2-2"]).status == 200)
    #expect(cache.load(nil, [.ifNoneMatch: "\"1\""]).status == 304)
    #expect(cache.load(nil, [.ifMatch: "\"1\""]).status == 200)
  }

  @Test("preferArchive: whatever its age, but not against a request for a fresh one")
  func preferArchive() {
    var cache = stored(age: 1_000_000)
    cache.options.mode = .preferArchive
    #expect(cache.load(nil).body == "old")
    #expect(cache.load(.init(body: "new"), [.cacheControl: "no-cache"]).body == "new")
    #expect(cache.load(.init(body: "newer"), cachePolicy: .reloadIgnoringLocalCacheData).body == "newer")
    #expect(cache.load(.init(body: "other"), url: "http://example.com/b").body == "other")
  }

  @Test("A request of the loading system is read without regard to letter case")
  func urlRequest() throws {
    let policy = PolicyCache().policy
    let url = try #require(URL(string: PolicyCache.url))
    var urlRequest = URLRequest(url: url)
    urlRequest.httpMethod = "get"
    urlRequest.setValue("NO-CACHE", forHTTPHeaderField: "cache-CONTROL")
    let now = CacheTime.now
    let response = ArchivePolicy.Response(
      status: 200, fields: [.cacheControl: "max-age=100"], requestTime: now, responseTime: now)
    guard case .store(let record) = policy.storability(of: response, to: CacheRequest(InterceptedRequest(urlRequest)))
    else {
      Issue.record("not stored")
      return
    }
    #expect(policy.decide(CacheRequest(InterceptedRequest(urlRequest)), records: [record], now: now).action == .forward)
    urlRequest.setValue(nil, forHTTPHeaderField: "cache-control")
    urlRequest.cachePolicy = .returnCacheDataDontLoad
    let answer = CacheReply(index: 0, form: .whole, isStale: false)
    #expect(
      policy.decide(CacheRequest(InterceptedRequest(urlRequest)), records: [record], now: now).action == .serve(answer))
  }
}
