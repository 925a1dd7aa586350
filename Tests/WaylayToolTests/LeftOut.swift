#if !CommandLineTool
  import Testing

  @Test("the program waylay", .disabled("needs the trait CommandLineTool: swift test --enable-all-traits"))
  func leftOut() {}
#endif
