// What NCCL says of its calls through NVTX: which function begins and ends on which thread, and how
// many bytes it was given. CUPTI answers NVTX and hands over ranges, but not their payloads (before
// 13.0, or those of a range's end at all); so the functions that CUPTI put into NVTX's tables are
// wrapped, and calls in the domain "NCCL" are noted on their way. Other domains are passed on.
//
// Threads: NVTX's, which are the target's; no lock on their way but where a name or a schema is met
// for the first time. TakeCommunicationCall: one thread at a time.
#ifndef UTLZ_INJECT_RECORD_COMMUNICATION_CALLS_H_
#define UTLZ_INJECT_RECORD_COMMUNICATION_CALLS_H_

#include <cstdint>

#include "inject/driver/nvtx_abi.h"
#include "inject/record/call_queue.h"
#include "inject/record/payload_schemas.h"

namespace utlz::agent {

// A function begins, or the innermost one of the thread ends.
struct CommunicationCall {
  uint64_t time_ns;   // CLOCK_REALTIME
  uint32_t thread;    // as CUPTI's records name it
  uint32_t function;  // for CommunicationFunctionName; 0 = the end of the innermost one
  CallDetails details;
};

// Wraps the functions of one copy of NVTX, after CUPTI has filled them in. Where CUPTI left one
// empty, or gave this copy others than an earlier one, the copy stays as it is.
void WatchCommunication(nvtx::GetExportTable get_export_table);
// Takes the payload extension's functions over; false for other extensions.
bool WatchPayloads(nvtx::ExtensionModule* module);

// Whether anything is watched.
bool WatchesCommunication();
// The next call, in the order of its thread.
bool TakeCommunicationCall(CommunicationCall* call);
uint64_t TakeLostCommunicationCalls();
const char* CommunicationFunctionName(uint32_t function);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_COMMUNICATION_CALLS_H_
