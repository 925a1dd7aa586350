#ifndef C_WAYLAY_CURL_H
#define C_WAYLAY_CURL_H

/*
 The functions of libcurl that CurlTransport needs, found in the copy that FoundationNetworking has loaded (platform fact U7): no header, no
 link flag and no -dev package is needed. Declared here and not in Swift, because curl_easy_setopt and its kin take variable arguments.

 Numbers of options and codes are those of libcurl's ABI, which never changes them:
 https://curl.se/libcurl/c/ and include/curl/curl.h of its sources.
 */

#if defined(__linux__)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds the functions once. False when libcurl cannot be found, or is too old; waylay_curl_problem says why. Any thread. */
bool waylay_curl_load(void);
const char *_Nonnull waylay_curl_problem(void);

/* The version, as 0x075801 for 7.88.1, and as text. The TLS library, as OpenSSL/3.0.17. The bits of CURL_VERSION_*. The file of the system's certificate authorities. */
unsigned int waylay_curl_version_number(void);
const char *_Nonnull waylay_curl_version(void);
const char *_Nonnull waylay_curl_tls(void);
int waylay_curl_features(void);
const char *_Nullable waylay_curl_authorities(void);

/* A file in memory with those bytes, close-on-exec, to be read as /proc/self/fd/N and closed by the caller. -1 where there is none. */
int waylay_curl_memory_file(const void *_Nonnull bytes, size_t count);

/* Names the calling thread, for debuggers and top; at most 15 characters. */
void waylay_curl_name_thread(const char *_Nonnull name);

/* Whether the calling thread is the process's first: the kernel is asked once for each thread. */
bool waylay_curl_is_main_thread(void);

typedef size_t (*waylay_curl_transfer)(char *_Nonnull bytes, size_t size, size_t count, void *_Nullable context);
typedef int (*waylay_curl_seek)(void *_Nullable context, int64_t offset, int origin);
typedef int (*waylay_curl_prerequest)(void *_Nullable context, char *_Nullable address, char *_Nullable local, int port, int local_port);

/* Text of libcurl about a transfer when kind is 0, without a zero at its end; to be answered with 0. */
typedef int (*waylay_curl_remark)(void *_Nullable easy, int kind, char *_Nonnull text, size_t count, void *_Nullable context);

/* One transfer. */
void *_Nullable waylay_curl_easy_new(void);
void waylay_curl_easy_free(void *_Nonnull easy);
void waylay_curl_easy_reset(void *_Nonnull easy);
int waylay_curl_set_number(void *_Nonnull easy, int option, long value);
int waylay_curl_set_size(void *_Nonnull easy, int option, int64_t value);
int waylay_curl_set_text(void *_Nonnull easy, int option, const char *_Nullable value);
int waylay_curl_set_blob(void *_Nonnull easy, int option, const void *_Nonnull bytes, size_t count);
int waylay_curl_set_list(void *_Nonnull easy, int option, void *_Nullable list);
int waylay_curl_set_error_buffer(void *_Nonnull easy, char *_Nullable buffer);
int waylay_curl_set_context(void *_Nonnull easy, void *_Nullable context);
int waylay_curl_set_callbacks(
  void *_Nonnull easy, waylay_curl_transfer _Nonnull header, waylay_curl_transfer _Nonnull write,
  waylay_curl_transfer _Nullable read, waylay_curl_seek _Nullable seek, waylay_curl_prerequest _Nullable prerequest);
/* Has libcurl say what it does, in words for people that other versions may choose otherwise. */
int waylay_curl_set_remarks(void *_Nonnull easy, waylay_curl_remark _Nonnull remark);

/* Has its sockets made by a loop, which watches them. */
int waylay_curl_set_sockets(void *_Nonnull easy, void *_Nonnull loop);
/* errno of the last socket that could not be made on this thread. */
int waylay_curl_socket_error(void);
long waylay_curl_get_number(void *_Nonnull easy, int info);
int64_t waylay_curl_get_size(void *_Nonnull easy, int info);
const char *_Nullable waylay_curl_get_text(void *_Nonnull easy, int info);
/* The server's certificate, in PEM, with the option for that; NULL on a connection that was open before. */
const char *_Nullable waylay_curl_certificate(void *_Nonnull easy);
void *_Nullable waylay_curl_context(void *_Nonnull easy);
int waylay_curl_pause(void *_Nonnull easy, int mask);

/* Appends to the last node of a list and returns the new last one, NULL when there is no memory. The first one is the list. */
void *_Nullable waylay_curl_list_append(void *_Nullable last, const char *_Nonnull text);
void waylay_curl_list_free(void *_Nullable list);
const char *_Nonnull waylay_curl_message(int code);

/*
 Many transfers on one thread, which has one of these; only waylay_curl_loop_wake and waylay_curl_loop_shutdown may be called from another. When the
 process ends, the thread stays in the next of these functions that it calls, before libraries are cleaned up: waylay_curl_is_over says that it does.
 */
bool waylay_curl_is_over(void);
/* A transfer, known by its context, has begun to open a connection from a local port of ours. */
typedef void (*waylay_curl_connecting)(void *_Nonnull context, int port);
/* NULL where there is no memory or no descriptor left. */
void *_Nullable waylay_curl_loop_new(waylay_curl_connecting _Nonnull connecting);
void waylay_curl_loop_free(void *_Nonnull loop);
int waylay_curl_loop_set_number(void *_Nonnull loop, int option, long value);
int waylay_curl_loop_add(void *_Nonnull loop, void *_Nonnull easy);
int waylay_curl_loop_remove(void *_Nonnull loop, void *_Nonnull easy);
/* Has libcurl do what is due: begin what was added, go on with what was paused, time out. False when the loop is of no use any more. */
bool waylay_curl_loop_act(void *_Nonnull loop);
/* Waits for so long at most, and has libcurl read and write where something has come. How much has; 0 when only time has passed. */
int waylay_curl_loop_wait(void *_Nonnull loop, int milliseconds);
/* Ends the wait that is under way, or the next one. */
void waylay_curl_loop_wake(void *_Nonnull loop);
/* The next transfer that has ended, and how; NULL when there is none. */
void *_Nullable waylay_curl_loop_next(void *_Nonnull loop, int *_Nonnull code);

/*
 The sockets of a loop are made close-on-exec, and known by the address they lead to, so that the kept connections of an address can be ended (U11).
 This ends every connection to an address, given as text, or to all without one; transfers on it fail. How many there were.
 */
int waylay_curl_loop_shutdown(void *_Nonnull loop, const char *_Nullable address);
/*
 Ends those connections to an address and port that begin at one of the idle ports. The loop's thread knows what is idle: a connection on which no
 request has begun yet is being opened or secured by a transfer. How many there were.
 */
int waylay_curl_loop_shutdown_idle(
  void *_Nonnull loop, const char *_Nonnull address, int port, const int *_Nullable idle, size_t idle_count);
/*
 Whether bytes have come on the connection of a transfer, to an address from a local port, that nobody has read, or that a TLS library has read
 (OpenSSL and GnuTLS; others are not asked); it is shut down then.
 */
bool waylay_curl_loop_drop_unread(void *_Nonnull loop, void *_Nonnull easy, const char *_Nonnull address, int port);

#endif
#endif
