// Reads fatbins. nvcc puts the kernels of a program into its section `.nv_fatbin`, as one fatbin
// after another. A fatbin has an entry for each compute capability that nvcc compiled for. An entry
// holds a cubin, which is machine code in an ELF file, or PTX, and may be compressed.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_FATBIN_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_FATBIN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "collector/kernel_code/byte_source.h"

namespace utlz {

constexpr size_t kMostCompressedCubinBytes = size_t{64} << 20;
constexpr size_t kMostCubinBytes = size_t{256} << 20;

bool IsFatbin(const ByteSource& source);

class FatbinReader {
 public:
  // Cubins of this compute capability alone: 90 for 9.0.
  explicit FatbinReader(int compute_capability) : compute_capability_(compute_capability) {}

  // Of a cubin: where its entry begins in the source, and its bytes, which stay until the next one.
  using Cubin = std::function<bool(uint64_t place, std::string_view bytes)>;

  // Hands the cubins of these bytes of the source to `cubin`, in their order, until it returns
  // false. Cubins that are too large, damaged, or compressed by another way than zstd are left out.
  // An error where what was read of one reader, over all calls, is more than any library needs:
  // 200,000 entries, or cubins of 4 GiB. What follows damage in a fatbin is left out.
  absl::Status Read(const ByteSource& source, uint64_t offset, uint64_t size, const Cubin& cubin);
  // The cubin whose entry begins at a place that Read named. Empty where it is left out, or where
  // something else is there by now.
  std::string_view ReadAgain(const ByteSource& source, uint64_t place);

 private:
  struct Entry;

  enum class Next { kGoOn, kEnough, kDamaged };
  absl::Status ReadContainer(const ByteSource& source, uint64_t offset, uint64_t end,
                             const Cubin& cubin, Next* next);
  // Whether an entry is a cubin of this compute capability.
  bool IsOurs(const Entry& entry) const;
  // Empty where the entry is left out.
  std::string_view CubinOf(const ByteSource& source, uint64_t offset, const Entry& entry);

  const int compute_capability_;
  uint64_t entries_ = 0;
  uint64_t cubin_bytes_ = 0;
  std::vector<char> compressed_ = {};
  std::vector<char> cubin_ = {};
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_FATBIN_H_
