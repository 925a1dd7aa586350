#ifndef CURL_ALONE_H
#define CURL_ALONE_H

/* libcurl in a loop with nothing round it: what no transport that uses it can be faster than. NULL where it cannot be found. */
void *_Nullable curl_alone_new(const char *_Nonnull url);
/* Loads the URL on a kept connection; the number of bytes of the body, or -1. */
long curl_alone_get(void *_Nonnull handle);
/* Loads the URL so many times, so many at once (64 at most), on one thread; the number of bytes of all bodies, or -1. One caller at a time. */
long curl_alone_many(const char *_Nonnull url, long loads, int in_flight);
/* The same with the loop on a thread of its own, and the loads handed to it and back: what every client has to do whose callers may not block. */
long curl_alone_handed(const char *_Nonnull url, long loads, int in_flight);

#endif
