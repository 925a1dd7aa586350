#ifndef CURL_ALONE_H
#define CURL_ALONE_H

/* libcurl in a loop with nothing round it: what no transport that uses it can be faster than. NULL where it cannot be found. */
void *_Nullable curl_alone_new(const char *_Nonnull url);
/* Loads the URL on a kept connection; the number of bytes of the body, or -1. */
long curl_alone_get(void *_Nonnull handle);

#endif
