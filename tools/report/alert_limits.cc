#include "tools/report/alert_limits.h"

#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace utlz {
namespace {

// An alert is off where its limit can never be crossed.
struct Limit {
  absl::string_view name;
  bool share = false;
  bool crossed_below = false;
};

constexpr Limit kLimits[] = {
    {.name = "busy_high", .share = true},
    {.name = "sm_active_low", .share = true, .crossed_below = true},
    {.name = "busy_some", .share = true},
    {.name = "efficiency_low", .share = true, .crossed_below = true},
    {.name = "idle_seconds"},
    {.name = "memory_full", .share = true},
    {.name = "memory_growth"},
    {.name = "temperature"},
    {.name = "clock_low", .share = true, .crossed_below = true},
};

const Limit* Find(absl::string_view name) {
  for (const Limit& limit : kLimits) {
    if (limit.name == name) return &limit;
  }
  return nullptr;
}

absl::StatusOr<double> ParseValue(const Limit& limit, absl::string_view text) {
  if (text == "off") {
    const double never = std::numeric_limits<double>::infinity();
    return limit.crossed_below ? -never : never;
  }
  absl::string_view number = text;
  const bool percent = absl::ConsumeSuffix(&number, "%");
  double value = 0;
  if (percent == limit.share && absl::SimpleAtod(number, &value) && std::isfinite(value) &&
      value >= 0) {
    if (limit.share && value > 100) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--alert ", limit.name, ": ", text, " is more than all of it; give up to 100%, or off"));
    }
    return limit.share ? value / 100 : value;
  }
  return absl::InvalidArgumentError(absl::StrCat("--alert ", limit.name, ": '", text, "' is no ",
                                                 limit.share ? "percentage such as 30%" : "number",
                                                 ", nor off"));
}

}  // namespace

absl::StatusOr<AlertLimits> ParseAlertLimits(const std::vector<std::string>& words) {
  AlertLimits limits;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const Limit* limit = Find(absl::string_view(word).substr(0, equals));
    if (equals == std::string::npos || limit == nullptr) {
      std::string message =
          absl::StrCat("--alert ", word, ": write NAME=VALUE, where NAME is one of");
      for (const Limit& known : kLimits) absl::StrAppend(&message, " ", known.name);
      return absl::InvalidArgumentError(message);
    }
    const absl::StatusOr<double> value =
        ParseValue(*limit, absl::string_view(word).substr(equals + 1));
    if (!value.ok()) return value.status();
    const auto* field = AlertLimits::descriptor()->FindFieldByName(std::string(limit->name));
    limits.GetReflection()->SetDouble(&limits, field, *value);
  }
  return limits;
}

}  // namespace utlz
