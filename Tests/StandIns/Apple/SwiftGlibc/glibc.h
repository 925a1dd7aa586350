// What the inlinable code of FoundationEssentials and the layouts of swift-nio use of glibc, for `Scripts/apple.sh`: never linked. Own work.

#include <stddef.h>

int memcmp(const void *, const void *, size_t);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);

struct in_addr {
  unsigned int s_addr;
};

struct in6_addr {
  unsigned char bytes[16];
};

// As Darwin has it: what swift-nio hands out goes to Darwin's functions.
struct sockaddr {
  unsigned char sa_len;
  unsigned char sa_family;
  char sa_data[14];
};

struct sockaddr_in {
  unsigned short sin_family;
  unsigned short sin_port;
  struct in_addr sin_addr;
};

struct sockaddr_in6 {
  unsigned short sin6_family;
  unsigned short sin6_port;
  struct in6_addr sin6_addr;
};

struct sockaddr_un {
  unsigned short sun_family;
  char sun_path[108];
};
