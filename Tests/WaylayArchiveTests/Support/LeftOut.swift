#if !Cryptography
  import Testing

  @Test(
    "encrypted archives, and archives in one file",
    .disabled("they need the trait Cryptography: swift test --enable-all-traits"))
  func encryptedArchives() {}
#endif
