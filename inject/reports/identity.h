// Writes what the agent reports of the process and its devices: the Process and Device messages.
#ifndef UTLZ_INJECT_REPORTS_IDENTITY_H_
#define UTLZ_INJECT_REPORTS_IDENTITY_H_

#include "inject/base/pb_writer.h"
#include "inject/driver/cuda_api.h"
#include "inject/driver/cupti_api.h"

namespace utlz::agent {

void WriteProcess(const CuptiApi& cupti, const CudaApi& cuda, ByteBuffer* message);

// Whether this process is a client of MPS, or may be: it names MPS's folder, or the default one has
// a control pipe.
bool MayUseMps(const char* default_folder);

// False where there is no such device, or the driver is not ready yet.
bool WriteDevice(const CudaApi& cuda, int ordinal, ByteBuffer* message);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_REPORTS_IDENTITY_H_
