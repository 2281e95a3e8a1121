#include "inject/record/variant_table.h"

#include <algorithm>
#include <iterator>

#include "inject/base/memory.h"

namespace utlz::agent {
namespace {

constexpr uint32_t kSlots = VariantTable::kMaxVariants * 2;
constexpr uint32_t kMaxOtherPointers = 4096;

VariantKey KeyOf(const cupti::KernelRecord& record) {
  VariantKey key{};
  key.name_pointer = record.name;
  key.graph_node = record.graph_node_id;
  key.grid_x = record.grid_x;
  key.grid_y = record.grid_y;
  key.grid_z = record.grid_z;
  key.block_x = record.block_x;
  key.block_y = record.block_y;
  key.block_z = record.block_z;
  key.static_shared_bytes = record.static_shared_memory;
  key.dynamic_shared_bytes = record.dynamic_shared_memory;
  key.local_bytes_per_thread = record.local_memory_per_thread;
  key.cluster_x = record.cluster_x;
  key.cluster_y = record.cluster_y;
  key.cluster_z = record.cluster_z;
  key.graph = record.graph_id;
  key.registers_per_thread = record.registers_per_thread;
  key.cooperative = record.launch_type == cupti::kLaunchTypeCooperative;
  return key;
}

static_assert(offsetof(VariantKey, local_bytes_per_thread) - offsetof(VariantKey, grid_x) ==
              offsetof(cupti::KernelRecord, local_memory_per_thread) -
                  offsetof(cupti::KernelRecord, grid_x));
static_assert(offsetof(VariantKey, cluster_z) - offsetof(VariantKey, cluster_x) ==
              offsetof(cupti::KernelRecord, cluster_z) - offsetof(cupti::KernelRecord, cluster_x));

}  // namespace

bool VariantTable::Create(StringTable* strings) {
  strings_ = strings;
  variants_ = MapArray<Variant>(kMaxVariants);
  slots_ = MapArray<uint32_t>(kSlots);
  first_pointer_ = MapArray<const char*>(StringTable::kMaxStrings);
  other_pointer_ = MapArray<const char*>(kMaxOtherPointers);
  if (variants_ == nullptr || slots_ == nullptr || first_pointer_ == nullptr ||
      other_pointer_ == nullptr) {
    return false;
  }
  AddOverflow();
  return true;
}

void VariantTable::AddOverflow() {
  count_ = kFirst;
  VariantKey overflow{};
  overflow.overflow = true;
  Add(overflow, strings_->Intern("(kernel variants beyond the table)"));
}

void VariantTable::Clear() {
  ClearArray(variants_, kMaxVariants);
  ClearArray(slots_, kSlots);
  ClearArray(first_pointer_, StringTable::kMaxStrings);
  ClearArray(other_pointer_, kMaxOtherPointers);
  std::fill(std::begin(recent_), std::end(recent_), 0);
  std::fill(std::begin(name_checks_), std::end(name_checks_), NameCheck{});
  others_ = 0;
  AddOverflow();
}

uint32_t VariantTable::ModuleOf(uint32_t name, const char* pointer) {
  const char*& first = first_pointer_[name];
  if (first == nullptr) first = pointer;
  if (first == pointer) return 0;
  for (uint32_t i = 0; i < others_; ++i) {
    if (other_pointer_[i] == pointer) return i + 1;
  }
  if (others_ < kMaxOtherPointers) other_pointer_[others_++] = pointer;
  return others_;
}

uint32_t VariantTable::Add(const VariantKey& key, uint32_t name) {
  const uint32_t id = count_++;
  variants_[id].key = key;
  variants_[id].name = name;
  variants_[id].module = ModuleOf(name, key.name_pointer);
  variants_[id].name_checked = buffer_;
  return id;
}

// Many variants share a name, which is compared once for all of them.
bool VariantTable::NameHolds(Variant* variant) {
  const char* pointer = variant->key.name_pointer;
  const uint64_t hash = reinterpret_cast<uintptr_t>(pointer) * 0x9e3779b97f4a7c15u;
  NameCheck& check = name_checks_[(hash >> 32) % kNameChecks];
  if (check.pointer != pointer || check.buffer != buffer_) {
    if (!strings_->Equals(variant->name, pointer)) return false;
    check = {pointer, buffer_, variant->name};
  }
  if (check.name != variant->name) return false;
  variant->name_checked = buffer_;
  return true;
}

uint32_t VariantTable::FindInTable(const cupti::KernelRecord& record, uint64_t hash) {
  uint32_t slot = static_cast<uint32_t>(hash >> 10) % kSlots;
  while (slots_[slot] != 0) {
    if (Is(slots_[slot], record)) return slots_[slot];
    slot = (slot + 1) % kSlots;
  }
  if (count_ >= kMaxVariants) return kOverflow;
  slots_[slot] = Add(KeyOf(record), strings_->Intern(record.name));
  return slots_[slot];
}

}  // namespace utlz::agent
