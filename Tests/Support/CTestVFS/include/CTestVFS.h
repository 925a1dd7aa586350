#ifndef CTEST_VFS_H
#define CTEST_VFS_H

/* No header of the system is needed, so that it can be read for any platform.

   A disk for SQLite's files, given by the tests. Functions return what the system's call of the same meaning returns, and an error as
   -errno. */
typedef struct {
  void *context;
  int (*open)(void *context, const char *path, int flags);
  void (*close)(void *context, int file);
  long long (*read)(void *context, int file, void *bytes, long long count, long long offset);
  long long (*write)(void *context, int file, const void *bytes, long long count, long long offset);
  int (*truncate)(void *context, int file, long long length);
  int (*synchronize)(void *context, int file);
  int (*synchronize_folder)(void *context, const char *path);
  long long (*size)(void *context, int file);
  /* The size of what has a name. */
  long long (*status)(void *context, const char *path);
  int (*remove)(void *context, const char *path);
  /* Before a lock is taken or given back, and before shared memory is mapped or locked: 0, or -errno. */
  int (*lock)(void *context);
  int (*shared_memory)(void *context);
} test_vfs_disk;

/* Makes a VFS of a name that nothing else has, which connections are opened with; files, locks and shared memory are the VFS's own, and
   live in this process. 0 without SQLite. The disk is copied. */
int test_vfs_register(const char *name, const test_vfs_disk *disk);

/* Removes a VFS. No connection may be open that was opened with it: the result says how many files still are. */
int test_vfs_unregister(const char *name);

#endif
