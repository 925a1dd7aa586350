// The codes of POSIX that the sources name, for `Scripts/platforms.sh`: never linked. Foundation, as Linux builds it, looks for them in Glibc. Own
// work, after https://github.com/swiftlang/swift/blob/main/stdlib/public/Platform/POSIXError.swift and the kernel's asm-generic/errno.h.
public enum POSIXErrorCode: Int32, Sendable {
  case EPERM = 1
  case ENOENT = 2
  case EIO = 5
  case ENOMEM = 12
  case ENFILE = 23
  case EMFILE = 24
  case EPIPE = 32
  case EADDRNOTAVAIL = 99
  case ENETDOWN = 100
  case ENETUNREACH = 101
  case ECONNRESET = 104
  case ENOBUFS = 105
  case ETIMEDOUT = 110
  case ECONNREFUSED = 111
  case EHOSTUNREACH = 113
}
