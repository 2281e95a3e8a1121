// Packs large data for the report page, so that a report of thousands of kernels stays small.
#ifndef UTLZ_TOOLS_REPORT_HTML_PACK_H_
#define UTLZ_TOOLS_REPORT_HTML_PACK_H_

#include <string>
#include <string_view>

namespace utlz {

// {"deflate":"…"}, the base64 of a zlib stream of `json`, which browsers can unpack themselves;
// `json` itself where it is small, or where packing fails. Pure, thread-safe.
std::string PackJson(std::string_view json);

std::string Base64(std::string_view bytes);

}  // namespace utlz

#endif  // UTLZ_TOOLS_REPORT_HTML_PACK_H_
