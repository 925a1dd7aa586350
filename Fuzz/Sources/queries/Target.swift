internal import Driver

@main
enum Target {
  static func main() { fuzz(test) }

  /// A query is read, or its mistake has a place in it; it finds what a plain comparison finds, and the opposite of it
  /// finds the rest.
  static func query(_ text: String, _ exchange: KeptExchange) {
    do {
      let query = try Inspector.Query(text)
      require((try? Inspector.Query(query.description)) == query, "read again it is another: \(text)")
      let holds = query.matches(exchange)
      guard query.terms.count == 1, let term = query.terms.first else { return }
      require(holds == (term.holds(for: exchange) != term.isNegated), "one word alone finds something else: \(text)")
      if case .text = term.condition, !text.contains("\\"), !text.contains("\""), !term.isNegated {
        let (needle, hay) = (folded(text.split(whereSeparator: \.isWhitespace).joined().utf8), folded(exchange.texts))
        require(holds == (needle.isEmpty || hay.contains(needle)), "found, or not found, by mistake: \(text)")
      }
    } catch {
      require((0...text.count).contains(error.position), "a mistake at \(error.position) of \(text)")
      require(!error.message.isEmpty, "a mistake without a word")
    }
  }

  private static func folded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }
}

/// One input: a query, a zero byte, and what is looked through.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
  guard let text = parts.first else { return 0 }
  Target.query(String(decoding: text, as: UTF8.self), KeptExchange(parts.dropFirst().first.map { Array($0) } ?? []))
  return 0
}
