// What the sources use of a C library, as Bionic (Android, API level 24) and musl have it, for `Scripts/platforms.sh`: type-checked against, never
// linked. Own work, after the names and types of the headers that are named. Bionic says of each pointer whether it may be null:
// https://android.googlesource.com/platform/bionic/+/refs/heads/main/libc/include/; musl, like glibc, says nothing: https://git.musl-libc.org/cgit/musl/tree/include.

#include <stddef.h>
#include <stdint.h>

#if defined(__ANDROID__)
#define NONNULL _Nonnull
#define NULLABLE _Nullable
#define BIONIC_OR_MUSL(bionic, musl) bionic
#else
#define NONNULL
#define NULLABLE
#define BIONIC_OR_MUSL(bionic, musl) musl
#endif

// sys/types.h
typedef long ssize_t;
typedef BIONIC_OR_MUSL(int64_t, long) off_t;
typedef unsigned int mode_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef int pid_t;
typedef BIONIC_OR_MUSL(uint64_t, unsigned long) dev_t;
typedef unsigned long ino_t;

// time.h
struct timespec {
  long tv_sec;
  long tv_nsec;
};
typedef long time_t;
struct tm {
  int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
};
struct tm *NULLABLE gmtime_r(const time_t *NONNULL, struct tm *NONNULL);
time_t timegm(struct tm *NONNULL);

// string.h, strings.h. GNU's strerror_r is not musl's.
int memcmp(const void *NONNULL, const void *NONNULL, size_t);
void *NONNULL memcpy(void *NONNULL, const void *NONNULL, size_t);
void *NONNULL memmove(void *NONNULL, const void *NONNULL, size_t);
void *NONNULL memset(void *NONNULL, int, size_t);
void *NULLABLE memchr(const void *NONNULL, int, size_t);
char *NONNULL strerror(int);

// stdlib.h, stdio.h: the structure behind FILE is not to be seen.
void exit(int) __attribute__((noreturn));
char *NULLABLE getenv(const char *NONNULL);
int unsetenv(const char *NONNULL);
typedef struct BIONIC_OR_MUSL(__sFILE, _IO_FILE) FILE;
extern FILE *NONNULL BIONIC_OR_MUSL(, const) stdout;
extern FILE *NONNULL BIONIC_OR_MUSL(, const) stderr;
int fflush(FILE *NULLABLE);
int fputs(const char *NONNULL, FILE *NONNULL);
int rename(const char *NONNULL, const char *NONNULL);
int renameat(int, const char *NONNULL, int, const char *NONNULL);

// dlfcn.h
#define RTLD_LAZY 1
void *NULLABLE dlopen(const char *NULLABLE, int);
void *NULLABLE dlsym(void *, const char *NONNULL);

// errno.h, from the kernel's asm-generic/errno-base.h and errno.h
#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define EAGAIN 11
#define EWOULDBLOCK EAGAIN
#define EACCES 13
#define EEXIST 17
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define EFBIG 27
#define ENOSPC 28
#define EROFS 30
#define EPIPE 32
#define ENAMETOOLONG 36
#define ENOSYS 38
#define ENOTEMPTY 39
#define ELOOP 40
#define ENODATA 61
#define EILSEQ 84
#define EOPNOTSUPP 95
#define ENOTSUP EOPNOTSUPP
#define ESTALE 116
#define EDQUOT 122

// fcntl.h, from the kernel's asm-generic/fcntl.h
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_EXCL 0200
#define O_NOCTTY 0400
#define O_TRUNC 01000
#define O_APPEND 02000
#define O_NONBLOCK 04000
#define O_DIRECTORY 0200000
#define O_NOFOLLOW 0400000
#define O_CLOEXEC 02000000
#define F_SETFD 2
#define F_DUPFD_CLOEXEC 1030
#define FD_CLOEXEC 1
#define AT_FDCWD (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_REMOVEDIR 0x200

// poll.h
#define POLLOUT 4
struct pollfd {
  int fd;
  short events;
  short revents;
};
int poll(struct pollfd *NULLABLE, BIONIC_OR_MUSL(unsigned int, unsigned long), int);

// sys/file.h
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
int flock(int, int);

// unistd.h. Of read and write, whose buffer may be null when nothing is to be written, Bionic says nothing.
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define R_OK 4
#define SEEK_SET 0
off_t lseek(int, off_t, int);
int access(const char *NONNULL, int);
int close(int);
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
ssize_t pread(int, void *NONNULL, size_t, off_t);
ssize_t pwrite(int, const void *NONNULL, size_t, off_t);
int ftruncate(int, off_t);
int fsync(int);
int fdatasync(int);
int unlink(const char *NONNULL);
int unlinkat(int, const char *NONNULL, int);
int link(const char *NONNULL, const char *NONNULL);
int linkat(int, const char *NONNULL, int, const char *NONNULL, int);
ssize_t readlink(const char *NONNULL, char *NONNULL, size_t);
int fchown(int, uid_t, gid_t);
int usleep(unsigned int);
pid_t getpid(void);
uid_t geteuid(void);
int isatty(int);

// sys/stat.h
struct stat {
  dev_t st_dev;
  ino_t st_ino;
  BIONIC_OR_MUSL(uint32_t, unsigned long) st_nlink;
  mode_t st_mode;
  uid_t st_uid;
  gid_t st_gid;
  off_t st_size;
  struct timespec st_atim;
  struct timespec st_mtim;
  struct timespec st_ctim;
};
int stat(const char *NONNULL, struct stat *NONNULL);
int lstat(const char *NONNULL, struct stat *NONNULL);
int fstat(int, struct stat *NONNULL);
int fstatat(int, const char *NONNULL, struct stat *NONNULL, int);
int fchmod(int, mode_t);
int mkdirat(int, const char *NONNULL, mode_t);

// dirent.h
typedef struct BIONIC_OR_MUSL(DIR, __dirstream) DIR;
struct dirent {
  uint64_t d_ino;
  off_t d_off;
  unsigned short d_reclen;
  unsigned char d_type;
  char d_name[256];
};
DIR *NULLABLE fdopendir(int);
struct dirent *NULLABLE readdir(DIR *NONNULL);
int closedir(DIR *NONNULL);

// pthread.h, bits/pthread_types.h
typedef struct {
  int32_t contents[10];
} pthread_mutex_t;
typedef BIONIC_OR_MUSL(long, struct { unsigned attributes; }) pthread_mutexattr_t;
typedef BIONIC_OR_MUSL(int, unsigned) pthread_key_t;
typedef BIONIC_OR_MUSL(long, struct __pthread *) pthread_t;
int pthread_mutex_init(pthread_mutex_t *NONNULL, const pthread_mutexattr_t *NULLABLE);
int pthread_mutex_lock(pthread_mutex_t *NONNULL);
int pthread_mutex_unlock(pthread_mutex_t *NONNULL);
int pthread_mutex_destroy(pthread_mutex_t *NONNULL);
int pthread_key_create(pthread_key_t *NONNULL, void (*NULLABLE)(void *NULLABLE));
void *NULLABLE pthread_getspecific(pthread_key_t);
int pthread_setspecific(pthread_key_t, const void *NULLABLE);
pthread_t pthread_self(void);

// signal.h
#define SIGINT 2
#define SIGPIPE 13
#define SIGCHLD 17
#define SIGTERM 15
#define SIG_BLOCK 0
typedef struct {
  unsigned long bits[16];
} sigset_t;
int sigemptyset(sigset_t *NONNULL);
int sigaddset(sigset_t *NONNULL, int);
int pthread_sigmask(int, const sigset_t *NULLABLE, sigset_t *NULLABLE);
int kill(pid_t, int);

// sys/socket.h, netinet/in.h, arpa/inet.h, netdb.h. SOCK_STREAM is a number: an enumeration is glibc's alone.
#define AF_UNSPEC 0
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define IPPROTO_TCP 6
#define MSG_DONTWAIT 0x40
#if defined(__ANDROID__)
#define EAI_NONAME 8
#else
#define EAI_NONAME (-2)
#endif
typedef unsigned int socklen_t;
struct in_addr {
  uint32_t s_addr;
};
struct in6_addr {
  uint8_t bytes[16];
};
struct sockaddr {
  unsigned short sa_family;
  char sa_data[14];
};
struct sockaddr_in {
  unsigned short sin_family;
  unsigned short sin_port;
  struct in_addr sin_addr;
};
struct sockaddr_in6 {
  unsigned short sin6_family;
  unsigned short sin6_port;
  uint32_t sin6_flowinfo;
  struct in6_addr sin6_addr;
  uint32_t sin6_scope_id;
};
struct sockaddr_un {
  unsigned short sun_family;
  char sun_path[108];
};
struct addrinfo {
  int ai_flags;
  int ai_family;
  int ai_socktype;
  int ai_protocol;
  socklen_t ai_addrlen;
  char *ai_canonname;
  struct sockaddr *ai_addr;
  struct addrinfo *ai_next;
};
// struct linger, where swift-nio, as Linux builds it, has it from
#include "linger.h"
int socket(int, int, int);
ssize_t send(int, const void *NONNULL, size_t, int);
ssize_t recv(int, void *NULLABLE, size_t, int);
int inet_pton(int, const char *NONNULL, void *NONNULL);
int getaddrinfo(const char *NULLABLE, const char *NULLABLE, const struct addrinfo *NULLABLE, struct addrinfo *NULLABLE *NONNULL);
void freeaddrinfo(struct addrinfo *NULLABLE);
const char *NONNULL gai_strerror(int);
