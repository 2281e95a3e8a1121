// Two different summaries, as two profiles may hold them, through utlz diff and utlz gate.
//
// Input: how many bytes the first has, the first, the second.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "proto/summary.pb.h"
#include "tests/support/fuzz_bytes.h"
#include "tools/compare/diff.h"
#include "tools/compare/gate.h"
#include "tools/compare/render_difference.h"
#include "tools/report_html/report_html.h"

namespace utlz {
namespace {

bool Parse(std::string_view bytes, Summary* summary) {
  return summary->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

void Compare(const Summary& before, const Summary& after) {
  const Difference difference = Diff(before, after);
  DifferenceTextOptions options;
  options.unchanged = true;
  RenderDifferenceText(difference, options);
  RenderDifferenceMarkdown(difference, options);
  if (!nlohmann::json::accept(RenderDifferenceJson(difference))) std::abort();
}

void Judge(const Summary& before, const Summary& after) {
  GateOptions options;
  options.allow_other_gpu = options.allow_other_clock = options.allow_other_source = true;
  for (const GateResult& result :
       {Gate({before}, {after}), Gate({before, after}, {after, before}, options)}) {
    if (GateExitStatus(result.outcome) > 4) std::abort();
    RenderGateText(result);
    RenderGateMarkdown(result);
    if (!nlohmann::json::accept(RenderGateJson(result))) std::abort();
  }
}

}  // namespace
}  // namespace utlz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  utlz::FuzzBytes input(bytes, size);
  utlz::Summary before, after;
  const auto first_bytes = input.Take<uint16_t>();
  if (!utlz::Parse(input.TakeBytes(first_bytes), &before)) return 0;
  if (!utlz::Parse(input.TakeRest(), &after)) return 0;
  utlz::Compare(before, after);
  utlz::Judge(before, after);
  // Packing a page takes long, so not for every input.
  if (size % 64 == 0 && utlz::RenderHtmlComparison(before, after).empty()) std::abort();
  return 0;
}
