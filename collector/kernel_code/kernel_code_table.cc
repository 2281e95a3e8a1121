#include "collector/kernel_code/kernel_code_table.h"

#include <optional>
#include <utility>

#include "collector/kernel_code/kernel_code.h"
#include "collector/kernel_code/packed_code.h"

namespace utlz {

bool KernelCodeTable::Add(const std::string& mangled_name, uint32_t compute_capability,
                          std::span<const uint32_t> words) {
  if (codes_.size() >= kMostKernels || words.size() > kMostWords - words_) return false;
  std::optional<KernelCode> code = UnpackCode(compute_capability, words);
  if (!code.has_value()) return false;
  std::shared_ptr<const KernelCode> kept = std::make_shared<KernelCode>(*std::move(code));
  if (codes_.emplace(std::pair(mangled_name, compute_capability), std::move(kept)).second) {
    words_ += words.size();
  }
  return true;
}

const KernelCode* KernelCodeTable::Find(std::string_view mangled_name,
                                        uint32_t compute_capability) const {
  const auto found = codes_.find(std::pair(std::string(mangled_name), compute_capability));
  return found == codes_.end() ? nullptr : found->second.get();
}

}  // namespace utlz
