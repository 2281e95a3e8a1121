// A library whose constructor waits for input.
#include <unistd.h>

#include "tests/attach/target_control.h"

namespace {

[[gnu::constructor]] void Wait() {
  utlz::attach::Control().ready = 1;
  char byte = 0;
  if (read(0, &byte, 1) == 1) ++utlz::attach::Control().progress;
}

}  // namespace
