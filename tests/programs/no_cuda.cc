// A program that never uses CUDA: an environment variable meant for others must not harm it.
#include <cstdio>

// A set-user-ID copy of it cannot be searched for leaks: AddressSanitizer, where there is one,
// asks.
extern "C" const char* __lsan_default_options() { return "detect_leaks=0"; }

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) std::printf("%s\n", argv[i]);
  std::puts("no CUDA here");
  return 0;
}
