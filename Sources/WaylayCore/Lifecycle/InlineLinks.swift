import Foundation

/// The links at the beginning of a chain that may answer inside the loading system's call (rule 9): all that the core
/// knows of ``InlineAnswering``.
struct InlineLinks: Sendable {
  private let links: [any InlineAnswering]

  init(_ links: [any RequestInterceptor]) {
    var inline: [any InlineAnswering] = []
    for link in links {
      guard let link = link as? any InlineAnswering else { break }
      inline.append(link)
    }
    self.links = inline
  }

  var isEmpty: Bool { links.isEmpty }

  /// The first answer, or `nil` when a link wants to be asked elsewhere, or another kind of link comes next.
  func answer(_ request: InterceptedRequest, of load: Load) throws -> InterceptedResponse? {
    var request = request
    for link in links {
      do {
        switch try link.answerInline(request) {
        case .response(let response):
          try load.check(response, of: link)
          return response
        case .next(let changed): request = changed
        case .startLoading: return nil
        }
      } catch {
        load.noteFailure(error, in: link)
        throw error
      }
    }
    return nil
  }
}
