#include "collector/text/bound_text.h"

#include "collector/text/number_text.h"

namespace utlz {

const char* BoundText(Bound bound) {
  switch (bound) {
    case BOUND_COMPUTE:
      return "compute";
    case BOUND_MEMORY:
      return "memory";
    case BOUND_LATENCY:
      return "latency";
    case BOUND_COMMUNICATION:
      return "communication";
    case BOUND_NEITHER:
      return "mixed";
    default:
      return kUnknown;
  }
}

const char* ShortBoundText(Bound bound) {
  return bound == BOUND_COMMUNICATION ? "comm" : BoundText(bound);
}

}  // namespace utlz
