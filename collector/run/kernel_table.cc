#include "collector/run/kernel_table.h"

#include <algorithm>
#include <utility>

#include "collector/kernel_names/kernel_class.h"
#include "collector/kernel_names/kernel_name.h"

namespace utlz {
namespace {

void AppendNumber(uint32_t value, std::string* key) {
  key->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Registers and shared memory tell functions of one name in two modules apart.
std::string KeyOf(uint32_t device, const VariantShape& shape, std::string_view name) {
  std::string key;
  AppendNumber(device, &key);
  for (int axis = 0; axis < 3; ++axis) {
    AppendNumber(shape.grid[axis], &key);
    AppendNumber(shape.block[axis], &key);
    AppendNumber(shape.cluster[axis], &key);
  }
  AppendNumber(shape.registers_per_thread, &key);
  AppendNumber(shape.shared_bytes, &key);
  AppendNumber(shape.flags & VARIANT_OVERFLOW, &key);
  key += name;
  return key;
}

}  // namespace

KernelShare* Kernel::KnownShareOf(uint32_t source) {
  const auto found = std::find_if(shares.begin(), shares.end(), [=](const KernelShare& share) {
    return share.source == source;
  });
  if (found == shares.end()) return nullptr;
  if (found != shares.begin()) std::iter_swap(shares.begin(), found);
  return &shares.front();
}

KernelShare* Kernel::ShareOf(uint32_t source) {
  if (KernelShare* known = KnownShareOf(source)) return known;
  shares.insert(shares.begin(), KernelShare());
  shares.front().source = source;
  return &shares.front();
}

KernelShare* KernelTable::ShareOf(uint32_t kernel, uint32_t source) {
  if (KernelShare* known = kernels_[kernel].KnownShareOf(source)) return known;
  if (!memory_->Take(2 * sizeof(KernelShare))) return nullptr;
  return kernels_[kernel].ShareOf(source);
}

uint32_t KernelTable::Insert(const std::string& key, Kernel kernel) {
  const auto index = static_cast<uint32_t>(kernels_.size());
  kernels_.push_back(std::move(kernel));
  index_by_key_.emplace(key, index);
  return index;
}

uint32_t KernelTable::Resolve(const ProcessState& process, uint32_t variant, uint32_t device) {
  const VariantShape shape =
      variant < process.variants.size() ? process.variants[variant] : VariantShape{};
  std::string_view name;
  if (shape.name < process.strings.size()) name = process.strings[shape.name];
  name = name.substr(0, kMaxNameBytes);
  const std::string key = KeyOf(device, shape, name);
  const auto found = index_by_key_.find(key);
  if (found != index_by_key_.end()) return found->second;
  if (kernels_.size() < kMaxKernels &&
      memory_->Take(2 * (sizeof(Kernel) + key.size() + name.size()))) {
    Kernel kernel;
    kernel.device = device;
    kernel.mangled_name = name;
    kernel.shape = shape;
    kernel.communication = IsCommunicationKernel(name);
    kernel.doubles = SpeaksOfDoubles(DemangleKernelName(name));
    kernel.profiler = IsProfilerKernel(name);
    return Insert(key, std::move(kernel));
  }
  return OthersOf(device);
}

uint32_t KernelTable::OthersOf(uint32_t device) {
  const std::string other_key = "other " + std::to_string(device);
  const auto other = index_by_key_.find(other_key);
  if (other != index_by_key_.end()) return other->second;
  Kernel kernel;
  kernel.device = device;
  kernel.other = true;
  return Insert(other_key, std::move(kernel));
}

uint32_t KernelTable::Find(ProcessState* process, uint32_t variant, uint32_t device) {
  std::vector<uint32_t>& known = process->kernel_by_variant[device];
  // Variants that were never announced share the first place, or they could take any memory.
  const bool announced = variant < process->variants.size();
  const size_t place = announced ? variant + size_t{1} : 0;
  if (place >= known.size()) {
    const size_t places = process->variants.size() + 1;
    const size_t bytes = (places - known.size()) * sizeof(uint32_t);
    if (!memory_->Take(bytes)) return OthersOf(device);
    process->naming_bytes += bytes;
    known.resize(places);
  }
  if (known[place] == 0) {
    const uint32_t index = Resolve(*process, variant, device);
    known[place] = index + 1;
    if (announced && process->variants[variant].graph_node != 0) ++kernels_[index].graph_nodes;
  }
  return known[place] - 1;
}

}  // namespace utlz
