#if defined(__linux__)

#define _GNU_SOURCE
#include "CWaylaySQLite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define LIBRARY "libsqlite3.so.0"
/* The oldest version with all that is used (PRAGMA trusted_schema). */
#define LEAST 3031000

#define DEFINE(result, name, parameters, arguments) result(*waylay_sqlite_##name) parameters;
WAYLAY_SQLITE(DEFINE)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[320] = "";

/* Of this library alone: another one of the process may have functions of the same names. Never unloaded. */
static void load(void) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    snprintf(problem, sizeof(problem), LIBRARY " cannot be loaded (%s)", reason ? reason : "no reason given");
    return;
  }
#define FIND(result, name, parameters, arguments)                                                                                             \
  if (!(waylay_sqlite_##name = (result(*) parameters)dlsym(library, "sqlite3_" #name))) {                                                     \
    snprintf(problem, sizeof(problem), LIBRARY " has no sqlite3_" #name);                                                                     \
    return;                                                                                                                                   \
  }
  WAYLAY_SQLITE(FIND)
  int version = sqlite3_libversion_number();
  if (version < LEAST) {
    snprintf(
        problem, sizeof(problem), LIBRARY " is version %d.%d.%d, and %d.%d is needed", version / 1000000, version / 1000 % 1000,
        version % 1000, LEAST / 1000000, LEAST / 1000 % 1000);
  } else if (!sqlite3_threadsafe()) {
    snprintf(problem, sizeof(problem), LIBRARY " is built for one thread alone");
  }
}

const char *waylay_sqlite_load(void) {
  pthread_once(&once, load);
  return problem[0] ? problem : NULL;
}

int waylay_syncfs(int file) { return syncfs(file); }

#endif
