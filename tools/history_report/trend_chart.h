// Charts of the history's page, as SVG. Pure, thread-safe.
#ifndef UTLZ_TOOLS_HISTORY_REPORT_TREND_CHART_H_
#define UTLZ_TOOLS_HISTORY_REPORT_TREND_CHART_H_

#include <optional>
#include <string>
#include <vector>

namespace utlz {

struct TrendPoint {
  std::optional<double> value;  // finite and not negative; nothing leaves a gap in the line
  std::string label;            // what pointing at it shows; HTML. Empty: it has no mark
};

struct TrendSize {
  int width = 0;  // pixels
  int height = 0;
};

// A line from the left to the right, equally far from point to point, from zero at the bottom to
// `top`. `name` says to a screen reader what it shows; HTML. Empty where no value is known.
std::string TrendChart(const std::vector<TrendPoint>& points, double top, TrendSize size,
                       const std::string& name);

// The largest value; 0 where none is known.
double TopOf(const std::vector<TrendPoint>& points);

}  // namespace utlz

#endif  // UTLZ_TOOLS_HISTORY_REPORT_TREND_CHART_H_
