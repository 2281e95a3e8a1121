#include "tools/run/overhead_budget.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace utlz {

absl::StatusOr<uint32_t> ParseOverheadBudget(const std::string& text) {
  if (text == "unlimited") return 0;
  absl::string_view number = text;
  double percent = 0;
  const bool has_unit = absl::ConsumeSuffix(&number, "%");
  if (!has_unit || !absl::SimpleAtod(absl::StripAsciiWhitespace(number), &percent) ||
      !(percent >= 0.0001 && percent <= 100)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text,
                     "' is no overhead budget: write a percentage from 0.0001% to 100%, such as "
                     "1%, or unlimited"));
  }
  return static_cast<uint32_t>(std::lround(percent * 1e4));
}

}  // namespace utlz
