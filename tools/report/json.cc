#include "tools/report/json.h"

#include "collector/text/shown_text.h"
#include "tools/json/message_json.h"

namespace utlz {

std::string RenderJson(const Summary& summary, const JsonOptions& options) {
  return EscapeInJson(MessageToJson(summary).dump(options.indent)) + "\n";
}

}  // namespace utlz
