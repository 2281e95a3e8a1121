// Turns what the fake driver does into activity records and callbacks.
#ifndef UTLZ_TESTS_FAKES_RECORD_OBSERVER_H_
#define UTLZ_TESTS_FAKES_RECORD_OBSERVER_H_

#include <cstdint>

#include "tests/fakes/cupti_results.h"

namespace utlz::fake {

// Connects this libcupti to the driver of the process. Fails where there is none, and where another
// libcupti is connected.
CuptiResult ObserveCuda();

// One NVTX event of the calling thread; name and domain must outlive the process's records.
void RecordMarker(uint32_t flags, uint32_t id, const char* name, const char* domain);

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_RECORD_OBSERVER_H_
