#if !Tunnel
  import Testing

  @Test("the tunnel", .disabled("needs the trait Tunnel: swift test --enable-all-traits")) func leftOut() {}
#endif
