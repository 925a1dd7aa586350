// What the inlinable code of FoundationEssentials uses of glibc, for `Scripts/apple.sh`: never linked. Own work.

#include <stddef.h>

int memcmp(const void *, const void *, size_t);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
