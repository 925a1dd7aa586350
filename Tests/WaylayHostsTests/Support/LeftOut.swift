#if !Cryptography
  import Testing

  @Test("signed lists of hosts", .disabled("they need the trait Cryptography: swift test --enable-all-traits"))
  func signedLists() {}
#endif
