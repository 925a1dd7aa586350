#if defined(__linux__)

#define _GNU_SOURCE
#include "CWaylayCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <time.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* What is needed of curl.h. */
typedef struct {
  void *data;
  size_t len;
  unsigned int flags;
} blob;

typedef struct {
  int age;
  const char *version;
  unsigned int version_num;
  const char *host;
  int features;
  const char *ssl_version;
  long ssl_version_num;
  const char *libz_version;
  const char *const *protocols;
  const char *ares;
  int ares_num;
  const char *libidn;
  int iconv_ver_num;
  const char *libssh_version;
  unsigned int brotli_ver_num;
  const char *brotli_version;
  unsigned int nghttp2_ver_num;
  const char *nghttp2_version;
  const char *quic_version;
  const char *cainfo;
  const char *capath;
} version_info;

typedef struct {
  int msg;
  void *easy;
  union {
    void *whatever;
    int result;
  } data;
} message;

struct address {
  int family;
  int socktype;
  int protocol;
  unsigned int addrlen;
  struct sockaddr addr;
};

enum {
  option_verbose = 41,
  option_write_data = 10001,
  option_read_data = 10009,
  option_error_buffer = 10010,
  option_header_data = 10029,
  option_debug_data = 10095,
  option_private = 10103,
  option_open_socket_data = 10164,
  option_close_socket_data = 10209,
  option_seek_data = 10168,
  option_prereq_data = 10313,
  option_write_function = 20011,
  option_read_function = 20012,
  option_header_function = 20079,
  option_debug_function = 20094,
  option_open_socket_function = 20163,
  option_seek_function = 20167,
  option_close_socket_function = 20208,
  option_prereq_function = 20312,
  info_private = 0x100000 + 21,
  message_done = 1,
  version_now = 10,
};

#define FUNCTIONS(X)                                                           \
  X(int, global_init, (long))                                                  \
  X(version_info *, version_info, (int))                                       \
  X(void *, easy_init, (void))                                                 \
  X(void, easy_cleanup, (void *))                                              \
  X(void, easy_reset, (void *))                                                \
  X(int, easy_setopt, (void *, int, ...))                                      \
  X(int, easy_getinfo, (void *, int, ...))                                     \
  X(int, easy_pause, (void *, int))                                            \
  X(const char *, easy_strerror, (int))                                        \
  X(void *, slist_append, (void *, const char *))                              \
  X(void, slist_free_all, (void *))                                            \
  X(void *, multi_init, (void))                                                \
  X(int, multi_cleanup, (void *))                                              \
  X(int, multi_setopt, (void *, int, ...))                                     \
  X(int, multi_add_handle, (void *, void *))                                   \
  X(int, multi_remove_handle, (void *, void *))                                \
  X(int, multi_perform, (void *, int *))                                       \
  X(int, multi_poll, (void *, void *, unsigned int, int, int *))               \
  X(int, multi_wakeup, (void *))                                               \
  X(message *, multi_info_read, (void *, int *))

#define DECLARE(result, name, arguments) static result(*curl_##name) arguments;
#define version_info_type version_info
static const char *missing;
FUNCTIONS(DECLARE)

static void stop_loops(void);
/* The process that has the threads of loops: a child that was made by fork has none of them. */
static atomic_int loops_owner;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[256] = "";
static version_info_type *versions;

static void *symbol(void *library, const char *name) {
  void *found = dlsym(RTLD_DEFAULT, name);
  if (!found && library) found = dlsym(library, name);
  if (!found && !missing) missing = name;
  return found;
}

static void load(void) {
  void *library = NULL;
  if (!dlsym(RTLD_DEFAULT, "curl_multi_poll")) {
    library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char *reason = dlerror();
      snprintf(problem, sizeof(problem), "libcurl.so.4 cannot be loaded: %s", reason ? reason : "no reason given");
      return;
    }
  }
#define FIND(result, name, arguments) curl_##name = (result(*) arguments)symbol(library, "curl_" #name);
  FUNCTIONS(FIND)
  if (missing) {
    snprintf(problem, sizeof(problem), "libcurl has no %s: version 7.68 or later is needed", missing);
    return;
  }
  /* FoundationNetworking has done this already; a second time counts only. CURL_GLOBAL_ALL */
  if (curl_global_init(3) != 0) {
    snprintf(problem, sizeof(problem), "libcurl could not be initialised");
    return;
  }
  /* Handlers are called in reverse order: this one before OpenSSL's, which libcurl's initialisation has registered. */
  atomic_store(&loops_owner, getpid());
  if (atexit(stop_loops) != 0) {
    snprintf(problem, sizeof(problem), "the end of the process cannot be noticed: there is no memory");
    return;
  }
  versions = curl_version_info(version_now);
}

bool waylay_curl_load(void) {
  pthread_once(&once, load);
  return versions != NULL;
}

const char *waylay_curl_problem(void) { return problem; }
unsigned int waylay_curl_version_number(void) { return waylay_curl_load() ? versions->version_num : 0; }
const char *waylay_curl_version(void) { return waylay_curl_load() ? versions->version : "none"; }
const char *waylay_curl_tls(void) { return waylay_curl_load() && versions->ssl_version ? versions->ssl_version : ""; }
int waylay_curl_features(void) { return waylay_curl_load() ? versions->features : 0; }

const char *waylay_curl_authorities(void) {
  /* cainfo came with the seventh form of the structure (7.70), whose number is 6. */
  return waylay_curl_load() && versions->age >= 6 ? versions->cainfo : NULL;
}

int waylay_curl_memory_file(const void *bytes, size_t count) {
  int descriptor = memfd_create("waylay-authorities", MFD_CLOEXEC);
  if (descriptor < 0) return -1;
  const char *rest = bytes;
  while (count > 0) {
    ssize_t written = write(descriptor, rest, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) goto failed;
    rest += written;
    count -= (size_t)written;
  }
  /* Where /proc is not there, nobody could read it. */
  char path[32];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
  int again = open(path, O_RDONLY | O_CLOEXEC);
  if (again < 0) goto failed;
  close(again);
  return descriptor;
failed:
  close(descriptor);
  return -1;
}

void *waylay_curl_easy_new(void) { return curl_easy_init(); }
void waylay_curl_easy_free(void *easy) { curl_easy_cleanup(easy); }
void waylay_curl_easy_reset(void *easy) { curl_easy_reset(easy); }

int waylay_curl_set_number(void *easy, int option, long value) { return curl_easy_setopt(easy, option, value); }
int waylay_curl_set_size(void *easy, int option, int64_t value) { return curl_easy_setopt(easy, option, value); }
int waylay_curl_set_text(void *easy, int option, const char *value) { return curl_easy_setopt(easy, option, value); }
int waylay_curl_set_list(void *easy, int option, void *list) { return curl_easy_setopt(easy, option, list); }

int waylay_curl_set_blob(void *easy, int option, const void *bytes, size_t count) {
  /* CURL_BLOB_COPY */
  blob copied = {(void *)bytes, count, 1};
  return curl_easy_setopt(easy, option, &copied);
}

int waylay_curl_set_error_buffer(void *easy, char *buffer) { return curl_easy_setopt(easy, option_error_buffer, buffer); }

int waylay_curl_set_context(void *easy, void *context) {
  static const int options[] = {
    option_write_data, option_read_data, option_header_data, option_seek_data, option_debug_data, option_private};
  for (size_t index = 0; index < sizeof(options) / sizeof(options[0]); index += 1) {
    int code = curl_easy_setopt(easy, options[index], context);
    if (code) return code;
  }
  /* Unknown before 7.80. */
  curl_easy_setopt(easy, option_prereq_data, context);
  return 0;
}

int waylay_curl_set_callbacks(
  void *easy, waylay_curl_transfer header, waylay_curl_transfer write, waylay_curl_transfer read, waylay_curl_seek seek,
  waylay_curl_prerequest prerequest) {
  int code = curl_easy_setopt(easy, option_header_function, header);
  if (!code) code = curl_easy_setopt(easy, option_write_function, write);
  if (!code && read) code = curl_easy_setopt(easy, option_read_function, read);
  if (!code && seek) code = curl_easy_setopt(easy, option_seek_function, seek);
  if (!code && prerequest) code = curl_easy_setopt(easy, option_prereq_function, prerequest);
  return code;
}

int waylay_curl_set_remarks(void *easy, waylay_curl_remark remark) {
  int code = curl_easy_setopt(easy, option_debug_function, remark);
  return code ? code : curl_easy_setopt(easy, option_verbose, 1L);
}

struct open_socket {
  int descriptor;
  char address[INET6_ADDRSTRLEN];
};

struct sockets {
  pthread_mutex_t mutex;
  struct open_socket *list;
  size_t count;
  size_t capacity;
};

void *waylay_curl_sockets_new(void) {
  struct sockets *sockets = calloc(1, sizeof(struct sockets));
  if (sockets) pthread_mutex_init(&sockets->mutex, NULL);
  return sockets;
}

void waylay_curl_sockets_free(void *context) {
  struct sockets *sockets = context;
  pthread_mutex_destroy(&sockets->mutex);
  free(sockets->list);
  free(sockets);
}

/* An address has many forms, and the list has one. */
static bool canonical_form(const char *address, char form[INET6_ADDRSTRLEN]) {
  unsigned char bytes[16];
  int family = strchr(address, ':') ? AF_INET6 : AF_INET;
  return inet_pton(family, address, bytes) == 1 && inet_ntop(family, bytes, form, INET6_ADDRSTRLEN);
}

int waylay_curl_sockets_shutdown(void *context, const char *address) {
  struct sockets *sockets = context;
  int ended = 0;
  char canonical[INET6_ADDRSTRLEN];
  if (address && !canonical_form(address, canonical)) return 0;
  pthread_mutex_lock(&sockets->mutex);
  for (size_t index = 0; index < sockets->count; index += 1) {
    if (address && strcmp(sockets->list[index].address, canonical) != 0) continue;
    shutdown(sockets->list[index].descriptor, SHUT_RDWR);
    ended += 1;
  }
  pthread_mutex_unlock(&sockets->mutex);
  return ended;
}

static int port_of(const struct sockaddr_storage *address) {
  switch (address->ss_family) {
  case AF_INET: return ntohs(((const struct sockaddr_in *)address)->sin_port);
  case AF_INET6: return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
  default: return -1;
  }
}

static bool is_idle(int descriptor, int port, const int *idle, size_t idle_count) {
  struct sockaddr_storage local;
  struct sockaddr_storage remote;
  socklen_t local_size = sizeof(local);
  socklen_t remote_size = sizeof(remote);
  if (getsockname(descriptor, (struct sockaddr *)&local, &local_size)) return false;
  if (getpeername(descriptor, (struct sockaddr *)&remote, &remote_size)) return false;
  if (port_of(&remote) != port) return false;
  for (size_t index = 0; index < idle_count; index += 1) {
    if (idle[index] == port_of(&local)) return true;
  }
  return false;
}

int waylay_curl_sockets_shutdown_idle(void *context, const char *address, int port, const int *idle, size_t idle_count) {
  struct sockets *sockets = context;
  int ended = 0;
  char canonical[INET6_ADDRSTRLEN];
  if (!canonical_form(address, canonical)) return 0;
  pthread_mutex_lock(&sockets->mutex);
  for (size_t index = 0; index < sockets->count; index += 1) {
    if (strcmp(sockets->list[index].address, canonical) != 0) continue;
    if (!is_idle(sockets->list[index].descriptor, port, idle, idle_count)) continue;
    shutdown(sockets->list[index].descriptor, SHUT_RDWR);
    ended += 1;
  }
  pthread_mutex_unlock(&sockets->mutex);
  return ended;
}

bool waylay_curl_sockets_drop_unread(void *context, int port) {
  struct sockets *sockets = context;
  bool dropped = false;
  pthread_mutex_lock(&sockets->mutex);
  for (size_t index = 0; index < sockets->count; index += 1) {
    int descriptor = sockets->list[index].descriptor;
    struct sockaddr_storage local;
    socklen_t size = sizeof(local);
    if (getsockname(descriptor, (struct sockaddr *)&local, &size) || port_of(&local) != port) continue;
    char byte;
    if (recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 1) continue;
    shutdown(descriptor, SHUT_RDWR);
    dropped = true;
  }
  pthread_mutex_unlock(&sockets->mutex);
  return dropped;
}

static void remember(struct sockets *sockets, int descriptor, const struct address *address) {
  struct open_socket made = {descriptor, ""};
  const void *bytes = address->family == AF_INET6 ? (const void *)&((const struct sockaddr_in6 *)&address->addr)->sin6_addr
                                                  : (const void *)&((const struct sockaddr_in *)&address->addr)->sin_addr;
  inet_ntop(address->family, bytes, made.address, sizeof(made.address));
  pthread_mutex_lock(&sockets->mutex);
  if (sockets->count == sockets->capacity) {
    size_t capacity = sockets->capacity ? 2 * sockets->capacity : 16;
    struct open_socket *list = realloc(sockets->list, capacity * sizeof(struct open_socket));
    if (list) {
      sockets->list = list;
      sockets->capacity = capacity;
    }
  }
  /* Without memory the socket works, and cannot be ended by its address. */
  if (sockets->count < sockets->capacity) sockets->list[sockets->count++] = made;
  pthread_mutex_unlock(&sockets->mutex);
}

static int open_socket(void *context, int purpose, struct address *address) {
  (void)purpose;
  int descriptor = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (descriptor >= 0 && (address->family == AF_INET || address->family == AF_INET6)) remember(context, descriptor, address);
  return descriptor;
}

static int close_socket(void *context, int descriptor) {
  struct sockets *sockets = context;
  pthread_mutex_lock(&sockets->mutex);
  for (size_t index = 0; index < sockets->count; index += 1) {
    if (sockets->list[index].descriptor != descriptor) continue;
    sockets->list[index] = sockets->list[--sockets->count];
    break;
  }
  pthread_mutex_unlock(&sockets->mutex);
  return close(descriptor);
}

int waylay_curl_set_sockets(void *easy, void *sockets) {
  int code = curl_easy_setopt(easy, option_open_socket_function, open_socket);
  if (!code) code = curl_easy_setopt(easy, option_open_socket_data, sockets);
  if (!code) code = curl_easy_setopt(easy, option_close_socket_function, close_socket);
  if (!code) code = curl_easy_setopt(easy, option_close_socket_data, sockets);
  return code;
}

long waylay_curl_get_number(void *easy, int info) {
  long value = 0;
  return curl_easy_getinfo(easy, info, &value) == 0 ? value : 0;
}

int64_t waylay_curl_get_size(void *easy, int info) {
  int64_t value = 0;
  return curl_easy_getinfo(easy, info, &value) == 0 ? value : 0;
}

const char *waylay_curl_get_text(void *easy, int info) {
  const char *value = NULL;
  return curl_easy_getinfo(easy, info, &value) == 0 ? value : NULL;
}

void *waylay_curl_context(void *easy) {
  void *value = NULL;
  return curl_easy_getinfo(easy, info_private, &value) == 0 ? value : NULL;
}

void waylay_curl_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int waylay_curl_pause(void *easy, int mask) { return curl_easy_pause(easy, mask); }

/* struct curl_slist, which has been the same since 7.1. */
struct list_node {
  char *data;
  struct list_node *next;
};

void *waylay_curl_list_append(void *last, const char *text) {
  struct list_node *known = last;
  struct list_node *list = curl_slist_append(known, text);
  /* What was given comes back with the new one behind it; without any, the new one. */
  return list && known ? known->next : list;
}

void waylay_curl_list_free(void *list) { curl_slist_free_all(list); }
const char *waylay_curl_message(int code) { return curl_easy_strerror(code); }

/*
 OpenSSL cleans up when the process ends, and a thread that is inside of it crashes (U19). So the threads of loops are stopped first: each where it
 uses nothing of libcurl, and for good. What they have under way is not ended: code that waits for it had better not run any more either.
 */
struct loop {
  void *multi;
  struct loop *next;
};

static pthread_mutex_t loops_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct loop *loops;
static int loop_count;
static atomic_bool is_over;
static _Thread_local struct loop *own_loop;

static void stop_loops(void) {
  if (atomic_load(&loops_owner) != getpid()) return;
  atomic_store(&is_over, true);
  /* exit may have been called by one of the threads, or by a signal handler in the middle of anything: so by no lock that may be held for good,
     and for a second at most. */
  for (int round = 0; round < 1000; round += 1) {
    if (pthread_mutex_trylock(&loops_mutex) == 0) {
      bool are_stopped = loop_count <= (own_loop ? 1 : 0);
      for (struct loop *loop = loops; loop && !are_stopped; loop = loop->next) {
        if (loop->multi) curl_multi_wakeup(loop->multi);
      }
      pthread_mutex_unlock(&loops_mutex);
      if (are_stopped) return;
    }
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
}

/* The loop of the calling thread is no more. */
static void forget_loop(void) {
  pthread_mutex_lock(&loops_mutex);
  for (struct loop **place = &loops; *place; place = &(*place)->next) {
    if (*place != own_loop) continue;
    *place = own_loop->next;
    loop_count -= 1;
    break;
  }
  pthread_mutex_unlock(&loops_mutex);
  free(own_loop);
  own_loop = NULL;
}

static void stop_if_over(void) {
  if (!atomic_load(&is_over)) return;
  if (own_loop) forget_loop();
  for (;;) pause();
}

bool waylay_curl_is_over(void) { return atomic_load(&is_over); }

void *waylay_curl_multi_new(void) {
  struct loop *loop = calloc(1, sizeof(struct loop));
  if (!loop) return NULL;
  pthread_mutex_lock(&loops_mutex);
  if (atomic_exchange(&loops_owner, getpid()) != getpid()) {
    loops = NULL;
    loop_count = 0;
  }
  loop->next = loops;
  loops = loop;
  loop_count += 1;
  pthread_mutex_unlock(&loops_mutex);
  own_loop = loop;
  stop_if_over();
  void *multi = curl_multi_init();
  pthread_mutex_lock(&loops_mutex);
  loop->multi = multi;
  pthread_mutex_unlock(&loops_mutex);
  if (!multi) forget_loop();
  return multi;
}

void waylay_curl_multi_free(void *multi) {
  stop_if_over();
  pthread_mutex_lock(&loops_mutex);
  if (own_loop) own_loop->multi = NULL;
  pthread_mutex_unlock(&loops_mutex);
  curl_multi_cleanup(multi);
  if (own_loop) forget_loop();
}

int waylay_curl_multi_set_number(void *multi, int option, long value) { return curl_multi_setopt(multi, option, value); }
int waylay_curl_multi_add(void *multi, void *easy) { return curl_multi_add_handle(multi, easy); }
int waylay_curl_multi_remove(void *multi, void *easy) { return curl_multi_remove_handle(multi, easy); }
int waylay_curl_multi_wakeup(void *multi) { return curl_multi_wakeup(multi); }

int waylay_curl_multi_perform(void *multi, int *running) {
  stop_if_over();
  int code = curl_multi_perform(multi, running);
  stop_if_over();
  return code;
}

int waylay_curl_multi_poll(void *multi, int milliseconds) {
  int count = 0;
  stop_if_over();
  int code = curl_multi_poll(multi, NULL, 0, milliseconds, &count);
  stop_if_over();
  return code;
}

void *waylay_curl_multi_next(void *multi, int *code) {
  int left = 0;
  message *next;
  while ((next = curl_multi_info_read(multi, &left))) {
    if (next->msg != message_done) continue;
    *code = next->data.result;
    return next->easy;
  }
  return NULL;
}

#else
/* Apple platforms have URLSessionTransport alone. */
typedef int waylay_curl_is_not_here;
#endif
