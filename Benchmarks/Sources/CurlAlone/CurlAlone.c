#define _GNU_SOURCE
#include "CurlAlone.h"

#include <dlfcn.h>
#include <stddef.h>

static long received;

static size_t count(char *bytes, size_t size, size_t number, void *context) {
  (void)bytes;
  (void)context;
  received += (long)(size * number);
  return size * number;
}

void *curl_alone_new(const char *url) {
  void *(*init)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, "curl_easy_init");
  int (*setopt)(void *, int, ...) = (int (*)(void *, int, ...))dlsym(RTLD_DEFAULT, "curl_easy_setopt");
  if (!init || !setopt) return NULL;
  void *handle = init();
  /* CURLOPT_URL, CURLOPT_WRITEFUNCTION, CURLOPT_NOSIGNAL, CURLOPT_BUFFERSIZE */
  if (handle && (setopt(handle, 10002, url) || setopt(handle, 20011, count) || setopt(handle, 99, 1L) || setopt(handle, 98, 131072L))) return NULL;
  return handle;
}

long curl_alone_get(void *handle) {
  static int (*perform)(void *);
  if (!perform) perform = (int (*)(void *))dlsym(RTLD_DEFAULT, "curl_easy_perform");
  received = 0;
  return perform && perform(handle) == 0 ? received : -1;
}

typedef struct {
  int msg;
  void *easy;
  union {
    void *whatever;
    int result;
  } data;
} message;

long curl_alone_many(const char *url, long loads, int in_flight) {
  void *(*multi_init)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, "curl_multi_init");
  int (*multi_setopt)(void *, int, ...) = (int (*)(void *, int, ...))dlsym(RTLD_DEFAULT, "curl_multi_setopt");
  int (*add)(void *, void *) = (int (*)(void *, void *))dlsym(RTLD_DEFAULT, "curl_multi_add_handle");
  int (*drop)(void *, void *) = (int (*)(void *, void *))dlsym(RTLD_DEFAULT, "curl_multi_remove_handle");
  int (*perform)(void *, int *) = (int (*)(void *, int *))dlsym(RTLD_DEFAULT, "curl_multi_perform");
  int (*wait)(void *, void *, unsigned int, int, int *) = (int (*)(void *, void *, unsigned int, int, int *))dlsym(RTLD_DEFAULT, "curl_multi_poll");
  message *(*next)(void *, int *) = (message * (*)(void *, int *)) dlsym(RTLD_DEFAULT, "curl_multi_info_read");
  static void *multi;
  static void *handles[64];
  if (!multi) {
    multi = multi_init();
    /* CURLMOPT_MAX_HOST_CONNECTIONS: as many as a session opens. */
    multi_setopt(multi, 7, 6L);
    for (int index = 0; index < 64; index += 1) handles[index] = curl_alone_new(url);
  }
  long started = 0;
  long ended = 0;
  received = 0;
  for (; started < loads && started < in_flight && started < 64; started += 1) add(multi, handles[started]);
  while (ended < loads) {
    int running = 0;
    int left = 0;
    message *done;
    perform(multi, &running);
    while ((done = next(multi, &left))) {
      if (done->msg != 1 || done->data.result) return -1;
      void *handle = done->easy;
      drop(multi, handle);
      ended += 1;
      if (started < loads) {
        add(multi, handle);
        started += 1;
      }
    }
    if (ended < loads) wait(multi, NULL, 0, 100, &left);
  }
  return received;
}
