// CUPTI's records of copies and memory sets, as the recorder sends them.
#ifndef UTLZ_INJECT_RECORD_COPY_RECORDS_H_
#define UTLZ_INJECT_RECORD_COPY_RECORDS_H_

#include "inject/driver/cupti_abi.h"
#include "inject/record/copy_encoder.h"

namespace utlz::agent {

Copy CopyOf(const cupti::MemcpyRecord& record);
// Whether its memory is pageable is not known.
Copy CopyOf(const cupti::PeerCopyRecord& record);
Copy CopyOf(const cupti::MemsetRecord& record);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_COPY_RECORDS_H_
