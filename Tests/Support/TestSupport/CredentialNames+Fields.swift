package import WaylayBase

extension CredentialNames {
  /// Of each row of a kind, a field that it covers.
  package static func fields(_ kind: Kind) -> [String] {
    table.filter { $0.kind == kind }.flatMap(\.rows).map { row in
      String(row.drop { "=… ".contains($0) }).replacing(" … ", with: " some ").replacing(" ", with: "-")
    }
  }
}
