#include <unistd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "tools/compare/diff.h"
#include "tools/compare/render_difference.h"
#include "tools/report_html/report_html.h"
#include "tools/utlz/command.h"
#include "tools/utlz/load_summaries.h"
#include "tools/utlz/option_checks.h"
#include "tools/utlz/terminal.h"

namespace utlz {
namespace {

// Where there is no terminal.
constexpr uint32_t kColumnsOfFiles = 120;

enum class DiffFormat { kText, kMarkdown, kJson, kHtml };

struct DiffArguments {
  std::string before;
  std::string after;
  DiffFormat format = DiffFormat::kText;
  DifferenceTextOptions text;
  bool recompute = false;
};

std::string Render(const Summary& before, const Summary& after, const DiffArguments& arguments) {
  if (arguments.format == DiffFormat::kHtml) return RenderHtmlComparison(before, after);
  const Difference difference = Diff(before, after);
  switch (arguments.format) {
    case DiffFormat::kMarkdown:
      return RenderDifferenceMarkdown(difference, arguments.text);
    case DiffFormat::kJson:
      return RenderDifferenceJson(difference);
    case DiffFormat::kText:
    case DiffFormat::kHtml:
      break;
  }
  return RenderDifferenceText(difference, arguments.text);
}

int RunDiff(DiffArguments* arguments) {
  const auto sides = LoadSummaries({arguments->before, arguments->after}, arguments->recompute);
  if (!sides) return kFailure;
  arguments->text.before_label = arguments->before;
  arguments->text.after_label = arguments->after;
  arguments->text.columns = ColumnsFor(STDOUT_FILENO, kColumnsOfFiles);
  return PrintOut(Render((*sides)[0], (*sides)[1], *arguments)) ? kSuccess : kFailure;
}

}  // namespace

void AddDiffCommand(CLI::App* program, Action* action) {
  const auto arguments = std::make_shared<DiffArguments>();
  CLI::App* diff = program->add_subcommand("diff", "What changed from one profile to another");
  diff->add_option("BEFORE", arguments->before, "A profile (.utlz)")->required()->type_name("");
  diff->add_option("AFTER", arguments->after, "A profile (.utlz)")->required()->type_name("");
  const std::map<std::string, DiffFormat> formats = {{"text", DiffFormat::kText},
                                                     {"markdown", DiffFormat::kMarkdown},
                                                     {"json", DiffFormat::kJson},
                                                     {"html", DiffFormat::kHtml}};
  diff->add_option("--format", arguments->format, "text, markdown, json or html")
      ->transform(Choice(formats))
      ->type_name("WORD");
  const std::map<std::string, DifferenceBy> groups = {{"kernel", DifferenceBy::kKernel},
                                                      {"layer", DifferenceBy::kLayer},
                                                      {"each-layer", DifferenceBy::kEachLayer}};
  diff->add_option(
          "--by", arguments->text.by,
          "What text and Markdown list: kernel, layer (repeated ones summed) or each-layer")
      ->transform(Choice(groups))
      ->type_name("WORD");
  diff->add_flag("--all", arguments->text.unchanged, "Also list changes within error");
  AddRecomputeOption(diff, &arguments->recompute);
  diff->callback(
      [arguments, action] { *action = [arguments] { return RunDiff(arguments.get()); }; });
}

}  // namespace utlz
