// Stand-ins for the names of Darwin that Waylay's Apple half uses, for `Scripts/apple.sh`: type-checked against, never linked.
// Own work. Types and optionality are those of the headers that each section names, as Swift imports them: a C pointer without nullability
// arrives as an implicitly unwrapped optional, a macro of an integer constant as `Int32`.

@_exported import DarwinStatus

// MARK: <sys/_types.h>, <sys/_pthread/_pthread_types.h>

public typealias time_t = Int
public typealias off_t = Int64
public typealias mode_t = UInt16
public typealias pid_t = Int32
public typealias uid_t = UInt32
public typealias gid_t = UInt32
public typealias dev_t = Int32
public typealias ino_t = UInt64
public typealias nlink_t = UInt16
public typealias socklen_t = UInt32
public typealias sa_family_t = UInt8
public typealias in_addr_t = UInt32
public typealias in_port_t = UInt16
/// `typedef unsigned long __darwin_pthread_key_t`
public typealias pthread_key_t = UInt

// MARK: <pthread.h>

public struct pthread_mutex_t {
  public init() {}
}

public struct pthread_mutexattr_t {
  public init() {}
}

public var S_IWGRP: mode_t { fatalError() }
public var S_IWOTH: mode_t { fatalError() }
public var S_ISVTX: mode_t { fatalError() }
@discardableResult public func usleep(_ microseconds: UInt32) -> Int32 { fatalError() }
public func pthread_mutex_init(_: UnsafeMutablePointer<pthread_mutex_t>!, _: UnsafePointer<pthread_mutexattr_t>?) -> Int32 { fatalError() }
@discardableResult public func pthread_mutex_lock(_: UnsafeMutablePointer<pthread_mutex_t>!) -> Int32 { fatalError() }
@discardableResult public func pthread_mutex_unlock(_: UnsafeMutablePointer<pthread_mutex_t>!) -> Int32 { fatalError() }
@discardableResult public func pthread_mutex_destroy(_: UnsafeMutablePointer<pthread_mutex_t>!) -> Int32 { fatalError() }

/// The destructor's argument is not optional here, as it is with glibc.
@discardableResult
public func pthread_key_create(
  _: UnsafeMutablePointer<pthread_key_t>!, _: (@convention(c) (UnsafeMutableRawPointer) -> Void)!
) -> Int32 { fatalError() }
public func pthread_getspecific(_: pthread_key_t) -> UnsafeMutableRawPointer! { fatalError() }
@discardableResult public func pthread_setspecific(_: pthread_key_t, _: UnsafeRawPointer?) -> Int32 { fatalError() }

// MARK: <errno.h>, <sys/errno.h>, <string.h>

public var errno: Int32 {
  get { fatalError() }
  set { fatalError() }
}

public var EPERM: Int32 { fatalError() }
public var E2BIG: Int32 { fatalError() }
public var EDESTADDRREQ: Int32 { fatalError() }
public var EFAULT: Int32 { fatalError() }
public var ENOTTY: Int32 { fatalError() }
public var ENODEV: Int32 { fatalError() }
public var ENXIO: Int32 { fatalError() }
public var EOVERFLOW: Int32 { fatalError() }
public var ERANGE: Int32 { fatalError() }
public var ETXTBSY: Int32 { fatalError() }
public var AF_UNIX: Int32 { fatalError() }
public var ENOENT: Int32 { fatalError() }
public var ESRCH: Int32 { fatalError() }
public var EINTR: Int32 { fatalError() }
public var EIO: Int32 { fatalError() }
public var EBADF: Int32 { fatalError() }
public var ENOMEM: Int32 { fatalError() }
public var EACCES: Int32 { fatalError() }
public var EBUSY: Int32 { fatalError() }
public var EEXIST: Int32 { fatalError() }
public var EXDEV: Int32 { fatalError() }
public var ENOTDIR: Int32 { fatalError() }
public var EISDIR: Int32 { fatalError() }
public var EINVAL: Int32 { fatalError() }
public var ENFILE: Int32 { fatalError() }
public var EMFILE: Int32 { fatalError() }
public var EFBIG: Int32 { fatalError() }
public var ENOSPC: Int32 { fatalError() }
public var EROFS: Int32 { fatalError() }
public var EMLINK: Int32 { fatalError() }
public var EAGAIN: Int32 { fatalError() }
public var EWOULDBLOCK: Int32 { fatalError() }
public var ENOTSUP: Int32 { fatalError() }
public var EOPNOTSUPP: Int32 { fatalError() }
public var ECONNREFUSED: Int32 { fatalError() }
public var ECONNRESET: Int32 { fatalError() }
public var ETIMEDOUT: Int32 { fatalError() }
public var ELOOP: Int32 { fatalError() }
public var ENAMETOOLONG: Int32 { fatalError() }
public var ENOTEMPTY: Int32 { fatalError() }
public var EDQUOT: Int32 { fatalError() }
public var ESTALE: Int32 { fatalError() }
public var EILSEQ: Int32 { fatalError() }
public var ENOSYS: Int32 { fatalError() }

public func strerror(_: Int32) -> UnsafeMutablePointer<CChar>! { fatalError() }
public func strlen(_: UnsafePointer<CChar>!) -> Int { fatalError() }
public func memcmp(_: UnsafeRawPointer!, _: UnsafeRawPointer!, _: Int) -> Int32 { fatalError() }
public func memchr(_: UnsafeRawPointer!, _: Int32, _: Int) -> UnsafeMutableRawPointer! { fatalError() }
@discardableResult
public func memcpy(_: UnsafeMutableRawPointer!, _: UnsafeRawPointer!, _: Int) -> UnsafeMutableRawPointer! { fatalError() }

// MARK: <fcntl.h>, <sys/fcntl.h>, <unistd.h>, <stdio.h>

public var O_RDONLY: Int32 { fatalError() }
public var O_WRONLY: Int32 { fatalError() }
public var O_RDWR: Int32 { fatalError() }
public var O_CREAT: Int32 { fatalError() }
public var O_EXCL: Int32 { fatalError() }
public var O_TRUNC: Int32 { fatalError() }
public var O_APPEND: Int32 { fatalError() }
public var O_CLOEXEC: Int32 { fatalError() }
public var O_NOFOLLOW: Int32 { fatalError() }
public var O_DIRECTORY: Int32 { fatalError() }
public var O_NONBLOCK: Int32 { fatalError() }
public var O_NOCTTY: Int32 { fatalError() }
public var F_DUPFD_CLOEXEC: Int32 { fatalError() }
public var F_FULLFSYNC: Int32 { fatalError() }
public var F_BARRIERFSYNC: Int32 { fatalError() }
public var LOCK_SH: Int32 { fatalError() }
public var LOCK_EX: Int32 { fatalError() }
public var LOCK_NB: Int32 { fatalError() }
public var LOCK_UN: Int32 { fatalError() }
public var SEEK_SET: Int32 { fatalError() }
public var AT_FDCWD: Int32 { fatalError() }
public var AT_SYMLINK_NOFOLLOW: Int32 { fatalError() }
public var AT_REMOVEDIR: Int32 { fatalError() }
public var R_OK: Int32 { fatalError() }
public var W_OK: Int32 { fatalError() }
public var X_OK: Int32 { fatalError() }
public var F_OK: Int32 { fatalError() }

// The variadic ones come with the overlay of Darwin: Platform.swift of the standard library.
public func open(_: UnsafePointer<CChar>, _: Int32) -> Int32 { fatalError() }
public func open(_: UnsafePointer<CChar>, _: Int32, _: mode_t) -> Int32 { fatalError() }
public func openat(_: Int32, _: UnsafePointer<CChar>, _: Int32) -> Int32 { fatalError() }
public func openat(_: Int32, _: UnsafePointer<CChar>, _: Int32, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func fcntl(_: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult public func fcntl(_: Int32, _: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult public func close(_: Int32) -> Int32 { fatalError() }
@discardableResult public func flock(_: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult public func fsync(_: Int32) -> Int32 { fatalError() }
@discardableResult public func ftruncate(_: Int32, _: off_t) -> Int32 { fatalError() }
@discardableResult public func lseek(_: Int32, _: off_t, _: Int32) -> off_t { fatalError() }
public func read(_: Int32, _: UnsafeMutableRawPointer!, _: Int) -> Int { fatalError() }
public func write(_: Int32, _: UnsafeRawPointer!, _: Int) -> Int { fatalError() }
public func pread(_: Int32, _: UnsafeMutableRawPointer!, _: Int, _: off_t) -> Int { fatalError() }
public func pwrite(_: Int32, _: UnsafeRawPointer!, _: Int, _: off_t) -> Int { fatalError() }
@discardableResult public func rename(_: UnsafePointer<CChar>!, _: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult public func link(_: UnsafePointer<CChar>!, _: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult public func unlink(_: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult public func unlinkat(_: Int32, _: UnsafePointer<CChar>!, _: Int32) -> Int32 { fatalError() }
@discardableResult public func rmdir(_: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult public func access(_: UnsafePointer<CChar>!, _: Int32) -> Int32 { fatalError() }
public func getpid() -> pid_t { fatalError() }
public func getuid() -> uid_t { fatalError() }
public func geteuid() -> uid_t { fatalError() }
@discardableResult public func kill(_: pid_t, _: Int32) -> Int32 { fatalError() }

// MARK: <sys/stat.h>

@discardableResult public func mkdir(_: UnsafePointer<CChar>!, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func chmod(_: UnsafePointer<CChar>!, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func fchmod(_: Int32, _: mode_t) -> Int32 { fatalError() }
public var S_IFMT: mode_t { fatalError() }
public var S_IFREG: mode_t { fatalError() }
public var S_IFCHR: mode_t { fatalError() }
public var S_IFIFO: mode_t { fatalError() }
public var S_IFDIR: mode_t { fatalError() }
public var S_IFLNK: mode_t { fatalError() }

// MARK: <sys/mman.h>

public var PROT_READ: Int32 { fatalError() }
public var PROT_WRITE: Int32 { fatalError() }
public var MAP_PRIVATE: Int32 { fatalError() }
public var MAP_SHARED: Int32 { fatalError() }
public var MAP_FAILED: UnsafeMutableRawPointer! { fatalError() }
public func mmap(
  _: UnsafeMutableRawPointer!, _: Int, _: Int32, _: Int32, _: Int32, _: off_t
) -> UnsafeMutableRawPointer! { fatalError() }
@discardableResult public func munmap(_: UnsafeMutableRawPointer!, _: Int) -> Int32 { fatalError() }

// MARK: <dlfcn.h>

public var RTLD_LAZY: Int32 { fatalError() }
public var RTLD_DEFAULT: UnsafeMutableRawPointer! { fatalError() }
public func dlopen(_: UnsafePointer<CChar>!, _: Int32) -> UnsafeMutableRawPointer! { fatalError() }
public func dlsym(_: UnsafeMutableRawPointer!, _: UnsafePointer<CChar>!) -> UnsafeMutableRawPointer! { fatalError() }

// MARK: <sys/socket.h>, <netinet/in.h>, <netinet6/in6.h>, <netdb.h>, <arpa/inet.h>

public var AF_UNSPEC: Int32 { fatalError() }
public var AF_INET: Int32 { fatalError() }
public var AF_INET6: Int32 { fatalError() }
/// A macro here, and a value of an enumeration with glibc.
public var SOCK_STREAM: Int32 { fatalError() }
public var INET6_ADDRSTRLEN: Int32 { fatalError() }
public var INET_ADDRSTRLEN: Int32 { fatalError() }
public var EAI_NONAME: Int32 { fatalError() }
public var EAI_AGAIN: Int32 { fatalError() }

public struct in_addr: Sendable {
  public var s_addr: in_addr_t
  public init() { fatalError() }
}

public struct in6_addr {
  public init() { fatalError() }
}

public struct sockaddr_un {
  public var sun_family: sa_family_t
  public var sun_path: (Int8, Int8)
  public init() { fatalError() }
}
public struct sockaddr_in: Sendable {
  public var sin_len: UInt8
  public var sin_family: sa_family_t
  public var sin_port: in_port_t
  public var sin_addr: in_addr
  public init() { fatalError() }
}

public struct sockaddr_in6 {
  public var sin6_len: UInt8
  public var sin6_family: sa_family_t
  public var sin6_port: in_port_t
  public var sin6_flowinfo: UInt32
  public var sin6_addr: in6_addr
  public var sin6_scope_id: UInt32
  public init() { fatalError() }
}

/// `ai_canonname` comes before `ai_addr` here, and after it with glibc.
public struct addrinfo {
  public var ai_flags: Int32
  public var ai_family: Int32
  public var ai_socktype: Int32
  public var ai_protocol: Int32
  public var ai_addrlen: socklen_t
  public var ai_canonname: UnsafeMutablePointer<CChar>!
  public var ai_addr: UnsafeMutablePointer<sockaddr>!
  public var ai_next: UnsafeMutablePointer<addrinfo>!
  public init() { fatalError() }
}

public func getaddrinfo(
  _: UnsafePointer<CChar>!, _: UnsafePointer<CChar>!, _: UnsafePointer<addrinfo>!,
  _: UnsafeMutablePointer<UnsafeMutablePointer<addrinfo>?>!
) -> Int32 { fatalError() }
public func freeaddrinfo(_: UnsafeMutablePointer<addrinfo>!) { fatalError() }
public func gai_strerror(_: Int32) -> UnsafePointer<CChar>! { fatalError() }
@discardableResult
public func inet_pton(_: Int32, _: UnsafePointer<CChar>!, _: UnsafeMutableRawPointer!) -> Int32 { fatalError() }
@discardableResult
public func inet_ntop(
  _: Int32, _: UnsafeRawPointer!, _: UnsafeMutablePointer<CChar>!, _: socklen_t
) -> UnsafePointer<CChar>! { fatalError() }

// MARK: <math.h>, <stdlib.h>, <time.h>

public func cos(_: Double) -> Double { fatalError() }
public func sin(_: Double) -> Double { fatalError() }
public func pow(_: Double, _: Double) -> Double { fatalError() }
public func log(_: Double) -> Double { fatalError() }
public func log2(_: Double) -> Double { fatalError() }
public func exp(_: Double) -> Double { fatalError() }
public func sqrt(_: Double) -> Double { fatalError() }
public func floor(_: Double) -> Double { fatalError() }
public func ceil(_: Double) -> Double { fatalError() }
public func getenv(_: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>! { fatalError() }
public func getchar_unlocked() -> Int32 { fatalError() }
public let EOF: Int32 = -1
@discardableResult public func unsetenv(_: UnsafePointer<CChar>!) -> Int32 { fatalError() }
public func free(_: UnsafeMutableRawPointer!) { fatalError() }
public func malloc(_: Int) -> UnsafeMutableRawPointer! { fatalError() }

/// An enumeration of the overlay of Darwin. https://developer.apple.com/documentation/foundation/posixerror/code
public enum POSIXErrorCode: Int32, Sendable {
  case EPERM = 1, ENOENT, ESRCH, EINTR, EIO, ENXIO, E2BIG, ENOEXEC, EBADF, ECHILD, EDEADLK, ENOMEM, EACCES, EFAULT, ENOTBLK, EBUSY, EEXIST
  case EXDEV, ENODEV, ENOTDIR, EISDIR, EINVAL, ENFILE, EMFILE, ENOTTY, ETXTBSY, EFBIG, ENOSPC, ESPIPE, EROFS, EMLINK, EPIPE
  case EAGAIN = 35, EHOSTUNREACH = 65, ECONNREFUSED = 61, ECONNRESET = 54, ETIMEDOUT = 60, ENETUNREACH = 51, ENETDOWN = 50, EADDRNOTAVAIL = 49, ENOBUFS = 55
}

// MARK: <dirent.h>, <sys/dirent.h>

/// Swift sees this structure, and not only a pointer to it as with glibc.
public struct DIR {
  public init() { fatalError() }
}

public struct dirent {
  public var d_ino: UInt64
  public var d_seekoff: UInt64
  public var d_reclen: UInt16
  public var d_namlen: UInt16
  public var d_type: UInt8
  /// 1024 of them, imported as a tuple.
  public var d_name: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)
  public init() { fatalError() }
}

public func opendir(_: UnsafePointer<CChar>!) -> UnsafeMutablePointer<DIR>! { fatalError() }
public func fdopendir(_: Int32) -> UnsafeMutablePointer<DIR>! { fatalError() }
public func readdir(_: UnsafeMutablePointer<DIR>!) -> UnsafeMutablePointer<dirent>! { fatalError() }
@discardableResult public func closedir(_: UnsafeMutablePointer<DIR>!) -> Int32 { fatalError() }
public func rewinddir(_: UnsafeMutablePointer<DIR>!) { fatalError() }
public func dirfd(_: UnsafeMutablePointer<DIR>!) -> Int32 { fatalError() }

// MARK: <sys/stat.h>, <stdio.h>, <unistd.h>: by descriptor of a directory, macOS 10.10, iOS 8

@discardableResult public func mkdirat(_: Int32, _: UnsafePointer<CChar>!, _: mode_t) -> Int32 { fatalError() }
@discardableResult
public func renameat(_: Int32, _: UnsafePointer<CChar>!, _: Int32, _: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult
public func linkat(_: Int32, _: UnsafePointer<CChar>!, _: Int32, _: UnsafePointer<CChar>!, _: Int32) -> Int32 { fatalError() }
@discardableResult public func faccessat(_: Int32, _: UnsafePointer<CChar>!, _: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult public func dup(_: Int32) -> Int32 { fatalError() }
@discardableResult public func fchown(_: Int32, _: uid_t, _: gid_t) -> Int32 { fatalError() }
@discardableResult
public func readlink(_: UnsafePointer<CChar>!, _: UnsafeMutablePointer<CChar>!, _: Int) -> Int { fatalError() }

// MARK: <poll.h>

public struct pollfd {
  public init(fd: Int32, events: Int16, revents: Int16) { fatalError() }
}
public var POLLOUT: Int32 { fatalError() }
@discardableResult public func poll(_: UnsafeMutablePointer<pollfd>!, _: UInt32, _: Int32) -> Int32 { fatalError() }

// MARK: <sys/acl.h>

public typealias acl_t = OpaquePointer
public func acl_init(_: Int32) -> acl_t! { fatalError() }
public func acl_get_fd(_: Int32) -> acl_t! { fatalError() }
@discardableResult public func acl_set_fd(_: Int32, _: acl_t!) -> Int32 { fatalError() }
@discardableResult public func acl_free(_: UnsafeMutableRawPointer!) -> Int32 { fatalError() }
@discardableResult public func symlink(_: UnsafePointer<CChar>!, _: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult
public func utimensat(_: Int32, _: UnsafePointer<CChar>!, _: UnsafePointer<timespec>!, _: Int32) -> Int32 { fatalError() }
@discardableResult public func mknod(_: UnsafePointer<CChar>!, _: mode_t, _: Int32) -> Int32 { fatalError() }
@discardableResult public func setgroups(_: Int32, _: UnsafePointer<gid_t>!) -> Int32 { fatalError() }
@discardableResult public func lchown(_: UnsafePointer<CChar>!, _: uid_t, _: gid_t) -> Int32 { fatalError() }
@discardableResult public func setgid(_: gid_t) -> Int32 { fatalError() }
@discardableResult public func setuid(_: uid_t) -> Int32 { fatalError() }
public func abort() -> Never { fatalError() }
