#include "tools/exporter/otlp_request.h"

#include <string_view>

#include "tools/exporter/otlp_metrics.pb.h"

namespace utlz {
namespace {

constexpr std::string_view kTotal = "_total";

template <typename Message>
void AddAttribute(std::string_view key, std::string_view value, Message* message) {
  otlp::KeyValue* attribute = message->add_attributes();
  attribute->set_key(std::string(key));
  attribute->mutable_value()->set_string_value(std::string(value));
}

std::string_view HostOf(const MetricsSnapshot& snapshot) {
  for (const auto& samples : snapshot.samples) {
    for (const MetricSample& sample : samples) {
      if (const auto host = LabelOf(sample, "Hostname"); !host.empty()) return host;
    }
  }
  return {};
}

std::string_view VersionOf(const MetricsSnapshot& snapshot) {
  const auto& samples = snapshot.Of(Metric::kBuildInfo);
  return samples.empty() ? std::string_view() : LabelOf(samples.front(), "version");
}

// As UCUM has it.
const char* UnitOf(std::string_view unit) {
  if (unit == "seconds") return "s";
  if (unit == "bytes") return "By";
  if (unit == "joules") return "J";
  if (unit == "celsius") return "Cel";
  return "1";
}

class RequestWriter {
 public:
  RequestWriter(const OtlpTimes& times, otlp::ScopeMetrics* scope) : times_(times), scope_(scope) {}

  void Add(const MetricDescription& description, const std::vector<MetricSample>& samples) {
    const bool counter = description.type == MetricType::kCounter;
    std::string_view name = description.name;
    if (counter) name.remove_suffix(kTotal.size());
    otlp::Metric* metric = Begin(name, description.help, UnitOf(description.unit));
    for (const MetricSample& sample : samples) {
      otlp::NumberDataPoint* point = counter ? AddToSum(metric) : AddToGauge(metric);
      point->set_as_double(sample.value);
      for (const auto& [label, value] : sample.labels) {
        if (std::string_view(label) != "Hostname") AddAttribute(label, value, point);
      }
    }
  }

  // The same under the name that OpenTelemetry's conventions give it.
  void AddUtilization(const std::vector<MetricSample>& samples) {
    if (samples.empty()) return;
    otlp::Metric* metric =
        Begin("hw.gpu.utilization", "What nvidia-smi calls utilization: something ran.", "1");
    for (const MetricSample& sample : samples) {
      otlp::NumberDataPoint* point = AddToGauge(metric);
      point->set_as_double(sample.value);
      AddHardware(sample, point);
      AddAttribute("hw.gpu.task", "general", point);
    }
  }

  void AddEnergy(const std::vector<MetricSample>& samples) {
    if (samples.empty()) return;
    otlp::Metric* metric = Begin("hw.energy", "Energy that the GPU took since the run began.", "J");
    for (const MetricSample& sample : samples) {
      otlp::NumberDataPoint* point = AddToSum(metric);
      point->set_as_double(sample.value);
      AddHardware(sample, point);
    }
  }

  void AddDropped(uint64_t dropped) {
    otlp::Metric* metric = Begin("utlz_otlp_requests_dropped",
                                 "Requests that were left out since nobody took them.", "1");
    AddToSum(metric)->set_as_double(static_cast<double>(dropped));
  }

 private:
  otlp::Metric* Begin(std::string_view name, std::string_view description, const char* unit) {
    otlp::Metric* metric = scope_->add_metrics();
    metric->set_name(std::string(name));
    metric->set_description(std::string(description));
    metric->set_unit(unit);
    return metric;
  }

  otlp::NumberDataPoint* AddToSum(otlp::Metric* metric) {
    otlp::Sum* sum = metric->mutable_sum();
    sum->set_aggregation_temporality(otlp::AGGREGATION_TEMPORALITY_CUMULATIVE);
    sum->set_is_monotonic(true);
    otlp::NumberDataPoint* point = sum->add_data_points();
    point->set_start_time_unix_nano(times_.start_ns);
    point->set_time_unix_nano(times_.now_ns);
    return point;
  }

  otlp::NumberDataPoint* AddToGauge(otlp::Metric* metric) {
    otlp::NumberDataPoint* point = metric->mutable_gauge()->add_data_points();
    point->set_time_unix_nano(times_.now_ns);
    return point;
  }

  static void AddHardware(const MetricSample& sample, otlp::NumberDataPoint* point) {
    AddAttribute("hw.id", LabelOf(sample, "UUID"), point);
    AddAttribute("hw.type", "gpu", point);
    AddAttribute("hw.name", LabelOf(sample, "modelName"), point);
    AddAttribute("hw.vendor", "NVIDIA", point);
  }

  const OtlpTimes& times_;
  otlp::ScopeMetrics* scope_;
};

}  // namespace

std::string WriteOtlpRequest(const MetricsSnapshot& snapshot, const OtlpTimes& times,
                             uint64_t dropped) {
  otlp::ExportMetricsServiceRequest request;
  otlp::ResourceMetrics* resource = request.add_resource_metrics();
  AddAttribute("service.name", "utlz", resource->mutable_resource());
  if (const auto host = HostOf(snapshot); !host.empty()) {
    AddAttribute("host.name", host, resource->mutable_resource());
  }
  otlp::ScopeMetrics* scope = resource->add_scope_metrics();
  scope->mutable_scope()->set_name("utlz");
  scope->mutable_scope()->set_version(std::string(VersionOf(snapshot)));
  RequestWriter writer(times, scope);
  for (size_t i = 0; i < kMetrics; ++i) {
    if (snapshot.samples[i].empty()) continue;
    writer.Add(DescriptionOf(static_cast<Metric>(i)), snapshot.samples[i]);
  }
  writer.AddUtilization(snapshot.Of(Metric::kNvmlBusy));
  writer.AddEnergy(snapshot.Of(Metric::kEnergyJoules));
  writer.AddDropped(dropped);
  return request.SerializeAsString();
}

}  // namespace utlz
