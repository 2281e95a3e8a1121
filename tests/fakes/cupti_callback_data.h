// What CUPTI's callbacks are given, and their delivery to the subscriber.
#ifndef UTLZ_TESTS_FAKES_CUPTI_CALLBACK_DATA_H_
#define UTLZ_TESTS_FAKES_CUPTI_CALLBACK_DATA_H_

#include <cstdint>

#include "tests/fakes/observer.h"

namespace utlz::fake {

bool DeliverApiCallback(const ApiCall& call);
void DeliverResourceCallback(uint32_t event, CUcontext context, CUstream stream,
                             const void* descriptor);
void DeliverSynchronizeCallback(uint32_t event, CUcontext context, CUstream stream);

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_CUPTI_CALLBACK_DATA_H_
