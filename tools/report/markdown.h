// The report for a pull request: the verdict and the head figures in sight, the rest folded away.
// GitHub's Markdown. Names come from profiled programs and can act on neither Markdown nor HTML.
#ifndef UTLZ_TOOLS_REPORT_MARKDOWN_H_
#define UTLZ_TOOLS_REPORT_MARKDOWN_H_

#include <cstdint>
#include <string>

#include "proto/summary.pb.h"
#include "tools/report/kernel_order.h"

namespace utlz {

struct MarkdownOptions {
  uint32_t top = 15;  // kernels
  KernelOrder order = KernelOrder::kSavings;
};

std::string RenderMarkdown(const Summary& summary, const MarkdownOptions& options = {});

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_MARKDOWN_H_
