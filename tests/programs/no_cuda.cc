// A program that never uses CUDA: an environment variable meant for others must not harm it.
#include <cstdio>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) std::printf("%s\n", argv[i]);
  std::puts("no CUDA here");
  return 0;
}
