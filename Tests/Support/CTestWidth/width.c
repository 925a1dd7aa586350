#include <stdlib.h>

// Testing begins every test of a run at once unless this variable says otherwise, and reads it when the run begins.
__attribute__((constructor)) static void set_width(void) {
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "48", 0);
}
