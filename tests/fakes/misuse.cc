#include "tests/fakes/misuse.h"

#include <cstdio>
#include <cstdlib>

namespace utlz::fake {
namespace {

thread_local CallbackSort current_sort = CallbackSort::kNone;

}  // namespace

void Misuse(const char* what) {
  std::fprintf(stderr, "fake libcupti: misuse: %s\n", what);
  std::abort();
}

CallbackScope::CallbackScope(CallbackSort sort) : previous_(current_sort) { current_sort = sort; }
CallbackScope::~CallbackScope() { current_sort = previous_; }
CallbackSort CallbackScope::Current() { return current_sort; }

}  // namespace utlz::fake
