// What the collector is told about the process and its devices: the Process, Device and Clocks
// messages.
#ifndef UTLZ_INJECT_IDENTITY_H_
#define UTLZ_INJECT_IDENTITY_H_

#include "inject/cuda_api.h"
#include "inject/cupti_api.h"
#include "inject/cupti_clock.h"
#include "inject/pb_writer.h"

namespace utlz::inject {

void WriteProcess(const CuptiApi& cupti, const CudaApi& cuda, ByteBuffer* message);

// False where there is no such device, or the driver is not ready yet.
bool WriteDevice(const CudaApi& cuda, int ordinal, ByteBuffer* message);

// Readings of CUPTI's clock, real and monotonic time, taken together.
void WriteClocks(const CuptiApi& cupti, const CuptiClock& clock, ByteBuffer* message);

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_IDENTITY_H_
