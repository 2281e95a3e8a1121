// An agent's ring (proto/ring_abi.h), mapped into this process after it was checked.
#ifndef UTLZ_COLLECTOR_INGEST_RING_MAPPING_H_
#define UTLZ_COLLECTOR_INGEST_RING_MAPPING_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/ring_abi.h"

namespace utlz {

class RingMapping {
 public:
  // `fd` must be a memory file of `announced_bytes` that nobody can shrink (F_SEAL_SHRINK), or
  // touching it could kill this process. `fd` stays the caller's and is not needed afterwards.
  static absl::StatusOr<RingMapping> Map(int fd, uint64_t announced_bytes);

  RingMapping(RingMapping&& other) noexcept;
  RingMapping& operator=(RingMapping&& other) noexcept;
  ~RingMapping();

  // Shared with the producer: every word in it may change between two reads.
  RingHeader& header() const { return *header_; }
  const char* data() const { return reinterpret_cast<const char*>(header_) + kRingHeaderBytes; }
  // As checked when it was mapped; never read from the shared header again.
  uint64_t data_bytes() const { return data_bytes_; }
  uint64_t mapped_bytes() const { return data_bytes_ + kRingHeaderBytes; }

 private:
  RingMapping(RingHeader* header, uint64_t data_bytes) : header_(header), data_bytes_(data_bytes) {}

  RingHeader* header_;
  uint64_t data_bytes_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_INGEST_RING_MAPPING_H_
