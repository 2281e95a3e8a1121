// A Difference or a gate's result for people, pull requests and programs. Pure, thread-safe.
#ifndef UTLZ_TOOLS_COMPARE_RENDER_DIFFERENCE_H_
#define UTLZ_TOOLS_COMPARE_RENDER_DIFFERENCE_H_

#include <string>

#include "tools/compare/difference.h"
#include "tools/compare/gate.h"

namespace utlz {

// What the text lists.
enum class DifferenceBy {
  kKernel,
  kLayer,      // layers that the model repeats summed, with single ones that stand out
  kEachLayer,  // by itself
};

struct DifferenceTextOptions {
  size_t kernels = 20;     // at most so many lines
  bool unchanged = false;  // also what is within error
  DifferenceBy by = DifferenceBy::kKernel;
  size_t columns = 120;           // tables are no wider, from 80 on
  std::string before_label = {};  // what the sides are, where there is something to say
  std::string after_label = {};
};

std::string RenderDifferenceText(const Difference& difference,
                                 const DifferenceTextOptions& options = {});
std::string RenderDifferenceMarkdown(const Difference& difference,
                                     const DifferenceTextOptions& options = {});
// One object, schema "utlz.difference/1"; all kernels, absent where unknown.
std::string RenderDifferenceJson(const Difference& difference);

std::string RenderGateText(const GateResult& result);
std::string RenderGateMarkdown(const GateResult& result);
std::string RenderGateJson(const GateResult& result);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_RENDER_DIFFERENCE_H_
