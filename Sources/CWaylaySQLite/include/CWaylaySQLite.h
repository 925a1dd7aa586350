/* The functions of SQLite that Waylay uses, found at run time: neither a header nor a library is needed to build it. Names, parameters and values
   are those of sqlite3.h (https://www.sqlite.org/c3ref/intro.html); Swift code that calls them is the same as with Apple's module. */
#ifndef CWAYLAYSQLITE_H
#define CWAYLAYSQLITE_H

#include <stdint.h>

#if defined(__linux__)

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef int64_t sqlite3_int64;
typedef uint64_t sqlite3_uint64;
typedef void (*sqlite3_destructor_type)(void *);

/* An open file, and the beginning of the table of what can be done with it, which has been the same since version 1. */
typedef struct sqlite3_file sqlite3_file;
typedef struct {
  int iVersion;
  int (*xClose)(sqlite3_file *);
  int (*xRead)(sqlite3_file *, void *, int count, sqlite3_int64 offset);
  int (*xWrite)(sqlite3_file *, const void *, int count, sqlite3_int64 offset);
  int (*xTruncate)(sqlite3_file *, sqlite3_int64 size);
  int (*xSync)(sqlite3_file *, int flags);
  int (*xFileSize)(sqlite3_file *, sqlite3_int64 *size);
  int (*xLock)(sqlite3_file *, int level);
  int (*xUnlock)(sqlite3_file *, int level);
  int (*xCheckReservedLock)(sqlite3_file *, int *isReserved);
  int (*xFileControl)(sqlite3_file *, int operation, void *argument);
  int (*xSectorSize)(sqlite3_file *);
  int (*xDeviceCharacteristics)(sqlite3_file *);
  /* Since version 2. */
  int (*xShmMap)(sqlite3_file *, int region, int size, int extend, void volatile **memory);
} sqlite3_io_methods;
struct sqlite3_file {
  const sqlite3_io_methods *pMethods;
};

#define SQLITE_OK 0
#define SQLITE_BUSY 5
#define SQLITE_READONLY 8
#define SQLITE_IOERR 10
#define SQLITE_CORRUPT 11
#define SQLITE_FULL 13
#define SQLITE_CANTOPEN 14
#define SQLITE_TOOBIG 18
#define SQLITE_CONSTRAINT 19
#define SQLITE_NOTADB 26
#define SQLITE_ROW 100
#define SQLITE_DONE 101

#define SQLITE_NULL 5

#define SQLITE_OPEN_READONLY 0x1
#define SQLITE_OPEN_READWRITE 0x2
#define SQLITE_OPEN_CREATE 0x4
#define SQLITE_OPEN_URI 0x40
#define SQLITE_OPEN_NOMUTEX 0x8000

#define SQLITE_PREPARE_PERSISTENT 1
#define SQLITE_FCNTL_FILE_POINTER 7
#define SQLITE_FCNTL_JOURNAL_POINTER 28
#define SQLITE_SYNC_FULL 3
#define SQLITE_CHECKPOINT_PASSIVE 0
#define SQLITE_CHECKPOINT_FULL 1
#define SQLITE_CHECKPOINT_RESTART 2
#define SQLITE_CHECKPOINT_TRUNCATE 3

/* Loads SQLite, the first time. Every other function may be called only after this returned NULL. Otherwise: why there is no SQLite to use. */
const char *waylay_sqlite_load(void);

/* syncfs(2), which the modules of the C library do not show. */
int waylay_syncfs(int file);

/* Each function: its result, its name behind `sqlite3_`, its parameters with names, and their names alone. */
#define WAYLAY_SQLITE(X)                                                                                                                      \
  X(int, open_v2, (const char *path, sqlite3 **database, int flags, const char *vfs), (path, database, flags, vfs))                            \
  X(int, close_v2, (sqlite3 * database), (database))                                                                                          \
  X(int, extended_result_codes, (sqlite3 * database, int on), (database, on))                                                                 \
  X(int, busy_timeout, (sqlite3 * database, int milliseconds), (database, milliseconds))                                                      \
  X(const char *, errmsg, (sqlite3 * database), (database))                                                                                   \
  X(int, system_errno, (sqlite3 * database), (database))                                                                                      \
  X(int, exec, (sqlite3 * database, const char *sql, int (*row)(void *, int, char **, char **), void *context, char **error),                  \
    (database, sql, row, context, error))                                                                                                     \
  X(int, prepare_v3, (sqlite3 * database, const char *sql, int count, unsigned int flags, sqlite3_stmt **statement, const char **tail),        \
    (database, sql, count, flags, statement, tail))                                                                                           \
  X(int, finalize, (sqlite3_stmt * statement), (statement))                                                                                   \
  X(int, step, (sqlite3_stmt * statement), (statement))                                                                                       \
  X(int, reset, (sqlite3_stmt * statement), (statement))                                                                                      \
  X(int, clear_bindings, (sqlite3_stmt * statement), (statement))                                                                             \
  X(int, bind_int64, (sqlite3_stmt * statement, int place, sqlite3_int64 value), (statement, place, value))                                    \
  X(int, bind_null, (sqlite3_stmt * statement, int place), (statement, place))                                                                \
  X(int, bind_text, (sqlite3_stmt * statement, int place, const char *text, int count, sqlite3_destructor_type destroy),                       \
    (statement, place, text, count, destroy))                                                                                                 \
  X(int, bind_blob64, (sqlite3_stmt * statement, int place, const void *bytes, sqlite3_uint64 count, sqlite3_destructor_type destroy),         \
    (statement, place, bytes, count, destroy))                                                                                                \
  X(sqlite3_int64, column_int64, (sqlite3_stmt * statement, int column), (statement, column))                                                 \
  X(const unsigned char *, column_text, (sqlite3_stmt * statement, int column), (statement, column))                                          \
  X(const void *, column_blob, (sqlite3_stmt * statement, int column), (statement, column))                                                   \
  X(int, column_bytes, (sqlite3_stmt * statement, int column), (statement, column))                                                           \
  X(int, column_type, (sqlite3_stmt * statement, int column), (statement, column))                                                            \
  X(int, db_readonly, (sqlite3 * database, const char *schema), (database, schema))                                                            \
  X(int, get_autocommit, (sqlite3 * database), (database))                                                                                    \
  X(int, file_control, (sqlite3 * database, const char *schema, int operation, void *argument), (database, schema, operation, argument))       \
  X(void *, wal_hook, (sqlite3 * database, int (*hook)(void *, sqlite3 *, const char *, int), void *context), (database, hook, context))       \
  X(int, wal_checkpoint_v2, (sqlite3 * database, const char *schema, int mode, int *logged, int *copied),                                      \
    (database, schema, mode, logged, copied))                                                                                                 \
  X(int, libversion_number, (void), ())                                                                                                       \
  X(int, threadsafe, (void), ())

/* `sqlite3_step` is a function of this file alone, so that an app may link SQLite itself. */
#define WAYLAY_SQLITE_DECLARE(result, name, parameters, arguments)                                                                            \
  extern result(*waylay_sqlite_##name) parameters;                                                                                            \
  static inline result sqlite3_##name parameters { return waylay_sqlite_##name arguments; }
WAYLAY_SQLITE(WAYLAY_SQLITE_DECLARE)
#undef WAYLAY_SQLITE_DECLARE

#endif
#endif
