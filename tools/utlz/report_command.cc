#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/clocks.h"
#include "collector/diagnosis/alerts.h"
#include "collector/files/state_folder.h"
#include "collector/history/history_reader.h"
#include "collector/history/history_trends.h"
#include "collector/text/shown_text.h"
#include "tools/calibrate/ceilings_store.h"
#include "tools/history_report/amounts.h"
#include "tools/history_report/history_html.h"
#include "tools/history_report/history_text.h"
#include "tools/replay/replay.h"
#include "tools/report/csv.h"
#include "tools/report/json.h"
#include "tools/report/markdown.h"
#include "tools/report/strip_paths.h"
#include "tools/report/text.h"
#include "tools/report_html/report_html.h"
#include "tools/run/say.h"
#include "tools/utlz/alert_options.h"
#include "tools/utlz/command.h"
#include "tools/utlz/load_summaries.h"
#include "tools/utlz/option_checks.h"
#include "tools/utlz/terminal.h"
#include "tools/utlz/workload_spec_options.h"

namespace utlz {
namespace {

// Only with --fail-on-alert.
constexpr int kAlertRaised = 3;

enum class ReportFormat { kText, kJson, kCsv, kHtml, kMarkdown };

struct ReportArguments {
  std::vector<std::string> files;
  ReportFormat format = ReportFormat::kText;
  TextOptions text;
  WorkloadSpecRequest work;
  std::vector<std::string> alerts;
  bool fail_on_alert = false;
  bool recompute = false;
  bool no_paths = false;
  std::string step_kernel;
  double steps = 0;
  std::string compare;  // a profile to lay the others over, empty for none
  std::string since;    // of the history, in place of profiles
  std::string history;  // its folder; empty: the default
};

std::string RenderCsvBy(const Summary& summary, GroupBy group_by) {
  switch (group_by) {
    case GroupBy::kLayer:
      return RenderOwnersCsv(summary.owners().layers());
    case GroupBy::kLine:
      return RenderOwnersCsv(summary.owners().lines());
    case GroupBy::kOperation:
      return RenderOwnersCsv(summary.owners().operations());
    default:
      return RenderCsv(summary);
  }
}

std::string Render(const Summary& summary, const Summary* before,
                   const ReportArguments& arguments) {
  if (before != nullptr) return RenderHtmlComparison(*before, summary);
  switch (arguments.format) {
    case ReportFormat::kText:
      return RenderText(summary, arguments.text);
    case ReportFormat::kJson:
      return RenderJson(summary);
    case ReportFormat::kCsv:
      return RenderCsvBy(summary, arguments.text.group_by);
    case ReportFormat::kHtml:
      return RenderHtml(summary);
    case ReportFormat::kMarkdown:
      return RenderMarkdown(summary, {.top = arguments.text.top, .order = arguments.text.order});
  }
  return {};
}

bool Print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return std::fflush(stdout) == 0 && written;
}

// How profiles are read, all of one command alike.
struct Reading {
  bool recompute = false;
  SummaryOptions options;
  AlertLimits alert_limits;

  absl::StatusOr<Summary> Read(const std::string& file) const {
    absl::StatusOr<Summary> summary = recompute ? ReplayProfile(file, options) : LoadSummary(file);
    if (summary.ok()) RaiseAlerts(alert_limits, &*summary);
    return summary;
  }
};

// JSON and HTML hold all tables, and Markdown that of kernels; CSV is one of four.
absl::Status CheckGroup(const ReportArguments& arguments) {
  const GroupBy by = arguments.text.group_by;
  if (by == GroupBy::kKernel || arguments.format == ReportFormat::kText) return absl::OkStatus();
  if (arguments.format != ReportFormat::kCsv) {
    return absl::InvalidArgumentError("--by chooses a table of --format text or csv");
  }
  if (by == GroupBy::kLayer || by == GroupBy::kLine || by == GroupBy::kOperation) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "--format csv has tables --by kernel, layer, line and op; --format json has the others");
}

absl::StatusOr<Reading> ReadingOf(const ReportArguments& arguments) {
  if (absl::Status status = CheckGroup(arguments); !status.ok()) return status;
  if (!arguments.compare.empty() && arguments.format != ReportFormat::kHtml) {
    return absl::InvalidArgumentError(
        "--compare lays two profiles over each other in --format html; utlz diff compares them in "
        "other forms");
  }
  absl::StatusOr<WorkloadSpec> work = MakeWorkloadSpec(arguments.work);
  if (!work.ok()) return work.status();
  absl::StatusOr<AlertLimits> limits = ParseAlertLimits(arguments.alerts);
  if (!limits.ok()) return limits.status();
  Reading reading;
  reading.recompute = arguments.recompute || work->ByteSizeLong() > 0 ||
                      !arguments.step_kernel.empty() || arguments.steps > 0;
  reading.options.steps = arguments.steps;
  reading.options.step_kernel = arguments.step_kernel;
  reading.options.work = *std::move(work);
  reading.options.ceilings = LoadCeilings(CeilingsFolder());
  reading.alert_limits = *std::move(limits);
  return reading;
}

// The options that say what a step holds, where they were given and no step was found.
std::string UnusedStepOptions(const ReportArguments& arguments, const Summary& summary) {
  const WorkloadSpecRequest& work = arguments.work;
  if (summary.steps().steps() > 0) return "";
  std::string names;
  const auto add = [&names](double value, const char* name) {
    if (value > 0) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  add(arguments.steps, "--steps");
  add(work.flops_per_step, "--model-flops-per-step");
  add(work.tokens_per_step, "--tokens-per-step");
  add(work.items_per_step, "--items-per-step");
  return names;
}

// A report without the steps that were asked for would have figures of other things.
absl::Status CheckStepKernel(const ReportArguments& arguments, const Summary& summary,
                             const std::string& file) {
  if (arguments.step_kernel.empty() || summary.has_steps()) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat(EscapeForTerminal(file), ": no kernel whose name holds '",
                   EscapeForTerminal(arguments.step_kernel),
                   "' was launched often enough to mark steps; utlz report without --step-kernel "
                   "has a table of kernels with their names"));
}

void SayWhatIsUnused(const ReportArguments& arguments, const Summary& summary,
                     const std::string& file) {
  const std::string names = UnusedStepOptions(arguments, summary);
  if (names.empty()) return;
  std::fprintf(stderr, "utlz: %s: no steps were found in this run, so %s had no effect\n",
               EscapeForTerminal(file).c_str(), names.c_str());
}

std::string RenderHistoryAs(const HistoryReport& report, const ReportArguments& arguments) {
  if (arguments.format == ReportFormat::kJson) return RenderHistoryJson(report);
  if (arguments.format == ReportFormat::kHtml) return RenderHistoryHtml(report);
  return RenderHistory(report, {.columns = arguments.text.columns, .color = arguments.text.color});
}

absl::Status NoHistory(const std::string& folder) {
  const std::string shown = EscapeForTerminal(folder);
  return absl::NotFoundError(absl::StrCat(
      "there is no history in ", shown, "; record one: utlz run --history ", shown, " -- PROGRAM"));
}

int ReportHistory(const ReportArguments& arguments) {
  const std::optional<uint64_t> length_ns = ParseSince(arguments.since);
  if (!length_ns) {
    return Fail(absl::InvalidArgumentError(
                    absl::StrCat("--since takes a time such as 30m, 2h, 3d or 2w, not ",
                                 EscapeForTerminal(arguments.since))),
                kUsageError);
  }
  if (arguments.format == ReportFormat::kCsv || arguments.format == ReportFormat::kMarkdown) {
    return Fail(absl::InvalidArgumentError("the history is shown with --format text, html or json"),
                kUsageError);
  }
  const uint64_t now_ns = RealtimeNs();
  HistoryTrends trends(now_ns - std::min(now_ns, *length_ns), now_ns);
  const std::string folder = arguments.history.empty() ? StateFolder("history") : arguments.history;
  const absl::StatusOr<HistoryReading> reading =
      ReadHistory(folder, [&](const HistoryInterval& interval) { trends.Add(interval); });
  if (absl::IsNotFound(reading.status())) return Fail(NoHistory(folder), kFailure);
  if (!reading.ok()) return Fail(reading.status(), kFailure);
  const HistoryReport report = trends.Finish(reading->unreadable_bytes);
  if (Print(RenderHistoryAs(report, arguments))) return kSuccess;
  return Fail(absl::UnavailableError("cannot write the report to standard output"), kFailure);
}

// One report after the other; a file that cannot be read does not keep the others from being shown.
int Report(ReportArguments* arguments) {
  arguments->text.color = UseColor(STDOUT_FILENO);
  if (!arguments->since.empty() && arguments->files.empty()) return ReportHistory(*arguments);
  if (!arguments->since.empty() || !arguments->history.empty()) {
    return Fail(
        absl::InvalidArgumentError("--since and --history show the history, and no profile"),
        kUsageError);
  }
  if (arguments->files.empty()) {
    return Fail(absl::InvalidArgumentError("which profiles? utlz report FILE…, or --since 2h"),
                kUsageError);
  }
  const absl::StatusOr<Reading> reading = ReadingOf(*arguments);
  if (!reading.ok()) return Fail(reading.status(), kUsageError);
  std::optional<Summary> before;
  if (!arguments->compare.empty()) {
    absl::StatusOr<Summary> read = reading->Read(arguments->compare);
    if (!read.ok()) return Fail(read.status(), kFailure);
    before = *std::move(read);
  }
  int exit_status = kSuccess;
  for (const std::string& file : arguments->files) {
    absl::StatusOr<Summary> summary = reading->Read(file);
    if (!summary.ok()) {
      exit_status = Fail(summary.status(), kFailure);
      continue;
    }
    if (const absl::Status step = CheckStepKernel(*arguments, *summary, file); !step.ok()) {
      exit_status = Fail(step, kFailure);
      continue;
    }
    if (arguments->no_paths) StripPaths(&*summary);
    SayWhatIsUnused(*arguments, *summary, file);
    const bool alarming = arguments->fail_on_alert && !summary->alerts().empty();
    if (alarming && exit_status == kSuccess) exit_status = kAlertRaised;
    if (!Print(Render(*summary, before ? &*before : nullptr, *arguments))) {
      return Fail(absl::UnavailableError("cannot write the report to standard output"), kFailure);
    }
  }
  return exit_status;
}

}  // namespace

void AddReportCommand(CLI::App* program, Action* action) {
  const auto arguments = std::make_shared<ReportArguments>();
  CLI::App* report = program->add_subcommand("report", "Show what profiles say");
  report->add_option("FILE", arguments->files, "Profiles (.utlz)")->type_name("");
  report
      ->add_option("--since", arguments->since,
                   "What jobs did since then, from the history: 30m, 2h, 3d, 2w")
      ->type_name("TIME");
  report
      ->add_option("--history", arguments->history,
                   "The folder of the history; default: history in utlz's state folder")
      ->type_name("FOLDER");
  const std::map<std::string, ReportFormat> formats = {{"text", ReportFormat::kText},
                                                       {"json", ReportFormat::kJson},
                                                       {"csv", ReportFormat::kCsv},
                                                       {"html", ReportFormat::kHtml},
                                                       {"markdown", ReportFormat::kMarkdown}};
  report->add_option("--format", arguments->format, "text, json, csv, html or markdown")
      ->transform(Choice(formats))
      ->type_name("WORD");
  report
      ->add_option("--compare", arguments->compare,
                   "An earlier profile to lay under the HTML report")
      ->type_name("FILE");
  report->add_option("--top", arguments->text.top, "Rows of a table")
      ->check(NumberRange(1u, 100000u))
      ->type_name("N")
      ->capture_default_str();
  const std::map<std::string, KernelOrder> orders = {{"savings", KernelOrder::kSavings},
                                                     {"time", KernelOrder::kTime},
                                                     {"flops", KernelOrder::kFlops},
                                                     {"bytes", KernelOrder::kBytes},
                                                     {"launches", KernelOrder::kLaunches}};
  report->add_option("--sort", arguments->text.order, "savings, time, flops, bytes or launches")
      ->transform(Choice(orders))
      ->type_name("WORD");
  const std::map<std::string, GroupBy> groups = {
      {"kernel", GroupBy::kKernel}, {"layer", GroupBy::kLayer},    {"line", GroupBy::kLine},
      {"op", GroupBy::kOperation},  {"nvtx", GroupBy::kNvtx},      {"stream", GroupBy::kStream},
      {"device", GroupBy::kDevice}, {"process", GroupBy::kProcess}};
  report
      ->add_option(
          "--by", arguments->text.group_by,
          "kernel, layer, line, op (all of these in CSV too), nvtx, stream, device or process")
      ->transform(Choice(groups))
      ->type_name("WORD");
  const CLI::Option* columns =
      report
          ->add_option("--columns", arguments->text.columns,
                       "Width of the text report; default: the terminal's, else 100")
          ->check(NumberRange(kFewestColumns, kMostColumns))
          ->type_name("N");
  AddWorkloadSpecOptions(report, &arguments->work);
  AddAlertOption(report, &arguments->alerts);
  report->add_flag("--fail-on-alert", arguments->fail_on_alert,
                   "End with exit status 3 where an alert is raised");
  report
      ->add_option("--step-kernel", arguments->step_kernel,
                   "Part of the name of the kernel that begins each step")
      ->type_name("NAME");
  report
      ->add_option("--steps", arguments->steps,
                   "How many steps or items the program ran: chooses the level that fits")
      ->check(NumberRange(1.0, 1e12))
      ->type_name("N");
  report->add_flag("--no-paths", arguments->no_paths, "Leave the folders of source files out");
  AddRecomputeOption(report, &arguments->recompute);
  report->callback([arguments, columns, action] {
    if (columns->count() == 0) {
      arguments->text.columns = ColumnsFor(STDOUT_FILENO, arguments->text.columns);
    }
    *action = [arguments] { return Report(arguments.get()); };
  });
}

}  // namespace utlz
