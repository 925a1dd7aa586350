#if canImport(FoundationNetworking)
  import Foundation
  import HTTPTypes

  extension ResponseHead {
    /// What is wrong with how the head says where its message ends; `nil` when that can be believed or does not count.
    ///
    /// An invalid length makes the end of the message unknown: the answer is to be discarded, and the connection with
    /// it (RFC 9112, section 6.3, item 5). libcurl takes the digits that it finds, or reads until the connection ends.
    func framingFault(for method: HTTPRequest.Method) -> String? {
      // Some answers have no body whatever they say.
      guard method != .head, status != 204, status != 304 else { return nil }
      // Where both are there, the coding counts.
      let codings = fields[values: .transferEncoding]
      guard codings.isEmpty else { return Self.codingFault(codings) }
      let values = fields[values: .contentLength]
      guard !values.isEmpty else { return nil }
      var lengths: Set<Int64> = []
      for value in values {
        // The same length again, in one field or in several, may count as one.
        for text in value.split(separator: ",", omittingEmptySubsequences: false) {
          let digits = text.trimmingCharacters(in: .whitespaces)
          guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int64(digits)
          else {
            return "the Content-Length \"\(value.prefix(40))\" is not a length"
          }
          lengths.insert(length)
        }
      }
      return lengths.count > 1
        ? "it has several lengths, \(lengths.sorted().prefix(4).map(String.init).joined(separator: ", "))" : nil
    }

    /// Transfer codings that libcurl undoes.
    private static let transferCodings: Set<String> = ["chunked", "gzip", "x-gzip", "deflate", "identity"]

    /// A coding that nobody undoes would be handed over as if it were the body.
    private static func codingFault(_ values: [String]) -> String? {
      for value in values {
        for text in value.split(separator: ",") {
          let coding = text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
          if !coding.isEmpty, !transferCodings.contains(coding) {
            return "the transfer coding \"\(coding.prefix(40))\" is not known"
          }
        }
      }
      return nil
    }
  }
#endif
