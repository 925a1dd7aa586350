import Foundation

/// The type of TCP sockets. It is an enumeration in glibc and a number elsewhere.
#if canImport(Glibc) && !canImport(Darwin)
  package let streamSocketType = CInt(SOCK_STREAM.rawValue)
#else
  package let streamSocketType = CInt(SOCK_STREAM)
#endif
