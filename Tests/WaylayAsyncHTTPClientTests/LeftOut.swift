#if !AsyncHTTPClient
  import Testing

  @Test("AsyncHTTPClient", .disabled("needs the trait AsyncHTTPClient: swift test --enable-all-traits")) func leftOut()
  {}
#endif
