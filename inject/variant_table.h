// Kernel variants: a function (module, name, registers, shared memory) with one grid, block and
// cluster; graph nodes by node. Found by hash for every launch record, so lookups neither allocate
// nor hash the name: the name's pointer is hashed and its text compared with the interned one.
// Guarded by the agent's encode lock.
#ifndef UTLZ_INJECT_VARIANT_TABLE_H_
#define UTLZ_INJECT_VARIANT_TABLE_H_

#include <cstdint>

#include "inject/cupti_abi.h"
#include "inject/string_table.h"

namespace utlz::inject {

struct VariantKey {
  const char* name_pointer;
  uint64_t graph_node;
  uint32_t graph;
  uint32_t grid_x, grid_y, grid_z;
  uint32_t block_x, block_y, block_z;
  uint32_t cluster_x, cluster_y, cluster_z;
  uint32_t static_shared_bytes, dynamic_shared_bytes;
  uint32_t local_bytes_per_thread;
  uint16_t registers_per_thread;
  uint16_t flags;  // VariantFlag of profile.proto
  bool operator==(const VariantKey&) const = default;
};

struct Variant {
  VariantKey key;
  uint32_t name;    // string identifier
  uint32_t module;  // 0 = first place that the name was seen at
  // Predictors of LaunchBatch; valid where `batch` is the current one.
  uint32_t batch;
  uint32_t next;
  int64_t last_gap_ns;
  int64_t last_duration_ns;
};

class VariantTable {
 public:
  static constexpr uint32_t kMaxVariants = 1 << 18;

  bool Create(StringTable* strings);
  // Empty again, its memory given back; after the string table was cleared.
  void Clear();
  // The identifier of the record's variant. Once the table is full, kOverflow.
  uint32_t Find(const cupti::KernelRecord& record);
  Variant& At(uint32_t id) { return variants_[id]; }
  uint32_t size() const { return count_; }

  // Identifier 0 is reserved: LaunchBatch's "previous variant" of the first launch.
  static constexpr uint32_t kFirst = 1;
  static constexpr uint32_t kOverflow = 1;

 private:
  void AddOverflow();
  uint32_t Add(const VariantKey& key, uint32_t name);
  uint32_t ModuleOf(uint32_t name, const char* pointer);

  StringTable* strings_ = nullptr;
  Variant* variants_ = nullptr;
  uint32_t* slots_ = nullptr;         // open addressing; identifier, 0 = free
  const char** first_pointer_ = nullptr;  // by string identifier
  const char** other_pointer_ = nullptr;  // further places of names, in order of appearance
  uint32_t others_ = 0;
  uint32_t count_ = 0;
};

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_VARIANT_TABLE_H_
