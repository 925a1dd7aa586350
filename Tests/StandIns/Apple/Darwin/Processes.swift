// What the program, the examples and the tests use of Darwin beside the libraries; see Darwin.swift.

@_exported public import CNIOLinux
public import SwiftGlibc

// MARK: <unistd.h>, <stdlib.h>, <signal.h>, <fcntl.h>, <errno.h>

public var STDIN_FILENO: Int32 { fatalError() }
public var STDOUT_FILENO: Int32 { fatalError() }
public var STDERR_FILENO: Int32 { fatalError() }
public func isatty(_: Int32) -> Int32 { fatalError() }
public func tcgetpgrp(_: Int32) -> pid_t { fatalError() }
public func getpgrp() -> pid_t { fatalError() }
public typealias sigset_t = UInt32
public var SIG_SETMASK: Int32 { fatalError() }
@discardableResult
public func pthread_sigmask(_: Int32, _: UnsafePointer<sigset_t>?, _: UnsafeMutablePointer<sigset_t>?) -> Int32 { fatalError() }
public func exit(_: Int32) -> Never { fatalError() }
public func _exit(_: Int32) -> Never { fatalError() }
public func getppid() -> pid_t { fatalError() }
@discardableResult public func sleep(_: UInt32) -> UInt32 { fatalError() }
@discardableResult public func pipe(_: UnsafeMutablePointer<Int32>!) -> Int32 { fatalError() }
public var SIGINT: Int32 { fatalError() }
public var SIGKILL: Int32 { fatalError() }
public var SIGSTOP: Int32 { fatalError() }
public var SIGPIPE: Int32 { fatalError() }
public var SIGCHLD: Int32 { fatalError() }
public var SIGTERM: Int32 { fatalError() }
public var SIGXFSZ: Int32 { fatalError() }
public var SIG_UNBLOCK: Int32 { fatalError() }
@discardableResult public func sigemptyset(_: UnsafeMutablePointer<sigset_t>!) -> Int32 { fatalError() }
@discardableResult public func sigaddset(_: UnsafeMutablePointer<sigset_t>!, _: Int32) -> Int32 { fatalError() }
public typealias sig_t = @convention(c) (Int32) -> Void
public var SIG_IGN: sig_t! { fatalError() }
public var SIG_DFL: sig_t! { fatalError() }
@discardableResult public func signal(_: Int32, _: sig_t!) -> sig_t! { fatalError() }
public var F_SETFD: Int32 { fatalError() }
public var FD_CLOEXEC: Int32 { fatalError() }
public var EPIPE: Int32 { fatalError() }
public var ENOLCK: Int32 { fatalError() }

public var F_SETFL: Int32 { fatalError() }
public var F_GETFD: Int32 { fatalError() }
public var S_IFSOCK: mode_t { fatalError() }
public var EADDRINUSE: Int32 { fatalError() }
public var _SC_PAGESIZE: Int32 { fatalError() }
public func sysconf(_: Int32) -> Int { fatalError() }

// MARK: <sys/socket.h>

public typealias sockaddr = SwiftGlibc.sockaddr
public typealias linger = CNIOLinux.linger
public var SO_REUSEADDR: Int32 { fatalError() }
public var SO_REUSEPORT: Int32 { fatalError() }
public var SOL_SOCKET: Int32 { fatalError() }
public func socket(_: Int32, _: Int32, _: Int32) -> Int32 { fatalError() }
public func listen(_: Int32, _: Int32) -> Int32 { fatalError() }
public func connect(_: Int32, _: UnsafePointer<sockaddr>!, _: socklen_t) -> Int32 { fatalError() }
public func bind(_: Int32, _: UnsafePointer<sockaddr>!, _: socklen_t) -> Int32 { fatalError() }
public func setsockopt(_: Int32, _: Int32, _: Int32, _: UnsafeRawPointer!, _: socklen_t) -> Int32 { fatalError() }
public func getsockname(_: Int32, _: UnsafeMutablePointer<sockaddr>!, _: UnsafeMutablePointer<socklen_t>!) -> Int32 { fatalError() }

// MARK: <spawn.h>, <sys/wait.h>, <sys/resource.h>, <dlfcn.h>, <stdlib.h>, <string.h>

public typealias posix_spawn_file_actions_t = UnsafeMutableRawPointer
public typealias posix_spawnattr_t = UnsafeMutableRawPointer
public var POSIX_SPAWN_SETPGROUP: Int32 { fatalError() }
public var POSIX_SPAWN_CLOEXEC_DEFAULT: Int32 { fatalError() }
@discardableResult
public func posix_spawn_file_actions_init(_: UnsafeMutablePointer<posix_spawn_file_actions_t?>!) -> Int32 { fatalError() }
@discardableResult
public func posix_spawn_file_actions_destroy(_: UnsafeMutablePointer<posix_spawn_file_actions_t?>!) -> Int32 { fatalError() }
@discardableResult
public func posix_spawn_file_actions_addopen(
  _: UnsafeMutablePointer<posix_spawn_file_actions_t?>!, _: Int32, _: UnsafePointer<CChar>!, _: Int32, _: mode_t
) -> Int32 { fatalError() }
@discardableResult
public func posix_spawn_file_actions_adddup2(_: UnsafeMutablePointer<posix_spawn_file_actions_t?>!, _: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult public func posix_spawnattr_init(_: UnsafeMutablePointer<posix_spawnattr_t?>!) -> Int32 { fatalError() }
@discardableResult public func posix_spawnattr_destroy(_: UnsafeMutablePointer<posix_spawnattr_t?>!) -> Int32 { fatalError() }
@discardableResult public func posix_spawnattr_setsigmask(_: UnsafeMutablePointer<posix_spawnattr_t?>!, _: UnsafePointer<sigset_t>!) -> Int32 { fatalError() }
@discardableResult public func posix_spawnattr_setsigdefault(_: UnsafeMutablePointer<posix_spawnattr_t?>!, _: UnsafePointer<sigset_t>!) -> Int32 { fatalError() }
public var POSIX_SPAWN_SETSIGDEF: Int32 { fatalError() }
public var POSIX_SPAWN_SETSIGMASK: Int32 { fatalError() }
@discardableResult public func posix_spawnattr_setflags(_: UnsafeMutablePointer<posix_spawnattr_t?>!, _: Int16) -> Int32 { fatalError() }
@discardableResult
public func posix_spawn(
  _: UnsafeMutablePointer<pid_t>!, _: UnsafePointer<CChar>!, _: UnsafePointer<posix_spawn_file_actions_t?>!,
  _: UnsafePointer<posix_spawnattr_t?>!, _: UnsafePointer<UnsafeMutablePointer<CChar>?>!, _: UnsafePointer<UnsafeMutablePointer<CChar>?>!
) -> Int32 { fatalError() }
public typealias id_t = UInt32
public struct idtype_t: Equatable, Sendable {}
public var P_PID: idtype_t { fatalError() }
public struct siginfo_t {
  public init() { fatalError() }
}
public var WEXITED: Int32 { fatalError() }
public var WNOWAIT: Int32 { fatalError() }
@discardableResult
public func waitid(_: idtype_t, _: id_t, _: UnsafeMutablePointer<siginfo_t>!, _: Int32) -> Int32 { fatalError() }
@discardableResult public func waitpid(_: pid_t, _: UnsafeMutablePointer<Int32>!, _: Int32) -> pid_t { fatalError() }
public struct tm {
  public var tm_sec: Int32
  public var tm_min: Int32
  public var tm_hour: Int32
  public var tm_mday: Int32
  public var tm_mon: Int32
  public var tm_year: Int32
  public var tm_wday: Int32
  public init() { fatalError() }
}
@discardableResult
public func gmtime_r(_: UnsafePointer<time_t>!, _: UnsafeMutablePointer<tm>!) -> UnsafeMutablePointer<tm>! {
  fatalError()
}
public func timegm(_: UnsafeMutablePointer<tm>!) -> time_t { fatalError() }
public typealias rlim_t = UInt64
public struct rlimit {
  public var rlim_cur: rlim_t
  public var rlim_max: rlim_t
  public init() { fatalError() }
  public init(rlim_cur: rlim_t, rlim_max: rlim_t) { fatalError() }
}
public var RLIMIT_FSIZE: Int32 { fatalError() }
public var RLIMIT_NOFILE: Int32 { fatalError() }
@discardableResult public func getrlimit(_: Int32, _: UnsafeMutablePointer<rlimit>!) -> Int32 { fatalError() }
@discardableResult public func setrlimit(_: Int32, _: UnsafePointer<rlimit>!) -> Int32 { fatalError() }
public struct Dl_info {
  public var dli_fname: UnsafePointer<CChar>!
  public init() { fatalError() }
}
@discardableResult public func dladdr(_: UnsafeRawPointer!, _: UnsafeMutablePointer<Dl_info>!) -> Int32 { fatalError() }
public func strdup(_: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>! { fatalError() }
@discardableResult public func setenv(_: UnsafePointer<CChar>!, _: UnsafePointer<CChar>!, _: Int32) -> Int32 { fatalError() }
@discardableResult public func atexit(_: (@convention(c) () -> Void)!) -> Int32 { fatalError() }
public var SIGALRM: Int32 { fatalError() }
@discardableResult public func alarm(_: UInt32) -> UInt32 { fatalError() }
public func getpeername(_: Int32, _: UnsafeMutablePointer<sockaddr>!, _: UnsafeMutablePointer<socklen_t>!) -> Int32 { fatalError() }
public func send(_: Int32, _: UnsafeRawPointer!, _: Int, _: Int32) -> Int { fatalError() }
public func recv(_: Int32, _: UnsafeMutableRawPointer!, _: Int, _: Int32) -> Int { fatalError() }
@discardableResult public func truncate(_: UnsafePointer<CChar>!, _: off_t) -> Int32 { fatalError() }
@discardableResult public func chown(_: UnsafePointer<CChar>!, _: uid_t, _: gid_t) -> Int32 { fatalError() }
@discardableResult public func mkfifo(_: UnsafePointer<CChar>!, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func seteuid(_: uid_t) -> Int32 { fatalError() }
public struct clockid_t: Equatable, Sendable {}
public var CLOCK_THREAD_CPUTIME_ID: clockid_t { fatalError() }
@discardableResult public func clock_gettime(_: clockid_t, _: UnsafeMutablePointer<timespec>!) -> Int32 { fatalError() }
