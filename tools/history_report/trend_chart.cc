#include "tools/history_report/trend_chart.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace utlz {
namespace {

// So that a mark at the edge is whole.
constexpr double kMargin = 4;

class Plane {
 public:
  Plane(size_t points, double top, TrendSize size) : points_(points), top_(top), size_(size) {}

  double X(size_t index) const {
    const double share =
        points_ > 1 ? static_cast<double>(index) / static_cast<double>(points_ - 1) : 0.5;
    return kMargin + share * (size_.width - 2 * kMargin);
  }
  double Y(double value) const {
    const double share = top_ > 0 ? std::clamp(value / top_, 0.0, 1.0) : 0;
    return size_.height - kMargin - share * (size_.height - 2 * kMargin);
  }

 private:
  size_t points_;
  double top_;
  TrendSize size_;
};

// A piece for each stretch of values that are known.
std::string LinePath(const std::vector<TrendPoint>& points, const Plane& plane) {
  std::string path;
  bool down = false;
  for (size_t i = 0; i < points.size(); ++i) {
    if (points[i].value) {
      absl::StrAppendFormat(&path, "%c%.1f %.1f", down ? 'L' : 'M', plane.X(i),
                            plane.Y(*points[i].value));
      if (!down) absl::StrAppendFormat(&path, "h0");  // a single one is a dot
    }
    down = points[i].value.has_value();
  }
  return path;
}

}  // namespace

double TopOf(const std::vector<TrendPoint>& points) {
  double top = 0;
  for (const TrendPoint& point : points) top = std::max(top, point.value.value_or(0));
  return top;
}

std::string TrendChart(const std::vector<TrendPoint>& points, double top, TrendSize size,
                       const std::string& name) {
  const Plane plane(points.size(), top, size);
  const std::string path = LinePath(points, plane);
  if (path.empty()) return {};
  std::string chart = absl::StrFormat(
      "<svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">"
      "<path class=\"line\" d=\"%s\"/>",
      size.width, size.height, size.width, size.height, name, path);
  for (size_t i = 0; i < points.size(); ++i) {
    if (!points[i].value || points[i].label.empty()) continue;
    absl::StrAppendFormat(
        &chart, "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s</title></circle>",
        plane.X(i), plane.Y(*points[i].value), points[i].label);
  }
  return chart + "</svg>";
}

}  // namespace utlz
