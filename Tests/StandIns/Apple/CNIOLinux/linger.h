// What swift-nio, as Linux builds it, takes for Darwin's structure of this name, for `Scripts/apple.sh`: never linked. Own work.

struct linger {
  int l_onoff;
  int l_linger;
};
