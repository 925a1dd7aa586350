#if StructuredFields
  import Foundation
  import HTTPTypes
  import TestOrigin
  import TestSupport
  import Testing
  @testable import WaylayArchive

  @Suite("No-Vary-Search (draft-ietf-httpbis-no-vary-search)", .timeLimit(.minutes(60)))
  struct NoVarySearchTests {
    private func areEqual(_ field: String, _ left: String, _ right: String) throws -> Bool {
      let variance = try #require(NoVarySearch(field))
      return variance.canonical(left) == variance.canonical(right)
    }

    @Test(
      "what cannot be read, and what excuses nothing, is what every response says anyway (section 4.2)",
      arguments: [
        "unknown-key", "key-order=\"not a boolean\"", "params=\"not a boolean or inner list\"", "params=(not-a-string)",
        "params=(\"a\"), except=(\"x\")", "params=(), except=()", "params=?0, except=(\"x\")",
        "params, except=(not-a-string)", "params, except=\"not an inner list\"", "params, except=?1", "except=(\"x\")",
        "except=()", "params=?0", "params=()", "key-order=?0", "", "params=(\"a\"", "params=1", "params=(\"é\")",
        "params=(\"\(String(repeating: "a", count: 5000))\")",
      ])
    func byDefault(_ field: String) {
      #expect(NoVarySearch(field) == nil)
    }

    @Test(
      "other ways to write it mean the same (section 4.2)",
      arguments: [
        ("params=?1", "params"), ("key-order=?1", "key-order"),
        ("params, key-order, except=(\"x\")", "key-order, params, except=(\"x\")"),
        ("params=(\"b\" \"a\" \"a\")", "params=(\"a\" \"b\")"), ("params=(\"%61\")", "params=(\"a\")"),
        ("params;x=1, future=7", "params"), ("params=(\"a\";x \"b\");y", "params=(\"a\" \"b\")"),
      ])
    func conventional(_ field: String, _ same: String) throws {
      let name = try #require(HTTPField.Name("No-Vary-Search"))
      #expect(NoVarySearch([name: field]) == NoVarySearch(same))
      #expect(NoVarySearch(same) != nil)
    }

    @Test(
      "queries that differ in nothing but what is excused are equal (section 5)",
      arguments: [
        ("params", "a=1", ""), ("params", "a=1&b=2", "c"), ("params=(\"utm\")", "q=x&utm=1", "utm=2&q=x"),
        ("params=(\"utm\")", "q=x", "q=x&utm"), ("params, except=(\"q\")", "q=x&a=1", "b=2&q=x&c"),
        ("key-order", "a=1&b=2", "b=2&a=1"), ("key-order", "a=1&b=2&a=3", "b=2&a=1&a=3"),
        ("key-order", "a=x", "%61=%78"), ("key-order", "a=%C3%A9", "a=é"), ("key-order", "a=%f6", "a=%ef%bf%bd"),
        ("key-order", "a=x&&&&", "a=x"), ("key-order", "a=", "a"), ("key-order", "a=%20", "a=+"),
        ("params=(\"%C3%A9+%E6%B0%97\")", "é+気=2", "%C3%A9%20%E6%B0%97=4"),
        ("key-order, params=(\"t\")", "t=1&b=2&a=1", "a=1&b=2"), ("key-order", "%zz=1", "%zz=1"),
      ])
    func equal(_ field: String, _ left: String, _ right: String) throws {
      #expect(try areEqual(field, left, right))
    }

    @Test(
      "and no others",
      arguments: [
        ("params=(\"utm\")", "q=x", "q=y"), ("params=(\"utm\")", "a=1&b=2", "b=2&a=1"),
        ("params=(\"utm\")", "UTM=1", ""),
        ("params=(\"utm\")", "utm2=1", ""), ("params, except=(\"q\")", "q=x", "q=y"),
        ("params, except=(\"q\")", "q=x", ""),
        ("params, except=(\"a\" \"b\")", "a=1&b=2", "b=2&a=1"), ("key-order", "a=1&a=2", "a=2&a=1"),
        ("key-order", "a=1", "a=2"), ("key-order", "a=1&b", "a=1%26b"), ("key-order", "a=b=c", "a%3Db=c"),
        ("key-order", "a=%C3%A9", "a=e%CC%81"), ("key-order", "a=1", "a=1&a=1"), ("key-order", "a", "b"),
        ("key-order", "a=%2B", "a=+"), ("key-order", "a=%00", "a"),
      ])
    func different(_ field: String, _ left: String, _ right: String) throws {
      #expect(try !areEqual(field, left, right))
    }

    /// The rules of the draft's section 5, step by step: pairs against pairs.
    private struct Model {
      var ordersKeys: Bool
      var excused: (String) -> Bool

      private func pairs(_ query: String) -> [(String, String)] {
        func text(_ part: Substring) -> String {
          let spaced = part.replacingOccurrences(of: "+", with: " ")
          return spaced.removingPercentEncoding ?? "unreadable \(part)"
        }
        var pairs = query.split(separator: "&").map { item -> (String, String) in
          let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
          return (text(parts[0]), parts.count > 1 ? text(parts[1]) : "")
        }.filter { !excused($0.0) }
        guard !ordersKeys else { return pairs }
        // Insertion keeps those of one name in their order.
        for index in pairs.indices.dropFirst() {
          var place = index
          while place > 0, Array(pairs[place].0.utf8).lexicographicallyPrecedes(Array(pairs[place - 1].0.utf8)) {
            pairs.swapAt(place, place - 1)
            place -= 1
          }
        }
        return pairs
      }

      func areEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (pairs(left), pairs(right))
        return left.count == right.count
          && zip(left, right).allSatisfy { $0.0.utf8.elementsEqual($1.0.utf8) && $0.1.utf8.elementsEqual($1.1.utf8) }
      }
    }

    @Test("two queries share a key exactly where the draft's comparison says that they are equal")
    func property() throws {
      var random = SplitMix(state: 10_008)
      let names = ["a", "b", "%61", "utm", "q", "", "%C3%A9", "é", "a+b", "a%20b", "A", "%26", "x%3D"]
      let values = ["", "1", "2", "%31", "+", "%20", "%2B", "=", "%C3%A9", "é", "1=1"]
      let fields: [(String, Model)] = [
        ("key-order", Model(ordersKeys: false) { _ in false }), ("params", Model(ordersKeys: true) { _ in true }),
        ("params=(\"a\" \"utm\")", Model(ordersKeys: true) { ["a", "utm"].contains($0) }),
        ("params=(\"%C3%A9\" \"a+b\"), key-order", Model(ordersKeys: false) { ["é", "a b"].contains($0) }),
        ("params, except=(\"q\" \"%26\")", Model(ordersKeys: true) { !["q", "&"].contains($0) }),
        ("params, except=(\"a\" \"b\"), key-order", Model(ordersKeys: false) { !["a", "b"].contains($0) }),
      ]
      func query() -> String {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in
          let name = names.randomElement(using: &random) ?? ""
          return Bool.random(using: &random) ? name : name + "=" + (values.randomElement(using: &random) ?? "")
        }.joined(separator: "&")
      }
      let variances = try fields.map { (try #require(NoVarySearch($0.0)), $0.1, $0.0) }
      var equal = 0
      for _ in 0..<Sizes.of(10_000_000, small: 5000) {
        let left = query()
        // Half of them are made of the same parts, so that some are equal.
        let right =
          Bool.random(using: &random)
          ? query()
          : left.split(separator: "&", omittingEmptySubsequences: false).shuffled(using: &random).joined(separator: "&")
        let (variance, model, field) = variances[Int.random(in: 0..<variances.count, using: &random)]
        let isShared = variance.canonical(left) == variance.canonical(right)
        guard isShared == model.areEqual(left, right) else {
          Issue.record("\(field): ?\(left) and ?\(right) \(isShared ? "share" : "do not share") a key")
          return
        }
        if isShared, left != right { equal += 1 }
      }
      #expect(equal > 200)
    }
  }
#endif
