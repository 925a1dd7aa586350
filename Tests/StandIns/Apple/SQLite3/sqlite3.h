/* A stand-in for the SDK's module SQLite3, for `Scripts/apple.sh`: type-checked against, never linked. Own work, after
   https://www.sqlite.org/c3ref/intro.html. */
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef long long sqlite3_int64;
typedef unsigned long long sqlite3_uint64;
typedef void (*sqlite3_destructor_type)(void *);

/* https://www.sqlite.org/c3ref/io_methods.html, the beginning of it. */
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
#define SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION 0x300000

#define SQLITE_PREPARE_PERSISTENT 1
#define SQLITE_FCNTL_FILE_POINTER 7
#define SQLITE_FCNTL_JOURNAL_POINTER 28
#define SQLITE_SYNC_FULL 3
#define SQLITE_CHECKPOINT_PASSIVE 0
#define SQLITE_CHECKPOINT_FULL 1
#define SQLITE_CHECKPOINT_RESTART 2
#define SQLITE_CHECKPOINT_TRUNCATE 3

int sqlite3_open_v2(const char *path, sqlite3 **database, int flags, const char *vfs);
int sqlite3_close_v2(sqlite3 *database);
int sqlite3_extended_result_codes(sqlite3 *database, int on);
int sqlite3_busy_timeout(sqlite3 *database, int milliseconds);
const char *sqlite3_errmsg(sqlite3 *database);
int sqlite3_system_errno(sqlite3 *database);
int sqlite3_exec(sqlite3 *database, const char *sql, int (*row)(void *, int, char **, char **), void *context,
  char **error);
int sqlite3_prepare_v3(sqlite3 *database, const char *sql, int count, unsigned int flags, sqlite3_stmt **statement,
  const char **tail);
int sqlite3_finalize(sqlite3_stmt *statement);
int sqlite3_step(sqlite3_stmt *statement);
int sqlite3_reset(sqlite3_stmt *statement);
int sqlite3_clear_bindings(sqlite3_stmt *statement);
int sqlite3_bind_int64(sqlite3_stmt *statement, int place, sqlite3_int64 value);
int sqlite3_bind_null(sqlite3_stmt *statement, int place);
int sqlite3_bind_text(sqlite3_stmt *statement, int place, const char *text, int count,
  sqlite3_destructor_type destroy);
int sqlite3_bind_blob64(sqlite3_stmt *statement, int place, const void *bytes, sqlite3_uint64 count,
  sqlite3_destructor_type destroy);
sqlite3_int64 sqlite3_column_int64(sqlite3_stmt *statement, int column);
const unsigned char *sqlite3_column_text(sqlite3_stmt *statement, int column);
const void *sqlite3_column_blob(sqlite3_stmt *statement, int column);
int sqlite3_column_bytes(sqlite3_stmt *statement, int column);
int sqlite3_column_type(sqlite3_stmt *statement, int column);
int sqlite3_db_readonly(sqlite3 *database, const char *schema);
int sqlite3_get_autocommit(sqlite3 *database);
int sqlite3_file_control(sqlite3 *database, const char *schema, int operation, void *argument);
void *sqlite3_wal_hook(sqlite3 *database, int (*hook)(void *, sqlite3 *, const char *, int), void *context);
int sqlite3_wal_checkpoint_v2(sqlite3 *database, const char *schema, int mode, int *logged, int *copied);
