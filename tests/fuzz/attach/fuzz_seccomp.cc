// Seccomp filters of any instructions: they are run here before a call is made under them.
#include <linux/filter.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tools/attach/seccomp_filter.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace utlz::attach;
  SeccompFilter filter(size / sizeof(sock_filter));
  if (!filter.empty()) std::memcpy(filter.data(), data, filter.size() * sizeof(sock_filter));
  const SyscallArguments arguments = {1, 2, 3, 4, 5, 6};
  const auto first = RunSeccompFilter(filter, 9, arguments, 0x1000);
  if (RunSeccompFilter(filter, 9, arguments, 0x1000) != first) std::abort();
  const bool allowed = CheckSeccompFilters({filter}).ok();
  // One more filter never allows what another forbids.
  if (!allowed && CheckSeccompFilters({filter, filter}).ok()) std::abort();
  return 0;
}
