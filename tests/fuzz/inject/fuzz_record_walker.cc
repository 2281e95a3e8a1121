// Buffers of a CUPTI whose kernel records have one length and whose other records have any: the
// walker, which steps over most kernel records by itself, finds exactly the records that CUPTI
// does.
//
// Input: the length of kernel records, then records of a kind and a length; a kind of zero ends a
// buffer.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "inject/record/record_walker.h"
#include "tests/support/fuzz_bytes.h"

namespace utlz::agent {
namespace {

constexpr size_t kLengthOffset = 8;  // in every record of ours
constexpr size_t kMostBufferBytes = 64 << 10;

struct Place {
  uint32_t offset;
  uint32_t bytes;
};

uint32_t LengthAt(const uint8_t* record) {
  uint32_t bytes = 0;
  std::memcpy(&bytes, record + kLengthOffset, sizeof(bytes));
  return bytes;
}

cupti::Result NextRecord(uint8_t* buffer, size_t valid_bytes, cupti::RecordHead** record) {
  uint8_t* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<uint8_t*>(*record);
    next += LengthAt(next);
  }
  if (next >= buffer + valid_bytes) return cupti::kErrorMaxLimitReached;
  *record = reinterpret_cast<cupti::RecordHead*>(next);
  return cupti::kSuccess;
}

class Buffer {
 public:
  void Add(uint32_t kind, uint32_t bytes) {
    const size_t offset = bytes_.size();
    bytes_.resize(offset + bytes);
    // A wrong step ends in what looks like a kernel record.
    for (size_t place = offset; place < bytes_.size(); place += 8) {
      std::memcpy(&bytes_[place], &cupti::kKindConcurrentKernel, sizeof(kind));
    }
    std::memcpy(&bytes_[offset], &kind, sizeof(kind));
    std::memcpy(&bytes_[offset + kLengthOffset], &bytes, sizeof(bytes));
    places_.push_back({static_cast<uint32_t>(offset), bytes});
  }
  size_t size() const { return bytes_.size(); }

  // In memory of exactly the buffer's size.
  void CheckWalk(RecordWalker* walker) const {
    std::vector<uint8_t> memory(bytes_.begin(), bytes_.end());
    walker->Begin(NextRecord, memory.data(), memory.size());
    for (const Place& place : places_) {
      const cupti::RecordHead* record = walker->Next();
      if (reinterpret_cast<const uint8_t*>(record) != memory.data() + place.offset) std::abort();
    }
    if (walker->Next() != nullptr) std::abort();
  }

 private:
  std::vector<uint8_t> bytes_;
  std::vector<Place> places_;
};

}  // namespace
}  // namespace utlz::agent

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace utlz::agent;
  utlz::FuzzBytes input(bytes, size);
  RecordWalker walker;
  while (!input.empty()) {
    Buffer buffer;
    const auto kernel_bytes =
        static_cast<uint32_t>((sizeof(cupti::KernelRecord) + 7 + input.Take<uint8_t>() * 8u) & ~7u);
    while (!input.empty() && buffer.size() < kMostBufferBytes) {
      const uint32_t kind = input.Take<uint8_t>() % 16;
      const uint32_t other_bytes = 16 + input.Take<uint8_t>() * 8u;
      if (kind == 0) break;
      const bool is_kernel = kind == cupti::kKindConcurrentKernel || kind > 12;
      const uint32_t repeated = kind > 12 ? other_bytes / 32 : 1;
      for (uint32_t i = 0; i < repeated; ++i) {
        buffer.Add(is_kernel ? cupti::kKindConcurrentKernel : kind,
                   is_kernel ? kernel_bytes : other_bytes);
      }
    }
    buffer.CheckWalk(&walker);
  }
  return 0;
}
