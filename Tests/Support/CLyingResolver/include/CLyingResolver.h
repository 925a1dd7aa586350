#ifndef C_LYING_RESOLVER_H
#define C_LYING_RESOLVER_H

/*
 A system resolver that lies (platform fact U9): a program that links this has a getaddrinfo of its own, which libcurl and Foundation call
 too. It answers for the names it was told to lie about, asks the real one for all others, and counts. For tests and examples only; on
 Apple platforms libraries are bound to their own getaddrinfo, so there it is empty.
 */

#if defined(__linux__)

/* From now on a name, in lower case, has that address: the literal of one. At most 64 names; 0 when it worked. Any thread. */
int lying_resolver_lie(const char *_Nonnull name, const char *_Nonnull address);
/* Nobody is lied to any more, and counting begins anew. */
void lying_resolver_reset(void);
/* How often a name was looked up that it was told to lie about; for NULL, how often any other was. Literals are not counted. */
long lying_resolver_count(const char *_Nullable name);

#endif
#endif
