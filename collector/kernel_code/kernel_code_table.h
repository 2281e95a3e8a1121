// The code of a run's kernels, by function and compute capability. Bounded; what comes beyond is
// not kept. Thread safety: none.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_KERNEL_CODE_TABLE_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_KERNEL_CODE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace utlz {

struct KernelCode;

class KernelCodeTable {
 public:
  static constexpr size_t kMostKernels = 8192;
  static constexpr size_t kMostWords = size_t{8} << 20;  // of all of them: KernelCodeRecord.words

  // False where the words are no code, or there is no room. The first of a name is kept.
  bool Add(const std::string& mangled_name, uint32_t compute_capability,
           std::span<const uint32_t> words);

  // Null: not known. Valid as long as the table.
  const KernelCode* Find(std::string_view mangled_name, uint32_t compute_capability) const;

 private:
  std::map<std::pair<std::string, uint32_t>, std::shared_ptr<const KernelCode>> codes_;
  size_t words_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_KERNEL_CODE_TABLE_H_
