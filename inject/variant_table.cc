#include "inject/variant_table.h"

#include "inject/memory.h"

namespace utlz::inject {
namespace {

constexpr uint32_t kSlots = VariantTable::kMaxVariants * 2;
constexpr uint32_t kMaxOtherPointers = 4096;
// VariantFlag values of profile.proto.
constexpr uint16_t kFlagCooperative = 1;
constexpr uint16_t kFlagOverflow = 4;

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

uint32_t HashOf(const VariantKey& key) {
  uint64_t hash = Mix(0, reinterpret_cast<uintptr_t>(key.name_pointer));
  hash = Mix(hash, key.graph_node);
  hash = Mix(hash, key.grid_x | uint64_t{key.grid_y} << 32);
  hash = Mix(hash, key.grid_z | uint64_t{key.block_x} << 32);
  hash = Mix(hash, key.block_y ^ uint64_t{key.dynamic_shared_bytes} << 24 ^
                       uint64_t{key.cluster_x} << 52);
  return static_cast<uint32_t>(hash >> 20) % kSlots;
}

uint32_t Positive(int32_t value) { return value > 0 ? static_cast<uint32_t>(value) : 0; }

VariantKey KeyOf(const cupti::KernelRecord& record) {
  VariantKey key;
  key.name_pointer = record.name;
  key.graph_node = record.graph_node_id;
  key.graph = record.graph_id;
  key.grid_x = Positive(record.grid_x);
  key.grid_y = Positive(record.grid_y);
  key.grid_z = Positive(record.grid_z);
  key.block_x = Positive(record.block_x);
  key.block_y = Positive(record.block_y);
  key.block_z = Positive(record.block_z);
  key.cluster_x = record.cluster_x;
  key.cluster_y = record.cluster_y;
  key.cluster_z = record.cluster_z;
  key.static_shared_bytes = Positive(record.static_shared_memory);
  key.dynamic_shared_bytes = Positive(record.dynamic_shared_memory);
  key.local_bytes_per_thread = record.local_memory_per_thread;
  key.registers_per_thread = record.registers_per_thread;
  key.flags = record.launch_type == cupti::kLaunchTypeCooperative ? kFlagCooperative : 0;
  return key;
}

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
  overflow.flags = kFlagOverflow;
  Add(overflow, strings_->Intern("(kernel variants beyond the table)"));
}

void VariantTable::Clear() {
  ClearArray(variants_, kMaxVariants);
  ClearArray(slots_, kSlots);
  ClearArray(first_pointer_, StringTable::kMaxStrings);
  ClearArray(other_pointer_, kMaxOtherPointers);
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
  return id;
}

uint32_t VariantTable::Find(const cupti::KernelRecord& record) {
  const VariantKey key = KeyOf(record);
  uint32_t slot = HashOf(key);
  while (slots_[slot] != 0) {
    const Variant& variant = variants_[slots_[slot]];
    if (variant.key == key && strings_->Equals(variant.name, key.name_pointer)) return slots_[slot];
    slot = (slot + 1) % kSlots;
  }
  if (count_ >= kMaxVariants) return kOverflow;
  slots_[slot] = Add(key, strings_->Intern(key.name_pointer));
  return slots_[slot];
}

}  // namespace utlz::inject
