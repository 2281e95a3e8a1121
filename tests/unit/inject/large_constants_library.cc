// A library with constants of several megabytes that come from its file.
#include <cstddef>

__asm__(
    ".pushsection .rodata\n"
    "large_constants:\n"
    ".fill 4194304, 1, 7\n"
    ".popsection\n");

extern const char large_constants[] __attribute__((visibility("hidden")));

extern "C" {
const char* LargeConstants() { return large_constants; }
size_t LargeConstantsBytes() { return 4194304; }
}
