#include "tools/app_metrics/application_page.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace utlz {
namespace {

// Names of a server's metrics; empty: it has none.
struct Server {
  const char* engine;
  std::string_view requests;
  std::string_view prompt_tokens;
  std::string_view generated_tokens;
  std::string_view waiting;
  std::string_view running;
  std::string_view estimated_flops;  // of one GPU
  std::string_view first_token;      // buckets of a histogram
  double first_token_unit;           // in seconds
};

constexpr std::array<Server, 4> kServers = {{
    {.engine = "vllm",
     .requests = "vllm:request_success_total",
     .prompt_tokens = "vllm:prompt_tokens_total",
     .generated_tokens = "vllm:generation_tokens_total",
     .waiting = "vllm:num_requests_waiting",
     .running = "vllm:num_requests_running",
     .estimated_flops = "vllm:estimated_flops_per_gpu_total",
     .first_token = "vllm:time_to_first_token_seconds_bucket",
     .first_token_unit = 1},
    {.engine = "sglang",
     .requests = "sglang:num_requests_total",
     .prompt_tokens = "sglang:prompt_tokens_total",
     .generated_tokens = "sglang:generation_tokens_total",
     .waiting = "sglang:num_queue_reqs",
     .running = "sglang:num_running_reqs",
     .estimated_flops = "sglang:estimated_flops_per_gpu_total",
     .first_token = "sglang:time_to_first_token_seconds_bucket",
     .first_token_unit = 1},
    {.engine = "tgi",
     .requests = "tgi_request_success",
     .prompt_tokens = "tgi_request_input_length_sum",
     .generated_tokens = "tgi_request_generated_tokens_sum",
     .waiting = "tgi_queue_size",
     .running = "tgi_batch_current_size",
     .estimated_flops = "",
     .first_token = "",
     .first_token_unit = 1},
    {.engine = "triton",
     .requests = "nv_inference_request_success",
     .prompt_tokens = "",
     .generated_tokens = "",
     .waiting = "nv_inference_pending_request_count",
     .running = "",
     .estimated_flops = "",
     .first_token = "nv_inference_first_response_histogram_ms_bucket",
     .first_token_unit = 1e-3},
}};

struct Sample {
  std::string_view name;
  std::string_view bound;  // the label `le`, quotes and escapes left as they are
  double value = 0;
};

// What is no number is as good as absent; "+Inf" is one.
std::optional<double> NumberOf(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  if (text == "Inf") return std::numeric_limits<double>::infinity();
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

// The end of the labels, which begin at `at`: a brace outside of quotes.
size_t EndOfLabels(std::string_view line, size_t at) {
  bool quoted = false;
  for (size_t i = at + 1; i < line.size(); ++i) {
    if (quoted && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == '}' && !quoted) {
      return i;
    }
  }
  return std::string_view::npos;
}

// The value of le="…" inside the braces.
std::string_view BoundIn(std::string_view labels) {
  constexpr std::string_view kBound = "le=\"";
  for (size_t at = labels.find(kBound); at != std::string_view::npos;
       at = labels.find(kBound, at + 1)) {
    if (at > 0 && labels[at - 1] != ',' && labels[at - 1] != ' ' && labels[at - 1] != '{') continue;
    const std::string_view rest = labels.substr(at + kBound.size());
    return rest.substr(0, rest.find('"'));
  }
  return {};
}

// "name{labels} value [time]"
std::optional<Sample> SampleOf(std::string_view line) {
  if (line.empty() || line.front() == '#') return std::nullopt;
  Sample sample;
  const size_t end = line.find_first_of("{ \t");
  if (end == std::string_view::npos) return std::nullopt;
  sample.name = line.substr(0, end);
  size_t after = end;
  if (line[end] == '{') {
    const size_t close = EndOfLabels(line, end);
    if (close == std::string_view::npos) return std::nullopt;
    sample.bound = BoundIn(line.substr(end, close - end));
    after = close + 1;
  }
  const size_t begin = line.find_first_not_of(" \t", after);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(begin);
  const auto value = NumberOf(rest.substr(0, rest.find_first_of(" \t\r")));
  if (!value.has_value() || !std::isfinite(*value) || *value < 0) return std::nullopt;
  sample.value = *value;
  return sample;
}

struct Sum {
  double value = 0;
  int series = 0;
};

// Of one server's metrics.
class PageSums {
 public:
  explicit PageSums(const Server& server) : server_(server) {}

  void Add(const Sample& sample) {
    if (!server_.first_token.empty() && sample.name == server_.first_token) {
      const auto bound = NumberOf(sample.bound);
      constexpr size_t kMostBuckets = 256;
      const bool fits = bound.has_value() &&
                        (first_token_.size() < kMostBuckets || first_token_.contains(*bound));
      if (fits) first_token_[*bound] += sample.value;
      return;
    }
    for (const std::string_view name :
         {server_.requests, server_.prompt_tokens, server_.generated_tokens, server_.waiting,
          server_.running, server_.estimated_flops}) {
      if (name.empty() || name != sample.name) continue;
      sums_[name].value += sample.value;
      ++sums_[name].series;
    }
  }

  std::optional<ApplicationReading> Reading() const {
    if (sums_.empty()) return std::nullopt;
    ApplicationReading reading;
    reading.set_engine(server_.engine);
    if (const Sum* sum = Of(server_.requests)) reading.set_requests(sum->value);
    if (const Sum* sum = Of(server_.prompt_tokens)) reading.set_prompt_tokens(sum->value);
    if (const Sum* sum = Of(server_.generated_tokens)) reading.set_generated_tokens(sum->value);
    if (const Sum* sum = Of(server_.waiting)) reading.set_waiting(sum->value);
    if (const Sum* sum = Of(server_.running)) reading.set_running(sum->value);
    // Each series is of one GPU already.
    if (const Sum* sum = Of(server_.estimated_flops)) {
      reading.set_estimated_flops(sum->value / sum->series);
    }
    if (IsCumulative()) {
      for (const auto& [bound, requests] : first_token_) {
        reading.add_first_token_seconds(bound * server_.first_token_unit);
        reading.add_first_token_requests(requests);
      }
    }
    return reading;
  }

 private:
  // Histograms of unlike buckets make no sum.
  bool IsCumulative() const {
    double before = 0;
    for (const auto& [bound, requests] : first_token_) {
      if (requests < std::exchange(before, requests)) return false;
    }
    return true;
  }

  const Sum* Of(std::string_view name) const {
    const auto found = name.empty() ? sums_.end() : sums_.find(name);
    return found == sums_.end() ? nullptr : &found->second;
  }

  const Server& server_;
  std::map<std::string_view, Sum> sums_;
  std::map<double, double> first_token_;  // by upper bound
};

}  // namespace

std::optional<ApplicationReading> ReadApplicationPage(std::string_view page) {
  if (page.size() > kMaxApplicationPageBytes) return std::nullopt;
  std::array<PageSums, kServers.size()> sums = {PageSums(kServers[0]), PageSums(kServers[1]),
                                                PageSums(kServers[2]), PageSums(kServers[3])};
  while (!page.empty()) {
    const size_t end = page.find('\n');
    if (const auto sample = SampleOf(page.substr(0, end))) {
      for (PageSums& of_server : sums) of_server.Add(*sample);
    }
    page = end == std::string_view::npos ? std::string_view() : page.substr(end + 1);
  }
  for (const PageSums& of_server : sums) {
    if (auto reading = of_server.Reading()) return reading;
  }
  return std::nullopt;
}

}  // namespace utlz
