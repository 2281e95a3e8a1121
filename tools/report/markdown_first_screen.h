// The first screen of the Markdown report.
#ifndef UTLZ_TOOLS_REPORT_MARKDOWN_FIRST_SCREEN_H_
#define UTLZ_TOOLS_REPORT_MARKDOWN_FIRST_SCREEN_H_

#include <string>

#include "proto/summary.pb.h"

namespace utlz {

// The kind of problem, the ladder, the families of kernels, the steps, and how far all this can be
// trusted. Nothing of what is not known.
std::string MarkdownFirstScreen(const Summary& summary);

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_MARKDOWN_FIRST_SCREEN_H_
