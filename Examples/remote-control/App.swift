import Foundation
import WaylayInspector
import WaylayInterceptors
import WaylayMocks
import WaylayRemote

/// The app: requests each URL that it reads from standard input, and prints what came.
///
/// In a debug build it lets the process that launched it stub its requests, if that process invited it.
enum App {
  static func run() async throws {
    let (inspector, conditions) = (Inspector(), NetworkConditions())
    let mocks = MockInterceptor(.init(unmatched: .passThrough))
    let door = try await RemoteDoor.open(inspector, mocks: mocks, conditions: conditions)
    let registry = InterceptorRegistry {
      inspector
      conditions
      mocks
    }
    let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
    while let line = readLine() {
      guard let url = URL(string: line) else { continue }
      do {
        let (data, response) = try await session.data(from: url)
        answer("\((response as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: data, as: UTF8.self))")
      } catch {
        answer("failed \((error as? URLError)?.code.rawValue ?? 0)")
      }
    }
    withExtendedLifetime(door) {}
  }

  private static func answer(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
