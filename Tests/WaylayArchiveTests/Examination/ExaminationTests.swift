import Foundation
import TestOrigin
import TestSupport
import Testing

@testable import WaylayArchive

/// The rules of `Internals/ArchiveRules.md`, as somebody asks who sees nothing but requests and answers: on a real server, in each
/// of the four ways.
@Suite("An examination on the wire", .heavy, .timeLimit(.minutes(10)))
struct ExaminationTests {
  @Test("Freshness, age and what is stored (RFC 9111, sections 3, 4.2 and 5)", arguments: Way.allCases)
  func freshness(_ way: Way) async throws { try await ask(Question.freshness + Question.storage, way) }

  @Test(
    "Directives of requests, and what is given stale (RFC 9111, sections 4.2.4 and 5.2.1; RFC 5861)",
    arguments: Way.allCases)
  func requests(_ way: Way) async throws { try await ask(Question.requests + Question.stale, way) }

  @Test("Vary (RFC 9111, section 4.1)", arguments: Way.allCases)
  func vary(_ way: Way) async throws { try await ask(Question.vary, way) }

  @Test("Validation and freshening (RFC 9111, sections 3.2 and 4.3)", arguments: Way.allCases)
  func validation(_ way: Way) async throws { try await ask(Question.validation, way) }

  @Test("Invalidation (RFC 9111, section 4.4)", arguments: Way.allCases)
  func invalidation(_ way: Way) async throws { try await ask(Question.invalidation, way) }

  @Test("Ranges and parts (RFC 9111, sections 3.3 and 3.4)", arguments: Way.allCases)
  func ranges(_ way: Way) async throws { try await ask(Question.ranges, way) }

  private func ask(_ questions: [Question], _ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      for (number, question) in questions.enumerated() {
        let faults = try await question.faults(at: site, number, by: way)
        #expect(faults.isEmpty, "\(question.title) [\(way)]: \(faults.joined(separator: "; "))")
      }
    }
  }
}
