#define _GNU_SOURCE
#include "CurlAlone.h"

#include <dlfcn.h>
#include <pthread.h>
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

/* The loads of `curl_alone_handed`, between the caller's thread and the loop's. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t has_ended;
  void *multi;
  void *submitted[64];
  void *ended[64];
  int submitted_count;
  int ended_count;
  int is_polling;
  int failed;
} handed = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, {NULL}, {NULL}, 0, 0, 0, 0};

static void *run_handed(void *context) {
  (void)context;
  int (*add)(void *, void *) = (int (*)(void *, void *))dlsym(RTLD_DEFAULT, "curl_multi_add_handle");
  int (*drop)(void *, void *) = (int (*)(void *, void *))dlsym(RTLD_DEFAULT, "curl_multi_remove_handle");
  int (*perform)(void *, int *) = (int (*)(void *, int *))dlsym(RTLD_DEFAULT, "curl_multi_perform");
  int (*wait)(void *, void *, unsigned int, int, int *) = (int (*)(void *, void *, unsigned int, int, int *))dlsym(RTLD_DEFAULT, "curl_multi_poll");
  message *(*next)(void *, int *) = (message * (*)(void *, int *)) dlsym(RTLD_DEFAULT, "curl_multi_info_read");
  void *multi = handed.multi;
  for (;;) {
    int running = 0;
    int left = 0;
    message *done;
    pthread_mutex_lock(&handed.lock);
    int count = handed.submitted_count;
    for (int index = 0; index < count; index += 1) add(multi, handed.submitted[index]);
    handed.submitted_count = 0;
    pthread_mutex_unlock(&handed.lock);
    perform(multi, &running);
    while ((done = next(multi, &left))) {
      void *handle = done->easy;
      int failed = done->msg != 1 || done->data.result;
      drop(multi, handle);
      pthread_mutex_lock(&handed.lock);
      handed.failed |= failed;
      handed.ended[handed.ended_count++] = handle;
      pthread_cond_signal(&handed.has_ended);
      pthread_mutex_unlock(&handed.lock);
    }
    pthread_mutex_lock(&handed.lock);
    handed.is_polling = handed.submitted_count == 0;
    int may_poll = handed.is_polling;
    pthread_mutex_unlock(&handed.lock);
    if (!may_poll) continue;
    wait(multi, NULL, 0, 1000, &left);
    pthread_mutex_lock(&handed.lock);
    handed.is_polling = 0;
    pthread_mutex_unlock(&handed.lock);
  }
  return NULL;
}

long curl_alone_handed(const char *url, long loads, int in_flight) {
  int (*wake)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, "curl_multi_wakeup");
  static void *handles[64];
  if (in_flight > 64) in_flight = 64;
  if (!handed.multi) {
    void *(*multi_init)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, "curl_multi_init");
    int (*multi_setopt)(void *, int, ...) = (int (*)(void *, int, ...))dlsym(RTLD_DEFAULT, "curl_multi_setopt");
    pthread_t thread;
    if (!multi_init || !multi_setopt || !wake) return -1;
    handed.multi = multi_init();
    multi_setopt(handed.multi, 7, 6L);
    for (int index = 0; index < 64; index += 1) handles[index] = curl_alone_new(url);
    if (pthread_create(&thread, NULL, run_handed, NULL)) return -1;
    pthread_detach(thread);
  }
  void *idle[64];
  int idle_count = in_flight;
  long started = 0;
  long ended = 0;
  for (int index = 0; index < in_flight; index += 1) idle[index] = handles[index];
  received = 0;
  pthread_mutex_lock(&handed.lock);
  handed.failed = 0;
  while (ended < loads) {
    int must_wake = 0;
    while (idle_count > 0 && started < loads) {
      handed.submitted[handed.submitted_count++] = idle[--idle_count];
      started += 1;
      must_wake |= handed.is_polling;
      handed.is_polling = 0;
    }
    if (must_wake) {
      pthread_mutex_unlock(&handed.lock);
      wake(handed.multi);
      pthread_mutex_lock(&handed.lock);
    }
    while (handed.ended_count == 0) pthread_cond_wait(&handed.has_ended, &handed.lock);
    while (handed.ended_count > 0) {
      idle[idle_count++] = handed.ended[--handed.ended_count];
      ended += 1;
    }
  }
  int failed = handed.failed;
  pthread_mutex_unlock(&handed.lock);
  return failed ? -1 : received;
}
