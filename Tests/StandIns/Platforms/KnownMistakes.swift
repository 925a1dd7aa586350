// Code that compiles with glibc. `Scripts/platforms.sh` wants an error in each line that names the platform, and no other.
import Foundation

#if canImport(Android)
  import Android
#endif

func mistakes(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer) {
  _ = pread(file, bytes.baseAddress, bytes.count, 0)  // mistake: android
  _ = gai_strerror(1).map { String(cString: $0) }  // mistake: android
  _ = Foundation.close(file)  // mistake: android
  _ = SOCK_STREAM.rawValue  // mistake: android musl
  _ = stdout.pointee  // mistake: android musl
  _ = pthread_self() + UInt(1)  // mistake: android musl
}
