// Kernel variants: a function (module, name, registers, shared memory) with one grid, block and
// cluster; graph nodes by node. Each launch record is looked up here, so a lookup neither allocates
// nor reads the name: it compares the name's pointer, and once a buffer what that points to.
// Guarded by the agent's encode lock.
#ifndef UTLZ_INJECT_RECORD_VARIANT_TABLE_H_
#define UTLZ_INJECT_RECORD_VARIANT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "inject/driver/cupti_abi.h"
#include "inject/record/string_table.h"

namespace utlz::agent {

// What tells variants apart, as the record has it: grid_x to local_bytes_per_thread and the cluster
// stand in the record's order, so that each is one comparison.
struct VariantKey {
  const char* name_pointer;
  uint64_t graph_node;
  int32_t grid_x, grid_y, grid_z;
  int32_t block_x, block_y, block_z;
  int32_t static_shared_bytes, dynamic_shared_bytes;
  uint32_t local_bytes_per_thread;
  uint32_t cluster_x, cluster_y, cluster_z;
  uint32_t graph;
  uint16_t registers_per_thread;
  bool cooperative;
  bool overflow;  // the table was full: stands for many variants

  bool Describes(const cupti::KernelRecord& record) const;
};

struct Variant {
  VariantKey key;
  uint32_t name;          // string identifier
  uint32_t module;        // 0 = first place that the name was seen at
  uint32_t name_checked;  // the last buffer for which the name's pointer still meant `name`
  // Predictors of LaunchBatch; valid where `batch` is the current one.
  uint32_t batch;
  uint32_t next;
  uint32_t captured_stack;  // of a graph's node; 0: not seen
  int64_t last_gap_ns;
  int64_t last_duration_ns;
};

class VariantTable {
 public:
  static constexpr uint32_t kMaxVariants = 1 << 18;

  bool Create(StringTable* strings);
  // Empty again, its memory given back; after the string table was cleared.
  void Clear();
  // From here on records may be of another buffer. What a name's pointer points to is one text for
  // all records of a buffer, since it is read now, but may have changed since the last buffer.
  void BeginBuffer() { ++buffer_; }
  // The identifier of the record's variant. Once the table is full, kOverflow.
  uint32_t Find(const cupti::KernelRecord& record);
  Variant& At(uint32_t id) { return variants_[id]; }
  const Variant& At(uint32_t id) const { return variants_[id]; }
  uint32_t size() const { return count_; }

  // Identifier 0 is reserved: LaunchBatch's "previous variant" of the first launch.
  static constexpr uint32_t kFirst = 1;
  static constexpr uint32_t kOverflow = 1;

 private:
  void AddOverflow();
  static constexpr uint32_t kRecent = 1024;
  static constexpr uint32_t kNameChecks = 1024;
  struct NameCheck {
    const char* pointer;
    uint32_t buffer;
    uint32_t name;
  };

  static uint64_t HashOf(const cupti::KernelRecord& record);
  bool Is(uint32_t id, const cupti::KernelRecord& record);
  bool NameHolds(Variant* variant);
  uint32_t FindInTable(const cupti::KernelRecord& record, uint64_t hash);
  uint32_t Add(const VariantKey& key, uint32_t name);
  uint32_t ModuleOf(uint32_t name, const char* pointer);

  StringTable* strings_ = nullptr;
  Variant* variants_ = nullptr;
  uint32_t* slots_ = nullptr;             // open addressing; identifier, 0 = free
  const char** first_pointer_ = nullptr;  // by string identifier
  const char** other_pointer_ = nullptr;  // further places of names, in order of appearance
  uint32_t others_ = 0;
  uint32_t count_ = 0;
  uint32_t buffer_ = 0;
  uint32_t recent_[kRecent] = {};            // by hash: the variant last found there; 0 = none
  NameCheck name_checks_[kNameChecks] = {};  // by pointer
};

namespace variant_table_internal {
template <typename T>
T Load(const void* place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}
inline uint64_t Load64(const void* base, size_t offset) {
  return Load<uint64_t>(static_cast<const char*>(base) + offset);
}
// Zero where the `bytes` at both places, a multiple of 4, are the same.
template <size_t bytes>
uint64_t Difference(const void* a, const void* b) {
  uint64_t difference = 0;
  for (size_t i = 0; i + 8 <= bytes; i += 8) difference |= Load64(a, i) ^ Load64(b, i);
  if constexpr (bytes % 8 != 0) {
    difference |= Load<uint32_t>(static_cast<const char*>(a) + bytes - 4) ^
                  Load<uint32_t>(static_cast<const char*>(b) + bytes - 4);
  }
  return difference;
}
}  // namespace variant_table_internal

// Without a branch, since a difference is found as likely here as there.
inline bool VariantKey::Describes(const cupti::KernelRecord& record) const {
  using variant_table_internal::Difference;
  constexpr size_t kShapeBytes = 9 * sizeof(int32_t), kClusterBytes = 3 * sizeof(uint32_t);
  uint64_t difference =
      reinterpret_cast<uintptr_t>(name_pointer) ^ reinterpret_cast<uintptr_t>(record.name);
  difference |= graph_node ^ record.graph_node_id;
  difference |= Difference<kShapeBytes>(&grid_x, &record.grid_x);
  difference |= Difference<kClusterBytes>(&cluster_x, &record.cluster_x);
  difference |= graph ^ record.graph_id;
  difference |= static_cast<uint64_t>(registers_per_thread ^ record.registers_per_thread);
  difference |=
      static_cast<uint64_t>(cooperative != (record.launch_type == cupti::kLaunchTypeCooperative));
  return difference == 0;
}

inline uint64_t VariantTable::HashOf(const cupti::KernelRecord& record) {
  using variant_table_internal::Load64;
  // Independent products, so that they overlap.
  uint64_t hash = (reinterpret_cast<uintptr_t>(record.name) ^ record.registers_per_thread) *
                  0x9e3779b97f4a7c15u;
  hash ^= (record.graph_node_id ^ uint64_t{record.graph_id} << 40) * 0xc2b2ae3d27d4eb4fu;
  hash ^= Load64(&record, offsetof(cupti::KernelRecord, grid_x)) * 0x165667b19e3779f9u;
  hash ^= Load64(&record, offsetof(cupti::KernelRecord, grid_z)) * 0x27d4eb2f165667c5u;
  hash ^=
      (Load64(&record, offsetof(cupti::KernelRecord, static_shared_memory)) ^ record.cluster_x) *
      0x85ebca77c2b2ae63u;
  return hash ^ hash >> 32;
}

inline bool VariantTable::Is(uint32_t id, const cupti::KernelRecord& record) {
  Variant& variant = variants_[id];
  return variant.key.Describes(record) && (variant.name_checked == buffer_ || NameHolds(&variant));
}

inline uint32_t VariantTable::Find(const cupti::KernelRecord& record) {
  const uint64_t hash = HashOf(record);
  uint32_t& recent = recent_[hash % kRecent];
  if (recent != 0 && Is(recent, record)) return recent;
  recent = FindInTable(record, hash);
  return recent;
}

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_VARIANT_TABLE_H_
