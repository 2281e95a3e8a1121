// A summary as a profile may hold it, of any content, through everything that shows one.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "collector/decode/message_memory.h"
#include "proto/summary.pb.h"
#include "tools/report/csv.h"
#include "tools/report/json.h"
#include "tools/report/markdown.h"
#include "tools/report/text.h"
#include "tools/report_html/report_html.h"

namespace utlz {
namespace {

// Where a terminal is written to, names are escaped: no control character but line ends.
void CheckForTerminal(const std::string& text) {
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if ((byte < 0x20 && byte != '\n') || byte == 0x7f) std::abort();
  }
}

void Show(const Summary& summary) {
  for (const GroupBy group_by :
       {GroupBy::kKernel, GroupBy::kNvtx, GroupBy::kStream, GroupBy::kDevice, GroupBy::kProcess}) {
    TextOptions options;
    options.group_by = group_by;
    CheckForTerminal(RenderText(summary, options));
  }
  if (!nlohmann::json::accept(RenderJson(summary))) std::abort();
  if (RenderCsv(summary).empty() || RenderMarkdown(summary).empty()) std::abort();
}

}  // namespace
}  // namespace utlz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  utlz::Summary summary;
  const std::string_view payload(reinterpret_cast<const char*>(bytes), size);
  const bool fits = utlz::FitsInMemory(payload, *utlz::Summary::descriptor());
  if (!summary.ParseFromArray(bytes, static_cast<int>(size))) return 0;
  if (!fits) std::abort();  // so few bytes take no half of a gigabyte
  utlz::Show(summary);
  // Packing a page takes long, so not for every input.
  if (size % 64 == 0 && utlz::RenderHtml(summary).empty()) std::abort();
  return 0;
}
