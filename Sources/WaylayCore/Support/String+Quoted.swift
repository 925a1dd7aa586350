extension String {
  /// The text as a quoted string of a header field (RFC 9110, section 5.6.4).
  ///
  /// Scalar by scalar: a quote that a combining mark follows is another character, and ends the string all the same.
  package var quotedString: String {
    var quoted = "\""
    for scalar in unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted += "\\" }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }
}
