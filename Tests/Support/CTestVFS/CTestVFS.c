#define _GNU_SOURCE
#include "CTestVFS.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* What is needed of sqlite3.h. */
enum {
  sqlite_ok = 0,
  sqlite_perm = 3,
  sqlite_busy = 5,
  sqlite_no_memory = 7,
  sqlite_full = 13,
  sqlite_not_found = 12,
  sqlite_cannot_open = 14,
  sqlite_io_error = 10,
  io_read = sqlite_io_error | 1 << 8,
  io_short_read = sqlite_io_error | 2 << 8,
  io_write = sqlite_io_error | 3 << 8,
  io_synchronize = sqlite_io_error | 4 << 8,
  io_synchronize_folder = sqlite_io_error | 5 << 8,
  io_truncate = sqlite_io_error | 6 << 8,
  io_status = sqlite_io_error | 7 << 8,
  io_unlock = sqlite_io_error | 8 << 8,
  io_remove = sqlite_io_error | 10 << 8,
  io_lock = sqlite_io_error | 15 << 8,
  io_map = sqlite_io_error | 21 << 8,
  io_lock_shared_memory = sqlite_io_error | 20 << 8,
  io_remove_missing = sqlite_io_error | 23 << 8,
  open_read_only = 0x1,
  open_read_write = 0x2,
  open_create = 0x4,
  open_exclusive = 0x10,
  open_main_journal = 0x800,
  open_log = 0x80000,
  control_persistent_log = 10,
  powersafe_overwrite = 0x1000,
  level_none = 0,
  level_shared = 1,
  level_reserved = 2,
  level_pending = 3,
  level_exclusive = 4,
  slots = 8,
  slot_unlock = 1,
  slot_shared = 4,
};

typedef struct methods methods;
typedef struct {
  const methods *methods;
} base_file;

struct methods {
  int version;
  int (*close)(base_file *);
  int (*read)(base_file *, void *, int, int64_t);
  int (*write)(base_file *, const void *, int, int64_t);
  int (*truncate)(base_file *, int64_t);
  int (*synchronize)(base_file *, int);
  int (*size)(base_file *, int64_t *);
  int (*lock)(base_file *, int);
  int (*unlock)(base_file *, int);
  int (*check_reserved)(base_file *, int *);
  int (*control)(base_file *, int, void *);
  int (*sector_size)(base_file *);
  int (*characteristics)(base_file *);
  int (*map)(base_file *, int, int, int, void volatile **);
  int (*lock_slots)(base_file *, int, int, int);
  void (*barrier)(base_file *);
  int (*unmap)(base_file *, int);
};

typedef struct base_vfs base_vfs;
struct base_vfs {
  int version;
  int file_size;
  int longest_path;
  base_vfs *next;
  const char *name;
  void *data;
  int (*open)(base_vfs *, const char *, base_file *, int, int *);
  int (*remove)(base_vfs *, const char *, int);
  int (*access)(base_vfs *, const char *, int, int *);
  int (*full_path)(base_vfs *, const char *, int, char *);
  void *(*open_library)(base_vfs *, const char *);
  void (*library_error)(base_vfs *, int, char *);
  void (*(*library_symbol)(base_vfs *, void *, const char *))(void);
  void (*close_library)(base_vfs *, void *);
  int (*randomness)(base_vfs *, int, char *);
  int (*sleep)(base_vfs *, int);
  int (*time)(base_vfs *, double *);
  int (*last_error)(base_vfs *, int, char *);
  int (*time_in_milliseconds)(base_vfs *, int64_t *);
};

/* What all open files of a path share. */
typedef struct node node;
struct node {
  node *next;
  char *path;
  int opened;
  int shared;
  const void *reserved;
  const void *pending;
  const void *exclusive;
  int mapped;
  int regions;
  void **region;
  int slot_shared[slots];
  const void *slot_exclusive[slots];
};

typedef struct {
  base_vfs base;
  base_vfs *system;
  test_vfs_disk disk;
  pthread_mutex_t mutex;
  node *nodes;
  int opened;
} test_vfs;

typedef struct {
  base_file base;
  test_vfs *vfs;
  node *node;
  int number;
  int level;
  int slots_shared;
  int slots_exclusive;
  bool is_mapped;
  bool keeps_log;
  /* Whether the name is still to be synchronized. */
  bool is_new;
} test_file;

static bool is_interrupted(int64_t result) { return result == -EINTR; }

/* Calls again what was interrupted. */
#define REPEAT(result, call)                                                   \
  do {                                                                         \
    result = call;                                                             \
  } while (is_interrupted(result))

/* MARK: Files */

static void unmap_file(test_file *file) {
  node *node = file->node;
  for (int slot = 0; slot < slots; slot++) {
    if (file->slots_shared & 1 << slot) node->slot_shared[slot]--;
    if (file->slots_exclusive & 1 << slot) node->slot_exclusive[slot] = NULL;
  }
  file->slots_shared = file->slots_exclusive = 0;
  if (!file->is_mapped) return;
  file->is_mapped = false;
  if (--node->mapped > 0) return;
  for (int index = 0; index < node->regions; index++) free(node->region[index]);
  free(node->region);
  node->region = NULL;
  node->regions = 0;
}

static void lower(test_file *file, int level) {
  node *node = file->node;
  if (node->reserved == file) node->reserved = NULL;
  if (node->pending == file) node->pending = NULL;
  if (node->exclusive == file) node->exclusive = NULL;
  if (level == level_none && file->level >= level_shared) node->shared--;
  if (level < file->level) file->level = level;
}

static int file_close(base_file *base) {
  test_file *file = (test_file *)base;
  test_vfs *vfs = file->vfs;
  vfs->disk.close(vfs->disk.context, file->number);
  pthread_mutex_lock(&vfs->mutex);
  unmap_file(file);
  lower(file, level_none);
  node *node = file->node;
  vfs->opened--;
  if (--node->opened == 0) {
    for (struct node **link = &vfs->nodes; *link; link = &(*link)->next) {
      if (*link != node) continue;
      *link = node->next;
      break;
    }
    free(node->path);
    free(node);
  }
  pthread_mutex_unlock(&vfs->mutex);
  return sqlite_ok;
}

static int file_read(base_file *base, void *bytes, int count, int64_t offset) {
  test_file *file = (test_file *)base;
  test_vfs_disk *disk = &file->vfs->disk;
  int done = 0;
  while (done < count) {
    int64_t result;
    REPEAT(result, disk->read(disk->context, file->number, (char *)bytes + done, count - done, offset + done));
    if (result < 0) return io_read;
    if (result == 0) break;
    done += (int)result;
  }
  memset((char *)bytes + done, 0, (size_t)(count - done));
  return done == count ? sqlite_ok : io_short_read;
}

static int file_write(base_file *base, const void *bytes, int count, int64_t offset) {
  test_file *file = (test_file *)base;
  test_vfs_disk *disk = &file->vfs->disk;
  int done = 0;
  while (done < count) {
    int64_t result;
    REPEAT(result, disk->write(disk->context, file->number, (const char *)bytes + done, count - done, offset + done));
    if (result == 0 || result == -ENOSPC) return sqlite_full;
    if (result < 0) return io_write;
    done += (int)result;
  }
  return sqlite_ok;
}

static int file_truncate(base_file *base, int64_t length) {
  test_file *file = (test_file *)base;
  test_vfs_disk *disk = &file->vfs->disk;
  int result;
  REPEAT(result, disk->truncate(disk->context, file->number, length));
  return result < 0 ? io_truncate : sqlite_ok;
}

static int file_synchronize(base_file *base, int flags) {
  test_file *file = (test_file *)base;
  test_vfs_disk *disk = &file->vfs->disk;
  (void)flags;
  int result;
  REPEAT(result, disk->synchronize(disk->context, file->number));
  if (result < 0) return io_synchronize;
  if (!file->is_new) return sqlite_ok;
  file->is_new = false;
  /* Its failure is no error to SQLite's own VFS either where the folder does not open; where it does, it is. */
  return disk->synchronize_folder(disk->context, file->node->path) < 0 ? io_synchronize_folder : sqlite_ok;
}

static int file_size(base_file *base, int64_t *size) {
  test_file *file = (test_file *)base;
  test_vfs_disk *disk = &file->vfs->disk;
  int64_t result;
  REPEAT(result, disk->size(disk->context, file->number));
  if (result < 0) return io_status;
  *size = result;
  return sqlite_ok;
}

/* MARK: Locks */

static int lock_result(int result, int failure) {
  if (result == -EINTR || result == -EAGAIN || result == -ENOLCK || result == -EACCES) return sqlite_busy;
  if (result == -EPERM) return sqlite_perm;
  return result < 0 ? failure : sqlite_ok;
}

static int take(test_file *file, int level) {
  node *node = file->node;
  if (node->pending && node->pending != file) return sqlite_busy;
  if (level == level_shared) {
    node->shared++;
    file->level = level_shared;
    return sqlite_ok;
  }
  if (node->reserved && node->reserved != file) return sqlite_busy;
  node->reserved = file;
  if (level == level_reserved) {
    file->level = level_reserved;
    return sqlite_ok;
  }
  node->pending = file;
  file->level = level_pending;
  if (node->shared > 1) return sqlite_busy;
  node->exclusive = file;
  file->level = level_exclusive;
  return sqlite_ok;
}

static int file_lock(base_file *base, int level) {
  test_file *file = (test_file *)base;
  test_vfs *vfs = file->vfs;
  if (file->level >= level) return sqlite_ok;
  int result = lock_result(vfs->disk.lock(vfs->disk.context), io_lock);
  if (result != sqlite_ok) return result;
  pthread_mutex_lock(&vfs->mutex);
  result = take(file, level);
  pthread_mutex_unlock(&vfs->mutex);
  return result;
}

static int file_unlock(base_file *base, int level) {
  test_file *file = (test_file *)base;
  test_vfs *vfs = file->vfs;
  if (file->level <= level) return sqlite_ok;
  int result = vfs->disk.lock(vfs->disk.context) < 0 ? io_unlock : sqlite_ok;
  pthread_mutex_lock(&vfs->mutex);
  lower(file, level);
  pthread_mutex_unlock(&vfs->mutex);
  return result;
}

static int file_check_reserved(base_file *base, int *is_reserved) {
  test_file *file = (test_file *)base;
  pthread_mutex_lock(&file->vfs->mutex);
  *is_reserved = file->node->reserved != NULL;
  pthread_mutex_unlock(&file->vfs->mutex);
  return sqlite_ok;
}

static int file_control(base_file *base, int operation, void *argument) {
  test_file *file = (test_file *)base;
  if (operation != control_persistent_log) return sqlite_not_found;
  int *keeps = argument;
  if (*keeps < 0) *keeps = file->keeps_log; else file->keeps_log = *keeps != 0;
  return sqlite_ok;
}

static int file_sector_size(base_file *base) {
  (void)base;
  return 4096;
}

static int file_characteristics(base_file *base) {
  (void)base;
  return powersafe_overwrite;
}

/* MARK: Shared memory */

static int file_map(base_file *base, int index, int size, int extends, void volatile **memory) {
  test_file *file = (test_file *)base;
  test_vfs *vfs = file->vfs;
  node *node = file->node;
  *memory = NULL;
  int result = vfs->disk.shared_memory(vfs->disk.context);
  if (result == -ENOMEM) return sqlite_no_memory;
  if (result < 0) return io_map;
  pthread_mutex_lock(&vfs->mutex);
  if (!file->is_mapped) {
    file->is_mapped = true;
    node->mapped++;
  }
  result = sqlite_ok;
  while (extends && node->regions <= index && result == sqlite_ok) {
    void **region = realloc(node->region, sizeof(void *) * (size_t)(node->regions + 1));
    if (region) node->region = region;
    void *made = region ? calloc(1, (size_t)size) : NULL;
    if (made) node->region[node->regions++] = made; else result = sqlite_no_memory;
  }
  if (index < node->regions) *memory = node->region[index];
  pthread_mutex_unlock(&vfs->mutex);
  return result;
}

static int file_lock_slots(base_file *base, int first, int count, int flags) {
  test_file *file = (test_file *)base;
  test_vfs *vfs = file->vfs;
  node *node = file->node;
  int result = lock_result(vfs->disk.shared_memory(vfs->disk.context), io_lock_shared_memory);
  /* What is given back is given back: SQLite asks for no result. */
  if (result != sqlite_ok && !(flags & slot_unlock)) return result;
  pthread_mutex_lock(&vfs->mutex);
  result = sqlite_ok;
  for (int slot = first; slot < first + count && !(flags & slot_unlock); slot++) {
    bool is_mine = file->slots_shared & 1 << slot;
    if (node->slot_exclusive[slot] && node->slot_exclusive[slot] != file) result = sqlite_busy;
    if (!(flags & slot_shared) && node->slot_shared[slot] > (is_mine ? 1 : 0)) result = sqlite_busy;
  }
  for (int slot = first; slot < first + count && result == sqlite_ok; slot++) {
    int mask = 1 << slot;
    if (flags & slot_unlock) {
      if (file->slots_shared & mask) node->slot_shared[slot]--;
      if (file->slots_exclusive & mask) node->slot_exclusive[slot] = NULL;
      file->slots_shared &= ~mask;
      file->slots_exclusive &= ~mask;
    } else if (flags & slot_shared) {
      if (!(file->slots_shared & mask)) node->slot_shared[slot]++;
      file->slots_shared |= mask;
    } else {
      node->slot_exclusive[slot] = file;
      file->slots_exclusive |= mask;
    }
  }
  pthread_mutex_unlock(&vfs->mutex);
  return result;
}

static void file_barrier(base_file *base) {
  test_file *file = (test_file *)base;
  __sync_synchronize();
  pthread_mutex_lock(&file->vfs->mutex);
  pthread_mutex_unlock(&file->vfs->mutex);
}

static int file_unmap(base_file *base, int removes) {
  test_file *file = (test_file *)base;
  (void)removes;
  pthread_mutex_lock(&file->vfs->mutex);
  unmap_file(file);
  pthread_mutex_unlock(&file->vfs->mutex);
  return sqlite_ok;
}

static const methods file_methods = {
    2,           file_close,          file_read,    file_write,       file_truncate,    file_synchronize,     file_size, file_lock,
    file_unlock, file_check_reserved, file_control, file_sector_size, file_characteristics, file_map, file_lock_slots,
    file_barrier, file_unmap,
};

/* MARK: The VFS */

static int vfs_open(base_vfs *base, const char *path, base_file *base_opened, int flags, int *out_flags) {
  test_vfs *vfs = (test_vfs *)base;
  base_opened->methods = NULL;
  /* What has no name is temporary, and no part of an archive. */
  if (!path) return vfs->system->open(vfs->system, path, base_opened, flags, out_flags);
  test_file *file = (test_file *)base_opened;
  memset(file, 0, sizeof *file);
  int mode = flags & open_read_write ? O_RDWR : O_RDONLY;
  if (flags & open_create) mode |= O_CREAT;
  if (flags & open_exclusive) mode |= O_EXCL | O_NOFOLLOW;
  int number;
  REPEAT(number, vfs->disk.open(vfs->disk.context, path, mode));
  if (number < 0 && number != -EISDIR && flags & open_read_write) {
    flags = (flags & ~(open_read_write | open_create)) | open_read_only;
    REPEAT(number, vfs->disk.open(vfs->disk.context, path, O_RDONLY));
  }
  if (number < 0) return sqlite_cannot_open;
  if (out_flags) *out_flags = flags;
  pthread_mutex_lock(&vfs->mutex);
  node *node = vfs->nodes;
  while (node && strcmp(node->path, path) != 0) node = node->next;
  if (!node) {
    node = calloc(1, sizeof *node);
    node->path = strdup(path);
    node->next = vfs->nodes;
    vfs->nodes = node;
  }
  node->opened++;
  vfs->opened++;
  pthread_mutex_unlock(&vfs->mutex);
  file->vfs = vfs;
  file->node = node;
  file->number = number;
  file->is_new = flags & open_create && flags & (open_main_journal | open_log);
  file->base.methods = &file_methods;
  return sqlite_ok;
}

static int vfs_remove(base_vfs *base, const char *path, int synchronizes) {
  test_vfs *vfs = (test_vfs *)base;
  int result;
  REPEAT(result, vfs->disk.remove(vfs->disk.context, path));
  if (result < 0) return result == -ENOENT ? io_remove_missing : io_remove;
  if (!(synchronizes & 1)) return sqlite_ok;
  return vfs->disk.synchronize_folder(vfs->disk.context, path) < 0 ? io_synchronize_folder : sqlite_ok;
}

static int vfs_access(base_vfs *base, const char *path, int flags, int *result) {
  test_vfs *vfs = (test_vfs *)base;
  int64_t size;
  REPEAT(size, vfs->disk.status(vfs->disk.context, path));
  /* To SQLite's own VFS, an empty file does not exist. */
  *result = flags == 0 ? size > 0 : size >= 0;
  return sqlite_ok;
}

static int vfs_full_path(base_vfs *base, const char *path, int size, char *full) {
  (void)base;
  if (path[0] != '/' || strlen(path) >= (size_t)size) return sqlite_cannot_open;
  strcpy(full, path);
  return sqlite_ok;
}

static int vfs_randomness(base_vfs *base, int count, char *bytes) {
  base_vfs *system = ((test_vfs *)base)->system;
  return system->randomness(system, count, bytes);
}

/* Who waits for a lock waits for a thread of this process. */
static int vfs_sleep(base_vfs *base, int microseconds) {
  (void)base;
  usleep((useconds_t)(microseconds / 20 + 1));
  return microseconds;
}

static int vfs_time(base_vfs *base, double *time) {
  base_vfs *system = ((test_vfs *)base)->system;
  return system->time(system, time);
}

static int vfs_last_error(base_vfs *base, int count, char *text) {
  (void)base, (void)count, (void)text;
  return 0;
}

static int vfs_time_in_milliseconds(base_vfs *base, int64_t *time) {
  base_vfs *system = ((test_vfs *)base)->system;
  return system->time_in_milliseconds(system, time);
}

static struct {
  base_vfs *(*find)(const char *);
  int (*add)(base_vfs *, int);
  int (*remove)(base_vfs *);
} library;

static void load(void) {
#ifdef __APPLE__
  void *handle = dlopen("/usr/lib/libsqlite3.dylib", RTLD_NOW | RTLD_LOCAL);
#else
  void *handle = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
#endif
  if (!handle) return;
  int (*initialize)(void) = (int (*)(void))dlsym(handle, "sqlite3_initialize");
  if (!initialize || initialize() != sqlite_ok) return;
  library.find = (base_vfs * (*)(const char *)) dlsym(handle, "sqlite3_vfs_find");
  library.add = (int (*)(base_vfs *, int))dlsym(handle, "sqlite3_vfs_register");
  library.remove = (int (*)(base_vfs *))dlsym(handle, "sqlite3_vfs_unregister");
}

int test_vfs_register(const char *name, const test_vfs_disk *disk) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  if (!library.find || !library.add || !library.remove) return 0;
  test_vfs *vfs = calloc(1, sizeof *vfs);
  if (!vfs) return 0;
  vfs->system = library.find(NULL);
  vfs->disk = *disk;
  pthread_mutex_init(&vfs->mutex, NULL);
  int size = (int)sizeof(test_file);
  vfs->base = (base_vfs){
      .version = 2,
      .file_size = vfs->system->file_size > size ? vfs->system->file_size : size,
      .longest_path = 1024,
      .name = strdup(name),
      .open = vfs_open,
      .remove = vfs_remove,
      .access = vfs_access,
      .full_path = vfs_full_path,
      .randomness = vfs_randomness,
      .sleep = vfs_sleep,
      .time = vfs_time,
      .last_error = vfs_last_error,
      .time_in_milliseconds = vfs_time_in_milliseconds,
  };
  return library.add(&vfs->base, 0) == sqlite_ok;
}

int test_vfs_unregister(const char *name) {
  test_vfs *vfs = (test_vfs *)library.find(name);
  if (!vfs) return 0;
  library.remove(&vfs->base);
  int opened = vfs->opened;
  /* Whoever still has a file needs it. */
  if (opened > 0) return opened;
  pthread_mutex_destroy(&vfs->mutex);
  free((char *)vfs->base.name);
  free(vfs);
  return 0;
}
