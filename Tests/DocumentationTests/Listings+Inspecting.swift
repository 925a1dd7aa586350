import Foundation
import Waylay
import WaylayInspector

// The listings of `Inspecting.md`. They compile here; the tests of the module run what they show.

private func inSessions() {
  let inspector = Inspector()
  let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { inspector }))
  _ = session
  for exchange in inspector.exchanges where exchange.state == .failed {
    print(exchange.request.url, exchange.failure?.message ?? "")
  }
  let registry = InterceptorRegistry {
    inspector
    ArchiveCache()
    inspector.attempts
  }
  _ = registry
  let small = Inspector(limits: Inspector.Limits(exchanges: 500, bytes: 8 << 20, bodyBytes: 64 << 10))
  _ = small
}

private func watching(inspector: Inspector) async {
  for await event in inspector.events() {
    switch event {
    case .exchange(let exchange): print(exchange)
    case .cleared: print("nothing is kept any more")
    case .lost(let count): print("\(count) changes went by unseen")
    }
  }
}

private func searching(inspector: Inspector, file: URL, directory: URL) throws {
  for exchange in inspector.exchanges(where: { ($0.response?.status ?? 0) >= 400 }) { print(exchange) }

  let statistics = inspector.statistics()
  print(statistics.count, statistics.archiveHits, statistics.median)
  for host in statistics.hosts { print(host.name, host.count, host.errors, host.bytes) }

  try inspector.writeHAR(to: file)
  print(inspector.text { $0.state == .failed })
  for exchange in inspector.exchanges {
    print(exchange.curlCommand())
    print(exchange.swiftStub() ?? "")
  }

  let journal = try Inspector.Journal(directory.appendingPathComponent("traffic.journal"))
  let recorder = Inspector(journal: journal)
  let earlier = try Inspector.Journal.read(journal.file).exchanges
  _ = (recorder, earlier)
}
