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
#include <sys/epoll.h>
#include <sys/eventfd.h>
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

typedef struct {
  int backend;
  void *session;
} tls_session;

struct address {
  int family;
  int socktype;
  int protocol;
  unsigned int addrlen;
  struct sockaddr addr;
};

enum {
  option_verbose = 41,
  option_no_signal = 99,
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
  option_socket_function = 20001,
  option_socket_data = 10002,
  option_timer_function = 20004,
  option_timer_data = 10005,
  info_private = 0x100000 + 21,
  info_certificates = 0x400000 + 34,
  info_tls_session = 0x400000 + 45,
  tls_openssl = 1,
  tls_gnutls = 2,
  message_done = 1,
  version_now = 10,
  /* What libcurl waits for on a socket, and what it is told of it. */
  poll_in = 1,
  poll_out = 2,
  poll_remove = 4,
  no_socket = -1,
  bad_socket = 5,
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
  X(int, multi_socket_action, (void *, int, int, int *))                       \
  X(message *, multi_info_read, (void *, int *))

/* Called as the functions are, and not named so in the object file, where the functions themselves are linked. */
#define DECLARE(result, name, arguments) static result(*curl_##name) arguments __asm__("waylay_found_" #name);
#define version_info_type version_info
static const char *missing;
FUNCTIONS(DECLARE)

static void stop_loops(void);
/* The process that has the threads of loops: a child that was made by fork has none of them. */
static atomic_int loops_owner;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[256] = "";
static version_info_type *versions;

#if defined(__GLIBC__) || defined(__ANDROID__)
#if defined(__ANDROID__)
#define LIBRARY "libcurl.so"
#else
#define LIBRARY "libcurl.so.4"
#endif

static void *symbol(void *library, const char *name) {
  void *found = dlsym(RTLD_DEFAULT, name);
  if (!found && library) found = dlsym(library, name);
  if (!found && !missing) missing = name;
  return found;
}

static bool find_functions(void) {
  void *library = NULL;
  if (!dlsym(RTLD_DEFAULT, "curl_multi_socket_action")) {
    library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char *reason = dlerror();
      snprintf(problem, sizeof(problem), LIBRARY " cannot be loaded: %s", reason ? reason : "no reason given");
      return false;
    }
  }
#define FIND(result, name, arguments) curl_##name = (result(*) arguments)symbol(library, "curl_" #name);
  FUNCTIONS(FIND)
  return true;
}
#else
/* The static Linux SDK: a program has FoundationNetworking's copy in itself, where dlsym finds nothing. What it was linked without is NULL. */
#define LINKED(result, name, arguments) extern __attribute__((weak)) char linked_##name __asm__("curl_" #name);
FUNCTIONS(LINKED)

static bool find_functions(void) {
#define FIND(result, name, arguments) if (!(curl_##name = (result(*) arguments)(void *)&linked_##name)) missing = "curl_" #name;
  FUNCTIONS(FIND)
  return true;
}
#endif

/* How many bytes a TLS library has read and decrypted that nobody has asked it for. NULL where it is none of those that are known. */
static int (*openssl_pending)(const void *);
static size_t (*gnutls_pending)(const void *);

static void find_pending(const char *tls) {
#if defined(__GLIBC__) || defined(__ANDROID__)
  /* Only of the library that libcurl has loaded: another one may have functions of the same names. */
  static const struct { const char *version, *library; } known[] = {
    {"OpenSSL/3", "libssl.so.3"}, {"OpenSSL/1.1", "libssl.so.1.1"}, {"GnuTLS/3", "libgnutls.so.30"}};
  for (size_t index = 0; tls && index < sizeof(known) / sizeof(known[0]); index += 1) {
    if (strncmp(tls, known[index].version, strlen(known[index].version))) continue;
    void *library = dlopen(known[index].library, RTLD_NOW | RTLD_NOLOAD);
    if (!library) continue;
    if (tls[0] == 'O') openssl_pending = (int (*)(const void *))dlsym(library, "SSL_pending");
    else gnutls_pending = (size_t (*)(const void *))dlsym(library, "gnutls_record_check_pending");
  }
#else
  (void)tls;
  extern __attribute__((weak)) int linked_pending(const void *) __asm__("SSL_pending");
  openssl_pending = linked_pending;
#endif
}

static bool has_pending(void *easy) {
  tls_session *session = NULL;
  if (curl_easy_getinfo(easy, info_tls_session, &session) || !session || !session->session) return false;
  switch (session->backend) {
  case tls_openssl: return openssl_pending && openssl_pending(session->session) > 0;
  case tls_gnutls: return gnutls_pending && gnutls_pending(session->session) > 0;
  default: return false;
  }
}

static void load(void) {
  if (!find_functions()) return;
  version_info_type *found = missing ? NULL : curl_version_info(version_now);
  if (!found || found->version_num < 0x074400) {
    snprintf(problem, sizeof(problem), "libcurl %s: version 7.68 or later is needed", found ? found->version : missing);
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
  find_pending(found->ssl_version);
  versions = found;
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
#if defined(__ANDROID__)
  /* Bionic has memfd_create from API level 30 on. */
  (void)bytes, (void)count;
  return -1;
#else
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
#endif
}

void *waylay_curl_easy_new(void) { return curl_easy_init(); }
void waylay_curl_easy_free(void *easy) {
  /* Or the cleanup sets a signal handler, and resets it. */
  curl_easy_setopt(easy, option_no_signal, 1L);
  curl_easy_cleanup(easy);
}
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

bool waylay_curl_is_main_thread(void) {
  static _Thread_local int is_main = -1;
  if (is_main < 0) is_main = gettid() == getpid();
  return is_main;
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

const char *waylay_curl_certificate(void *easy) {
  /* struct curl_certinfo: the certificates, each a list of lines; the first is the server's own. */
  struct {
    int count;
    struct list_node **lines;
  } *known = NULL;
  if (curl_easy_getinfo(easy, info_certificates, &known) != 0 || !known || known->count < 1) return NULL;
  for (struct list_node *line = known->lines[0]; line; line = line->next)
    if (strncmp(line->data, "Cert:", 5) == 0) return line->data + 5;
  return NULL;
}

const char *waylay_curl_message(int code) { return curl_easy_strerror(code); }

/* A socket, found by its number: libcurl's own, or with an address one that was made here. */
struct open_socket {
  /* Zero where it was not made here, or is closed. */
  int family;
  unsigned char address[sizeof(struct in6_addr)];
  /* What no other socket ever has. */
  uint64_t cookie;
  /* Its end here, once that is known, and the next one whose port has the same last digits. */
  int port;
  int next;
  /* What libcurl waits for, and what the kernel was told. */
  int wanted;
  int watched;
  /* Whether its transfer was told of it. */
  bool is_announced;
};

enum { port_groups = 1024 };

/* The thread of a transport, with libcurl's handle and the sockets of its transfers. */
struct loop {
  struct loop *next;
  void *multi;
  int epoll;
  int wake;
  /* When libcurl wants to be called though nothing has come, in milliseconds; negative when it does not. */
  int64_t due;
  bool is_blind;
  waylay_curl_connecting connecting;
  /* Sockets are made and closed, and looked at by other threads, under it. */
  pthread_mutex_t mutex;
  struct open_socket *sockets;
  int capacity;
  int by_port[port_groups];
};

static int64_t milliseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* An address has many forms, and is compared as bytes. The family; 0 where it is none. */
static int parse_address(const char *text, unsigned char bytes[sizeof(struct in6_addr)]) {
  int family = strchr(text, ':') ? AF_INET6 : AF_INET;
  return inet_pton(family, text, bytes) == 1 ? family : 0;
}

static bool leads_to(const struct open_socket *socket, int family, const unsigned char *address) {
  return socket->family == family && memcmp(socket->address, address, family == AF_INET ? 4 : 16) == 0;
}

static uint64_t cookie_of(int descriptor) {
  uint64_t cookie = 0;
  socklen_t size = sizeof(cookie);
  getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size);
  return cookie;
}

int waylay_curl_loop_shutdown(void *context, const char *address) {
  struct loop *loop = context;
  int ended = 0;
  unsigned char bytes[sizeof(struct in6_addr)];
  int family = address ? parse_address(address, bytes) : 0;
  if (address && !family) return 0;
  pthread_mutex_lock(&loop->mutex);
  for (int descriptor = 0; descriptor < loop->capacity; descriptor += 1) {
    const struct open_socket *socket = &loop->sockets[descriptor];
    if (!socket->family || (address && !leads_to(socket, family, bytes))) continue;
    /* Nothing of others', see ask_port. */
    if (cookie_of(descriptor) != socket->cookie) continue;
    shutdown(descriptor, SHUT_RDWR);
    ended += 1;
  }
  pthread_mutex_unlock(&loop->mutex);
  return ended;
}

static int port_of(int descriptor, int name(int, struct sockaddr *, socklen_t *)) {
  struct sockaddr_storage address;
  socklen_t size = sizeof(address);
  if (name(descriptor, (struct sockaddr *)&address, &size)) return 0;
  switch (address.ss_family) {
  case AF_INET: return ntohs(((const struct sockaddr_in *)&address)->sin_port);
  case AF_INET6: return ntohs(((const struct sockaddr_in6 *)&address)->sin6_port);
  default: return 0;
  }
}

/* Those of unknown port are in the group of zero. */
static void join_group(struct loop *loop, int descriptor) {
  struct open_socket *socket = &loop->sockets[descriptor];
  int *group = &loop->by_port[socket->port % port_groups];
  socket->next = *group;
  *group = descriptor;
}

static void leave_group(struct loop *loop, int descriptor) {
  int *place = &loop->by_port[loop->sockets[descriptor].port % port_groups];
  while (*place != descriptor) place = &loop->sockets[*place].next;
  *place = loop->sockets[descriptor].next;
}

static void forget(struct loop *loop, int descriptor) {
  leave_group(loop, descriptor);
  pthread_mutex_lock(&loop->mutex);
  loop->sockets[descriptor] = (struct open_socket){0};
  pthread_mutex_unlock(&loop->mutex);
}

static int find_port(const struct loop *loop, int port, int descriptor) {
  while (descriptor >= 0 && loop->sockets[descriptor].port != port) descriptor = loop->sockets[descriptor].next;
  return descriptor;
}

/* The next one that begins at the same port, which it can where it leads to another address. */
static int another_from(const struct loop *loop, int port, int descriptor) {
  return find_port(loop, port, loop->sockets[descriptor].next);
}

/* Asks a socket for its port, once it has one. A connection that never opened libcurl 7.88 closes without a word, and the number may be another's. */
static void ask_port(struct loop *loop, int descriptor) {
  struct open_socket *socket = &loop->sockets[descriptor];
  if (socket->port) return;
  if (cookie_of(descriptor) != socket->cookie) {
    forget(loop, descriptor);
    return;
  }
  leave_group(loop, descriptor);
  socket->port = port_of(descriptor, getsockname);
  join_group(loop, descriptor);
}

/* The first socket that begins at a port, -1 where there is none. */
static int first_from(struct loop *loop, int port) {
  if (port <= 0) return -1;
  int found = find_port(loop, port, loop->by_port[port % port_groups]);
  if (found >= 0) return found;
  for (int descriptor = loop->by_port[0]; descriptor >= 0;) {
    int next = loop->sockets[descriptor].next;
    ask_port(loop, descriptor);
    descriptor = next;
  }
  return find_port(loop, port, loop->by_port[port % port_groups]);
}

int waylay_curl_loop_shutdown_idle(void *context, const char *address, int port, const int *idle, size_t idle_count) {
  struct loop *loop = context;
  int ended = 0;
  unsigned char bytes[sizeof(struct in6_addr)];
  int family = parse_address(address, bytes);
  for (size_t index = 0; index < idle_count && family; index += 1) {
    for (int descriptor = first_from(loop, idle[index]); descriptor >= 0; descriptor = another_from(loop, idle[index], descriptor)) {
      if (!leads_to(&loop->sockets[descriptor], family, bytes) || port_of(descriptor, getpeername) != port) continue;
      shutdown(descriptor, SHUT_RDWR);
      ended += 1;
    }
  }
  return ended;
}

bool waylay_curl_loop_drop_unread(void *context, void *easy, const char *address, int port) {
  struct loop *loop = context;
  bool dropped = has_pending(easy), is_pending = dropped;
  unsigned char bytes[sizeof(struct in6_addr)];
  int family = parse_address(address, bytes);
  for (int descriptor = first_from(loop, port); descriptor >= 0; descriptor = another_from(loop, port, descriptor)) {
    char byte;
    /* One that leads elsewhere may begin at the same port. */
    if (family && !leads_to(&loop->sockets[descriptor], family, bytes)) continue;
    if (!is_pending && recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 1) continue;
    shutdown(descriptor, SHUT_RDWR);
    dropped = true;
  }
  return dropped;
}

/* What is known of a socket; NULL when there is no memory. */
static struct open_socket *known(struct loop *loop, int descriptor) {
  if (descriptor < loop->capacity) return &loop->sockets[descriptor];
  int capacity = loop->capacity;
  while (capacity <= descriptor) capacity *= 2;
  pthread_mutex_lock(&loop->mutex);
  struct open_socket *sockets = realloc(loop->sockets, (size_t)capacity * sizeof(struct open_socket));
  if (sockets) {
    memset(sockets + loop->capacity, 0, (size_t)(capacity - loop->capacity) * sizeof(struct open_socket));
    loop->sockets = sockets;
    loop->capacity = capacity;
  }
  pthread_mutex_unlock(&loop->mutex);
  return sockets ? &sockets[descriptor] : NULL;
}

/* Tells the kernel what to look for on a socket. */
static void watch(struct loop *loop, int descriptor, struct open_socket *socket) {
  struct epoll_event event = {.data.fd = descriptor};
  event.events = (socket->wanted & poll_in ? EPOLLIN : 0u) | (socket->wanted & poll_out ? EPOLLOUT : 0u);
  int what = !socket->wanted ? EPOLL_CTL_DEL : socket->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  int failed = epoll_ctl(loop->epoll, what, descriptor, &event);
  /* A socket that was not made here may have been closed meanwhile, and its number be another's. */
  if (failed && errno == ENOENT && what == EPOLL_CTL_MOD) failed = epoll_ctl(loop->epoll, EPOLL_CTL_ADD, descriptor, &event);
  if (failed && errno == EEXIST) failed = epoll_ctl(loop->epoll, EPOLL_CTL_MOD, descriptor, &event);
  if (failed && socket->wanted) loop->is_blind = true;
  socket->watched = socket->wanted;
}

/* libcurl does not keep why a socket could not be made. */
static _Thread_local int socket_error;
int waylay_curl_socket_error(void) { return socket_error; }

static int open_socket(void *context, int purpose, struct address *address) {
  (void)purpose;
  struct loop *loop = context;
  int descriptor = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (descriptor < 0) socket_error = errno;
  if (descriptor < 0 || (address->family != AF_INET && address->family != AF_INET6)) return descriptor;
  struct open_socket *made = known(loop, descriptor);
  if (!made) {
    close(descriptor);
    socket_error = ENOMEM;
    return no_socket;
  }
  /* Where libcurl has closed the last one of that number without a word, it may not say either that it waits for this one. */
  int wanted = made->family ? made->wanted : 0;
  if (made->family) forget(loop, descriptor);
  pthread_mutex_lock(&loop->mutex);
  *made = (struct open_socket){.family = address->family, .cookie = cookie_of(descriptor), .wanted = wanted};
  if (address->family == AF_INET6) memcpy(made->address, &((const struct sockaddr_in6 *)&address->addr)->sin6_addr, 16);
  else memcpy(made->address, &((const struct sockaddr_in *)&address->addr)->sin_addr, 4);
  join_group(loop, descriptor);
  pthread_mutex_unlock(&loop->mutex);
  if (wanted) watch(loop, descriptor, made);
  return descriptor;
}

static int close_socket(void *context, int descriptor) {
  struct loop *loop = context;
  if (descriptor < loop->capacity && loop->sockets[descriptor].family) {
    /* A child that is being made has a copy of it, and the kernel would go on telling of it. */
    if (loop->sockets[descriptor].watched) epoll_ctl(loop->epoll, EPOLL_CTL_DEL, descriptor, NULL);
    forget(loop, descriptor);
  }
  return close(descriptor);
}

int waylay_curl_set_sockets(void *easy, void *loop) {
  int code = curl_easy_setopt(easy, option_open_socket_function, open_socket);
  if (!code) code = curl_easy_setopt(easy, option_open_socket_data, loop);
  if (!code) code = curl_easy_setopt(easy, option_close_socket_function, close_socket);
  if (!code) code = curl_easy_setopt(easy, option_close_socket_data, loop);
  return code;
}

static int socket_wanted(void *easy, int descriptor, int what, void *context, void *unused) {
  (void)unused;
  struct loop *loop = context;
  struct open_socket *socket = known(loop, descriptor);
  if (!socket) {
    loop->is_blind = true;
    return 0;
  }
  int wanted = what & (poll_in | poll_out);
  /* Where libcurl has closed a socket without a word, its number may be that of one that was not made here. */
  if (socket->family && wanted && !socket->wanted && cookie_of(descriptor) != socket->cookie) forget(loop, descriptor);
  if (socket->family && !socket->is_announced) {
    ask_port(loop, descriptor);
    void *transfer = waylay_curl_context(easy);
    if (transfer && wanted && socket->port) {
      socket->is_announced = true;
      loop->connecting(transfer, socket->port);
    }
  }
  socket->wanted = wanted;
  /* What is looked for on a socket that is known until it is closed stays when less is wanted: mostly the same is wanted again, for the next request. */
  if (!socket->family || socket->wanted & ~socket->watched) watch(loop, descriptor, socket);
  return 0;
}

static int timer_wanted(void *multi, long milliseconds, void *context) {
  (void)multi;
  /* Both numbers are rounded down, and what comes early an older libcurl forgets. */
  ((struct loop *)context)->due = milliseconds < 0 ? -1 : milliseconds_now() + milliseconds + (milliseconds ? 2 : 0);
  return 0;
}

/*
 OpenSSL cleans up when the process ends, and a thread that is inside of it crashes (U19). So the threads of loops are stopped first: each where it
 uses nothing of libcurl, and for good. What they have under way is not ended: code that waits for it had better not run any more either.
 */
static pthread_mutex_t loops_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct loop *loops;
static int loop_count;
static atomic_bool is_over;
static _Thread_local struct loop *own_loop;

void waylay_curl_loop_wake(void *loop) {
  uint64_t one = 1;
  /* It fails only where so many calls wait already that the counter is full. */
  if (write(((struct loop *)loop)->wake, &one, sizeof(one)) < 0) return;
}

static void stop_loops(void) {
  if (atomic_load(&loops_owner) != getpid()) return;
  atomic_store(&is_over, true);
  /* exit may have been called by one of the threads, or by a signal handler in the middle of anything: so by no lock that may be held for good,
     and for a second at most. */
  for (int round = 0; round < 1000; round += 1) {
    if (pthread_mutex_trylock(&loops_mutex) == 0) {
      bool are_stopped = loop_count <= (own_loop ? 1 : 0);
      for (struct loop *loop = loops; loop && !are_stopped; loop = loop->next) waylay_curl_loop_wake(loop);
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
  own_loop = NULL;
}

static void stop_if_over(void) {
  if (!atomic_load(&is_over)) return;
  if (own_loop) forget_loop();
  for (;;) pause();
}

bool waylay_curl_is_over(void) { return atomic_load(&is_over); }

/* Releases what there is of a loop that nobody knows of any more. */
static void release(struct loop *loop) {
  if (loop->multi) curl_multi_cleanup(loop->multi);
  if (loop->epoll >= 0) close(loop->epoll);
  if (loop->wake >= 0) close(loop->wake);
  pthread_mutex_destroy(&loop->mutex);
  free(loop->sockets);
  free(loop);
}

void *waylay_curl_loop_new(waylay_curl_connecting connecting) {
  struct loop *loop = calloc(1, sizeof(struct loop));
  if (!loop) return NULL;
  pthread_mutex_init(&loop->mutex, NULL);
  loop->due = -1;
  loop->connecting = connecting;
  for (int group = 0; group < port_groups; group += 1) loop->by_port[group] = -1;
  loop->capacity = 64;
  loop->sockets = calloc((size_t)loop->capacity, sizeof(struct open_socket));
  loop->epoll = epoll_create1(EPOLL_CLOEXEC);
  loop->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  /* Once for each call, and nobody need read it. */
  struct epoll_event woken = {.events = EPOLLIN | EPOLLET, .data.fd = loop->wake};
  if (!loop->sockets || loop->epoll < 0 || loop->wake < 0 || epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->wake, &woken)) {
    release(loop);
    return NULL;
  }
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
  loop->multi = curl_multi_init();
  bool works = loop->multi && !curl_multi_setopt(loop->multi, option_socket_function, socket_wanted)
    && !curl_multi_setopt(loop->multi, option_socket_data, loop) && !curl_multi_setopt(loop->multi, option_timer_function, timer_wanted)
    && !curl_multi_setopt(loop->multi, option_timer_data, loop);
  if (works) return loop;
  forget_loop();
  release(loop);
  return NULL;
}

void waylay_curl_loop_free(void *loop) {
  stop_if_over();
  /* Until libcurl has cleaned up the end of the process waits for it. */
  if (((struct loop *)loop)->multi) curl_multi_cleanup(((struct loop *)loop)->multi);
  ((struct loop *)loop)->multi = NULL;
  forget_loop();
  release(loop);
}

int waylay_curl_loop_set_number(void *loop, int option, long value) { return curl_multi_setopt(((struct loop *)loop)->multi, option, value); }
int waylay_curl_loop_add(void *loop, void *easy) { return curl_multi_add_handle(((struct loop *)loop)->multi, easy); }
int waylay_curl_loop_remove(void *loop, void *easy) { return curl_multi_remove_handle(((struct loop *)loop)->multi, easy); }

static void act(struct loop *loop, int descriptor, int events) {
  int running = 0;
  stop_if_over();
  int code = curl_multi_socket_action(loop->multi, descriptor, events, &running);
  if (code > 0 && code != bad_socket) loop->is_blind = true;
}

bool waylay_curl_loop_act(void *context) {
  struct loop *loop = context;
  if (loop->due >= 0 && loop->due <= milliseconds_now()) {
    /* libcurl says anew when it wants to be called. */
    loop->due = -1;
    act(loop, no_socket, 0);
  }
  stop_if_over();
  return !loop->is_blind;
}

int waylay_curl_loop_wait(void *context, int milliseconds) {
  struct loop *loop = context;
  struct epoll_event events[128];
  if (loop->due >= 0 && milliseconds != 0) {
    int64_t left = loop->due - milliseconds_now();
    if (left < milliseconds) milliseconds = left < 0 ? 0 : (int)left;
  }
  stop_if_over();
  int count = epoll_wait(loop->epoll, events, sizeof(events) / sizeof(events[0]), milliseconds);
  for (int index = 0; index < count; index += 1) {
    int descriptor = events[index].data.fd;
    if (descriptor == loop->wake) continue;
    /* Both directions where there is an error: libcurl finds it then. */
    unsigned int has = events[index].events;
    int what = (has & (EPOLLIN | EPOLLERR | EPOLLHUP) ? poll_in : 0) | (has & (EPOLLOUT | EPOLLERR | EPOLLHUP) ? poll_out : 0);
    struct open_socket *socket = &loop->sockets[descriptor];
    if (what & ~socket->wanted && socket->watched != socket->wanted) watch(loop, descriptor, socket);
    if (what & socket->wanted) act(loop, descriptor, what);
  }
  stop_if_over();
  return count;
}

void *waylay_curl_loop_next(void *loop, int *code) {
  int left = 0;
  message *next;
  while ((next = curl_multi_info_read(((struct loop *)loop)->multi, &left))) {
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
