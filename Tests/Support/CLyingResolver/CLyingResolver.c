#if defined(__linux__)
#define _GNU_SOURCE
#include "CLyingResolver.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { capacity = 64 };

struct lie {
  char name[256];
  char address[INET6_ADDRSTRLEN];
  long count;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct lie lies[capacity];
static size_t lie_count;
static long others;

static struct lie *find(const char *name) {
  for (size_t index = 0; index < lie_count; index += 1) {
    if (strcasecmp(lies[index].name, name) == 0) return &lies[index];
  }
  return NULL;
}

int lying_resolver_lie(const char *name, const char *address) {
  if (strlen(name) >= sizeof(lies[0].name) || strlen(address) >= sizeof(lies[0].address)) return 1;
  pthread_mutex_lock(&mutex);
  struct lie *lie = find(name);
  if (!lie && lie_count < capacity) {
    lie = &lies[lie_count++];
    lie->count = 0;
    strcpy(lie->name, name);
  }
  if (lie) strcpy(lie->address, address);
  pthread_mutex_unlock(&mutex);
  return lie ? 0 : 1;
}

void lying_resolver_reset(void) {
  pthread_mutex_lock(&mutex);
  lie_count = 0;
  others = 0;
  pthread_mutex_unlock(&mutex);
}

long lying_resolver_count(const char *name) {
  pthread_mutex_lock(&mutex);
  struct lie *lie = name ? find(name) : NULL;
  long count = name ? (lie ? lie->count : 0) : others;
  pthread_mutex_unlock(&mutex);
  return count;
}

static bool is_literal(const char *name) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

__attribute__((visibility("default"))) int getaddrinfo(
  const char *restrict node, const char *restrict service, const struct addrinfo *restrict hints, struct addrinfo **restrict result) {
  typedef int (*function)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
  static function real;
  char address[INET6_ADDRSTRLEN] = "";
  pthread_mutex_lock(&mutex);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
  function next = real;
  if (node && !is_literal(node)) {
    struct lie *lie = find(node);
    if (lie) {
      lie->count += 1;
      strcpy(address, lie->address);
    } else {
      others += 1;
    }
  }
  pthread_mutex_unlock(&mutex);
  if (!next) return EAI_SYSTEM;
  return next(address[0] ? address : node, service, hints, result);
}
#endif
