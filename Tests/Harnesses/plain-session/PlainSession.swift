import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Loads URLs one after the other with a plain session, and prints a line for each: the body, or why there is none.
@main
enum PlainSession {
  static func main() async {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 20
    let session = URLSession(configuration: configuration)
    for text in CommandLine.arguments.dropFirst() {
      guard let url = URL(string: text) else { continue }
      do {
        let (data, response) = try await session.data(from: url)
        print((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
      } catch {
        print("failed:", (error as NSError).localizedDescription)
      }
    }
    exit(0)
  }
}
