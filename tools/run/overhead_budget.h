// The budget as people write it.
#ifndef UTLZ_TOOLS_RUN_OVERHEAD_BUDGET_H_
#define UTLZ_TOOLS_RUN_OVERHEAD_BUDGET_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace utlz {

// "1%", "0.5 %" or "unlimited"; in millionths, 0 = unlimited. Above 0 and up to 100 %.
absl::StatusOr<uint32_t> ParseOverheadBudget(const std::string& text);

}  // namespace utlz

#endif  // UTLZ_TOOLS_RUN_OVERHEAD_BUDGET_H_
