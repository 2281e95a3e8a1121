#include "tools/history_report/history_html.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/text/number_text.h"
#include "collector/text/shown_text.h"
#include "tools/history_report/history_figures.h"
#include "tools/history_report/trend_chart.h"

namespace utlz {
namespace {

constexpr TrendSize kTrendSize = {420, 120};
constexpr TrendSize kCourseSize = {150, 24};

// Colours and measures are those of the report's page (tools/report_html/web/src/style.css).
constexpr char kHead[] = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>utlz history</title>
<style>
:root { --page: #ffffff; --panel: #f6f7f9; --text: #16191d; --muted: #5b6470; --grid: #e3e6ea;
  --accent: #0b5cad; --worse: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171b; --panel: #1d2127; --text: #e8eaed; --muted: #a2abb6; --grid: #2b3138;
    --accent: #6cb2f5; --worse: #ff8a80; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1280px; padding: 0 20px 60px; background: var(--page);
  color: var(--text); font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 17px; font-weight: 500; margin: 14px 0 6px; }
h2 { font-size: 17px; margin: 0 0 4px; overflow-wrap: anywhere; }
section { margin-top: 30px; }
p { margin: 4px 0; max-width: 90ch; overflow-wrap: anywhere; }
.muted, figcaption { color: var(--muted); font-size: 13px; }
.worse { color: var(--worse); }
.trends { display: flex; flex-wrap: wrap; gap: 12px 40px; }
figure { margin: 8px 0; width: 420px; max-width: 100%; }
figure svg { max-width: 100%; height: auto; background: var(--panel); border-radius: 7px; }
.line { fill: none; stroke: var(--accent); stroke-width: 1.5; stroke-linecap: round; }
.mark { fill: var(--accent); }
td svg { display: block; margin-left: auto; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 10px; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--grid); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
thead th { font-weight: 500; color: var(--muted); }
</style>
</head>
<body>
)";

// Text of unknown origin, for an element or an attribute in quotes.
std::string Html(std::string_view text) {
  std::string html;
  for (const char letter : EscapeForTerminal(text)) {
    switch (letter) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += letter;
    }
  }
  return html;
}

std::string Paragraph(const std::string& css_class, const std::string& text) {
  return absl::StrCat("<p class=\"", css_class, "\">", Html(text), "</p>\n");
}

using FigureOf = std::optional<double> (*)(const HistoryFigures& figures);
using TextOf = std::string (*)(std::optional<double> value);

std::string TextOfShare(std::optional<double> share) { return PercentText(share); }
std::string TextOfTime(std::optional<double> time_ns) { return TimeText(time_ns); }

// The course of one figure over a job's runs; nothing where fewer than two have it.
std::string Trend(const HistoryJob& job, const char* name, FigureOf figure_of, TextOf text_of) {
  std::vector<TrendPoint> points;
  int known = 0;
  for (const HistoryRun& run : job.runs()) {
    const std::optional<double> value = figure_of(run.figures());
    known += value.has_value() ? 1 : 0;
    points.push_back({value, Html(absl::StrCat(ClockText(run.begin_ns()), ": ", text_of(value)))});
  }
  if (known < 2) return {};
  const double top = TopOf(points);
  const std::string caption =
      absl::StrCat(name, " of each run, from 0 at the bottom to ", text_of(top), "; from ",
                   ClockText(job.runs(0).begin_ns()), " to ",
                   ClockText(job.runs(job.runs_size() - 1).begin_ns()));
  return absl::StrCat("<figure>", TrendChart(points, top, kTrendSize, Html(caption)),
                      "<figcaption>", Html(caption), "</figcaption></figure>\n");
}

double TopOfCourses(const HistoryJob& job) {
  double top = 0;
  for (const HistoryRun& run : job.runs()) {
    for (const HistoryFigures& part : run.course()) top = std::max(top, HfuOf(part).value_or(0));
  }
  return top;
}

std::string Course(const HistoryRun& run, double top) {
  std::vector<TrendPoint> points;
  for (const HistoryFigures& part : run.course()) points.push_back({HfuOf(part), {}});
  return TrendChart(points, top, kCourseSize, "HFU over time");
}

std::string Row(const HistoryRun& run, double top) {
  const HistoryFigures& figures = run.figures();
  std::string row = "<tr>";
  for (const std::string& cell :
       {ClockText(run.begin_ns()), LengthText(figures.seconds()), CountText(figures.devices()),
        PercentText(HfuOf(figures)), PercentText(BusyOf(figures)), DramRateText(figures),
        TimeText(StepNsOf(figures)), EnergyText(figures)}) {
    absl::StrAppend(&row, "<td>", Html(cell), "</td>");
  }
  absl::StrAppend(&row, "<td>", Course(run, top), "</td><td>", Html(run.profile()), "</td></tr>\n");
  return row;
}

std::string TableOf(const HistoryJob& job, const HistoryHtmlOptions& options) {
  const double top = TopOfCourses(job);
  std::string table = "<div class=\"table\"><table><thead><tr>";
  for (const std::string& head :
       {std::string("began"), std::string("lasted"), std::string("GPUs"), std::string("HFU"),
        std::string("busy"), std::string("HBM/GPU"), std::string("step"), std::string("energy"),
        absl::StrCat("HFU over time, 0 to ", PercentText(top)), std::string("profile")}) {
    absl::StrAppend(&table, "<th scope=\"col\">", Html(head), "</th>");
  }
  table += "</tr></thead><tbody>\n";
  const int skipped = std::max(0, job.runs_size() - options.most_runs);
  for (int i = skipped; i < job.runs_size(); ++i) table += Row(job.runs(i), top);
  table += "</tbody></table></div>\n";
  if (skipped > 0) {
    table += Paragraph("muted", absl::StrCat(skipped, " earlier runs are not in the table"));
  }
  return table;
}

std::string Section(const HistoryJob& job, const HistoryHtmlOptions& options) {
  std::string section = absl::StrCat("<section>\n<h2>", Html(job.job()), "</h2>\n");
  section += Paragraph("muted", absl::StrCat("on ", job.host(), ", ", RunsText(job)));
  const RunChange change = ChangeOf(job);
  if (!change.sentence.empty()) section += Paragraph(change.worse ? "worse" : "", change.sentence);
  const std::string trends =
      Trend(job, "HFU", HfuOf, TextOfShare) + Trend(job, "Step time", StepNsOf, TextOfTime);
  if (!trends.empty()) absl::StrAppend(&section, "<div class=\"trends\">\n", trends, "</div>\n");
  section += TableOf(job, options);
  for (const std::string& sentence : TroubleOf(job)) section += Paragraph("muted", sentence);
  return section + "</section>\n";
}

}  // namespace

std::string RenderHistoryHtml(const HistoryReport& report, const HistoryHtmlOptions& options) {
  std::string page = absl::StrCat(kHead, "<h1>", Html(SpanText(report)), "</h1>\n");
  for (const std::string& sentence : TroubleOf(report)) page += Paragraph("muted", sentence);
  for (const HistoryJob& job : report.jobs()) page += Section(job, options);
  return page + "</body>\n</html>\n";
}

}  // namespace utlz
