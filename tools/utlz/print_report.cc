#include "tools/utlz/print_report.h"

#include <string>

#include "tools/report/text.h"
#include "tools/utlz/terminal.h"

namespace utlz {

void PrintReport(const Summary& summary, std::FILE* stream) {
  TextOptions options;
  options.color = UseColor(fileno(stream));
  options.columns = ColumnsFor(fileno(stream), options.columns);
  const std::string text = RenderText(summary, options);
  std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace utlz
