#include "tools/exporter/exposition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "tools/http/trimmed.h"

namespace utlz {
namespace {

constexpr std::string_view kTotal = "_total";
std::string NumberText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return std::string(text.data(), end);
}

void AddEscaped(std::string_view text, std::string* page) {
  for (const char character : text) {
    if (character == '\n') {
      *page += "\\n";
      continue;
    }
    if (character == '\\' || character == '"') *page += '\\';
    *page += character;
  }
}

void AddSample(const char* name, const MetricSample& sample, std::string* page) {
  *page += name;
  for (size_t i = 0; i < sample.labels.size(); ++i) {
    *page += i == 0 ? '{' : ',';
    *page += sample.labels[i].first;
    *page += "=\"";
    AddEscaped(sample.labels[i].second, page);
    *page += '"';
  }
  if (!sample.labels.empty()) *page += '}';
  *page += ' ' + NumberText(sample.value) + '\n';
}

// OpenMetrics names a family of counters without what its samples end with.
std::string_view FamilyName(const MetricDescription& metric, PageFormat format) {
  std::string_view name = metric.name;
  if (format == PageFormat::kOpenMetrics && metric.type == MetricType::kCounter) {
    name.remove_suffix(kTotal.size());
  }
  return name;
}

void AddHead(const MetricDescription& metric, PageFormat format, std::string* page) {
  const std::string name(FamilyName(metric, format));
  const char* type = metric.type == MetricType::kCounter ? "counter" : "gauge";
  const std::string help = "# HELP " + name + " " + metric.help + "\n";
  if (format == PageFormat::kText) *page += help;
  *page += "# TYPE " + name + " " + type + "\n";
  if (format == PageFormat::kText) return;
  if (*metric.unit != '\0') *page += "# UNIT " + name + " " + metric.unit + "\n";
  *page += help;
}

// Cuts off what stands before the separator.
std::string_view Next(char separator, std::string_view* rest) {
  const size_t end = rest->find(separator);
  const std::string_view first = rest->substr(0, end);
  *rest = end == std::string_view::npos ? std::string_view() : rest->substr(end + 1);
  return Trimmed(first);
}

bool IsWord(std::string_view text, std::string_view word) {
  return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

// "0.75"; what is no such number is as good as not wanted.
double QualityOf(std::string_view text) {
  double quality = 0;
  const auto read =
      std::from_chars(text.data(), text.data() + text.size(), quality, std::chars_format::fixed);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return whole && quality >= 0 && quality <= 1 ? quality : 0;
}

struct MediaRange {
  std::string_view type;
  double quality = 1;
  bool fits = true;  // its version is one that we write
};

MediaRange RangeOf(std::string_view text) {
  MediaRange range;
  range.type = Next(';', &text);
  while (!text.empty()) {
    std::string_view parameter = Next(';', &text);
    const std::string_view name = Next('=', &parameter);
    const std::string_view value = Trimmed(parameter);
    if (IsWord(name, "q")) range.quality = QualityOf(value);
    if (IsWord(name, "version") && IsWord(range.type, "application/openmetrics-text")) {
      range.fits = value == "1.0.0" || value == "0.0.1";
    }
  }
  return range;
}

}  // namespace

std::string WritePage(const MetricsSnapshot& snapshot, PageFormat format) {
  std::string page;
  for (size_t i = 0; i < kMetrics; ++i) {
    const std::vector<MetricSample>& samples = snapshot.samples[i];
    if (samples.empty()) continue;
    const MetricDescription& metric = DescriptionOf(static_cast<Metric>(i));
    AddHead(metric, format, &page);
    for (const MetricSample& sample : samples) AddSample(metric.name, sample, &page);
  }
  if (format == PageFormat::kOpenMetrics) page += "# EOF\n";
  return page;
}

const char* ContentTypeOf(PageFormat format) {
  return format == PageFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

PageFormat ChooseFormat(std::string_view accept) {
  double text = 0;
  double open_metrics = 0;
  while (!accept.empty()) {
    const MediaRange range = RangeOf(Next(',', &accept));
    if (IsWord(range.type, "application/openmetrics-text") && range.fits) {
      open_metrics = std::max(open_metrics, range.quality);
    } else if (IsWord(range.type, "text/plain") || IsWord(range.type, "text/*") ||
               IsWord(range.type, "*/*")) {
      text = std::max(text, range.quality);
    }
  }
  return open_metrics > 0 && open_metrics >= text ? PageFormat::kOpenMetrics : PageFormat::kText;
}

}  // namespace utlz
