#if !InspectorServer
  import Testing

  @Test("the live page of the inspector", .disabled("needs the trait InspectorServer: swift test --enable-all-traits"))
  func leftOut() {}
#endif
