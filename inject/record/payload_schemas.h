// What NCCL attaches to its NVTX ranges: bytes, communicator and ranks, found in a payload by the
// names that its schema gives the entries.
//
// Thread safety: any thread may register and read. Reading takes no lock.
#ifndef UTLZ_INJECT_RECORD_PAYLOAD_SCHEMAS_H_
#define UTLZ_INJECT_RECORD_PAYLOAD_SCHEMAS_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "inject/driver/nvtx_abi.h"

namespace utlz::agent {

// What a payload says of one call. Absent: `has_bytes` is false, the other fields are zero.
struct CallDetails {
  uint64_t bytes = 0;  // of one message, as the caller counted it
  uint64_t communicator = 0;
  uint32_t ranks = 0;
  bool has_bytes = false;
};

class PayloadSchemas {
 public:
  static constexpr uint32_t kMaxSchemas = 128;  // NCCL 2.28 has 24
  static constexpr size_t kMaxEntries = 32;
  static constexpr size_t kMaxPayloads = 4;  // read of one event

  // Keeps the schema, if any of its entries is one of ours and there is room.
  void Register(nvtx::Domain domain, const nvtx::SchemaAttributes& schema);
  // Adds to `details` what the payloads hold; those without a schema, or too short for it, nothing.
  void Read(nvtx::Domain domain, const nvtx::PayloadData* payloads, size_t count,
            CallDetails* details) const;

 private:
  struct Field {
    uint64_t offset;
    uint32_t size;  // 0: the schema has no such entry
    bool is_signed;
  };
  struct Schema {
    nvtx::Domain domain;
    uint64_t id;
    uint64_t static_size;
    Field bytes, communicator, ranks;
  };

  static void Describe(const nvtx::SchemaAttributes& attributes, Schema* schema);
  const Schema* Find(nvtx::Domain domain, uint64_t id) const;

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;  // held while one is added
  std::atomic<uint32_t> count_{0};
  Schema schemas_[kMaxSchemas] = {};
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_PAYLOAD_SCHEMAS_H_
