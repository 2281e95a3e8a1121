#include "tools/report_html/report_html.h"

#include "tools/compare/diff.h"
#include "tools/compare/render_difference.h"
#include "tools/report/json.h"
#include "tools/report/kernels_of_steps.h"
#include "tools/report_html/page.h"

namespace utlz {
namespace {

constexpr JsonOptions kOneLine = {.indent = -1};

}  // namespace

std::string RenderHtml(const Summary& summary) {
  return MakePage({RenderJson(WithKernelsOfSteps(summary), kOneLine), {}, {}});
}

std::string RenderHtmlComparison(const Summary& before, const Summary& after) {
  const std::string summary_json = RenderJson(WithKernelsOfSteps(after), kOneLine);
  const std::string before_json = RenderJson(WithKernelsOfSteps(before), kOneLine);
  const std::string difference_json = RenderDifferenceJson(Diff(before, after));
  return MakePage({summary_json, before_json, difference_json});
}

}  // namespace utlz
