// What the collector asks of tracing, in its welcome and in the ring since.
#ifndef UTLZ_INJECT_TRACING_TRACE_REQUEST_H_
#define UTLZ_INJECT_TRACING_TRACE_REQUEST_H_

#include <cstdint>

namespace utlz::agent {

struct TraceRequest {
  bool wanted = false;      // records at all
  uint32_t flags = 0;       // kTrace* of ring_abi.h
  uint32_t budget_ppm = 0;  // 0: everything is traced
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_TRACE_REQUEST_H_
