extension FixedWidthInteger {
  /// The sum, or the number nearest to it that there is.
  package func saturating(adding other: Self) -> Self {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, or the number nearest to it that there is.
  package func saturating(subtracting other: Self) -> Self {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? (other < 0 ? .max : .min) : difference
  }
}
