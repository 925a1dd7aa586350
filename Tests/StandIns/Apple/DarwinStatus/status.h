// Stand-in for <sys/stat.h> and <stdio.h>, for `Scripts/apple.sh`: type-checked against, never linked. Own work, after the names and types of the header.
// C, because Swift cannot declare a structure and a function of one name.

struct timespec {
  long tv_sec;
  long tv_nsec;
};

/// With 64-bit inode numbers.
struct stat {
  int st_dev;
  unsigned short st_mode;
  unsigned short st_nlink;
  unsigned long long st_ino;
  unsigned int st_uid;
  unsigned int st_gid;
  int st_rdev;
  struct timespec st_atimespec;
  struct timespec st_mtimespec;
  struct timespec st_ctimespec;
  struct timespec st_birthtimespec;
  long long st_size;
  long long st_blocks;
  int st_blksize;
};

int stat(const char *path, struct stat *status);
int lstat(const char *path, struct stat *status);
int fstat(int descriptor, struct stat *status);
int fstatat(int descriptor, const char *path, struct stat *status, int flag);

typedef struct __sFILE {
  int _flags;
} FILE;

extern FILE *stdout;
extern FILE *stderr;
int fflush(FILE *stream);
