/* A program that uses the shim as CurlLoop does, for Scripts/valgrind.sh. */
#include "CWaylayCurl.h"

#include <stdio.h>
#include <string.h>

struct answer {
  char body[64];
  size_t length;
  int head_lines;
  int requests;
  int connections;
};

static size_t head(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes;
  ((struct answer *)context)->head_lines += 1;
  return size * count;
}

static size_t write_body(char *bytes, size_t size, size_t count, void *context) {
  struct answer *answer = context;
  size_t length = size * count;
  if (answer->length + length > sizeof(answer->body)) return 0;
  memcpy(answer->body + answer->length, bytes, length);
  answer->length += length;
  return length;
}

static int before(void *context, char *address, char *local, int port, int local_port) {
  (void)address;
  (void)local;
  (void)port;
  (void)local_port;
  ((struct answer *)context)->requests += 1;
  return 0;
}

static void connecting(void *context, int port) {
  if (port > 0) ((struct answer *)context)->connections += 1;
}

static int load(void *loop, void *easy, const char *url, struct answer *answer) {
  void *fields = waylay_curl_list_append(NULL, "X-Field: 1");
  if (waylay_curl_set_context(easy, answer) || waylay_curl_set_text(easy, 10002, url) || waylay_curl_set_list(easy, 10023, fields)) return 1;
  if (waylay_curl_set_sockets(easy, loop) || waylay_curl_set_callbacks(easy, head, write_body, NULL, NULL, before)) return 2;
  if (waylay_curl_context(easy) != answer || waylay_curl_loop_add(loop, easy)) return 3;
  int code = -1;
  void *ended = NULL;
  while (!ended) {
    if (!waylay_curl_loop_act(loop)) return 4;
    ended = waylay_curl_loop_next(loop, &code);
    if (!ended && waylay_curl_loop_wait(loop, 1000) < 0) return 5;
  }
  waylay_curl_loop_remove(loop, easy);
  waylay_curl_easy_reset(easy);
  waylay_curl_list_free(fields);
  return ended == easy ? code : 6;
}

int main(int count, char **arguments) {
  if (count != 2 || !waylay_curl_load()) {
    fprintf(stderr, "usage: shim <url>; libcurl: %s\n", waylay_curl_problem());
    return 2;
  }
  void *loop = waylay_curl_loop_new(connecting);
  void *easy = waylay_curl_easy_new();
  int failures = 0;
  for (int turn = 0; turn < 20; turn += 1) {
    struct answer answer = {{0}, 0, 0, 0, 0};
    int code = load(loop, easy, arguments[1], &answer);
    if (code || answer.length != 6 || memcmp(answer.body, "hello\n", 6) != 0 || answer.head_lines < 2 || answer.requests < 1 || (turn == 0 && answer.connections != 1)) {
      fprintf(stderr, "turn %d: code %d (%s), %zu bytes\n", turn, code, waylay_curl_message(code), answer.length);
      failures += 1;
    }
    if (turn == 10) waylay_curl_loop_shutdown(loop, "127.0.0.1");
  }
  struct answer refused = {{0}, 0, 0, 0, 0};
  if (load(loop, easy, "http://127.0.0.1:1/", &refused) != 7) failures += 1;
  waylay_curl_loop_wake(loop);
  if (waylay_curl_loop_wait(loop, 60000) != 1) failures += 1;
  waylay_curl_easy_free(easy);
  waylay_curl_loop_free(loop);
  printf("libcurl %s: %d failures\n", waylay_curl_version(), failures);
  return failures ? 1 : 0;
}
