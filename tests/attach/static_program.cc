// A statically linked program, into which nothing can be loaded.
#include <unistd.h>

int main() {
  char byte = 0;
  return read(0, &byte, 1) >= 0 ? 0 : 1;
}
