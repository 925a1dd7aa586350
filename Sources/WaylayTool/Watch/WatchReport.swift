import Foundation
import WaylayInspector

/// What `watch` prints.
struct WatchReport: Sendable {
  let isJSON: Bool

  func begin(page: URL, proxyPort: UInt16?, shown: Int, dropped: Int) throws {
    let proxy = proxyPort.map { "http://127.0.0.1:\($0)" }
    guard !isJSON else {
      return try Output.json(
        Ready(event: "ready", page: page.absoluteString, proxy: proxy, exchanges: shown, leftOut: dropped))
    }
    try Output.line("The page:  \(page.absoluteString)")
    if let proxy {
      try Output.line("The proxy: \(proxy) (HTTPS goes through it unseen)")
    } else {
      let rest = dropped > 0 ? "; \(dropped) older ones are left out, see --keep" : ""
      try Output.line("\(shown) exchange\(shown == 1 ? "" : "s")\(rest). Ctrl-C ends it.")
    }
  }

  /// Says what has ended, once each.
  func print(_ events: Inspector.Events) async throws {
    var said: Set<Int> = []
    for await event in events {
      guard case .exchange(let exchange) = event, exchange.state != .open, said.insert(exchange.id.number).inserted
      else {
        continue
      }
      // Those that began long ago have ended by now.
      if said.count > 50_000 { said = said.filter { $0 > exchange.id.number - 25_000 } }
      try isJSON ? Output.json(Row(exchange)) : Output.line(Self.text(exchange))
    }
  }

  private static func text(_ exchange: Inspector.Exchange) -> String {
    exchange.entry.comment.map { "\(exchange): \($0)" } ?? "\(exchange)"
  }

  private struct Ready: Encodable {
    let event: String
    let page: String
    let proxy: String?
    let exchanges: Int
    let leftOut: Int
  }

  private struct Row: Encodable {
    let event: String
    let id: Int
    let method: String
    let url: String
    let host: String?
    let port: Int?
    let state: String
    let status: Int?
    let sentBytes: Int
    let receivedBytes: Int
    let milliseconds: Double
    let note: String?
    let error: String?

    init(_ exchange: Inspector.Exchange) {
      let isTunnel = exchange.source?.description == "tunnel"
      let url = isTunnel ? URL(string: exchange.request.url) : nil
      event = isTunnel ? "tunnel" : "exchange"
      id = exchange.id.number
      (method, self.url) = (exchange.request.method, exchange.request.url)
      (host, port) = (url?.host, url?.port)
      state = exchange.state.description
      status = exchange.response?.status
      sentBytes = exchange.request.body?.size ?? 0
      receivedBytes = exchange.response?.body.size ?? 0
      milliseconds = (exchange.entry.time * 1000).rounded() / 1000
      (note, error) = (exchange.entry.comment, exchange.failure?.message)
    }
  }
}
