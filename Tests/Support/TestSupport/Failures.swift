package import Foundation

/// The error that some work throws.
package func failure<Result>(_ work: () async throws -> Result) async -> (any Error)? {
  do {
    _ = try await work()
    return nil
  } catch {
    Recording.note(error)
    return error
  }
}

/// The code of the `URLError` that some work throws.
package func failureCode<Result>(_ work: () async throws -> Result) async -> URLError.Code? {
  (await failure(work) as? URLError)?.code
}
