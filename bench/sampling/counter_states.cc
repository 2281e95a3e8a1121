// Brings a GPU's counters into a state and says how long that took, for
// bench/gpu/counter_states.py.
//
//   counter_states METRIC...
//
// Reads a word a line from its input and answers each with a line of JSON: `enable` takes the
// counters, `configure` sets them to all METRICs and `configure-one` to the first, `start` begins
// to sample, `stop` ends that, `decode` reads what was sampled, `disable` gives the counters up.

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/clocks.h"
#include "collector/sampler/counters/pm_sampler.h"
#include "collector/sampler/counters/profiler_host.h"
#include "collector/sampler/driver/cuda_devices.h"
#include "collector/sampler/driver/cupti_table.h"
#include "collector/sampler/driver/library_search.h"

namespace utlz {
namespace {

constexpr size_t kHardwareBufferBytes = size_t{32} << 20;
constexpr uint32_t kImageSamples = 1800;

class Counters {
 public:
  Counters(CuptiTable table, std::vector<std::string> metrics)
      : table_(std::move(table)), metrics_(std::move(metrics)) {}

  absl::Status Prepare() {
    absl::StatusOr<std::unique_ptr<PmSampler>> device = PmSampler::Create(table_, {});
    if (!device.ok()) return device.status();
    absl::StatusOr<ProfilerHost> all =
        ProfilerHost::Create(table_, (*device)->chip(), (*device)->availability(), metrics_);
    if (!all.ok()) return all.status();
    absl::StatusOr<ProfilerHost> one = ProfilerHost::Create(
        table_, (*device)->chip(), (*device)->availability(), {metrics_.front()});
    if (!one.ok()) return one.status();
    all_ = std::make_unique<ProfilerHost>(*std::move(all));
    one_ = std::make_unique<ProfilerHost>(*std::move(one));
    return absl::OkStatus();
  }

  absl::Status Obey(const std::string& word) {
    if (word == "enable") return Enable();
    if (word == "configure") return Configure(*all_, metrics_.size());
    if (word == "configure-one") return Configure(*one_, 1);
    if (word == "decode") return Decode();
    cupti::PmObjectParams object;
    object.object = object_;
    if (word == "start") return CuptiStatus(table_, table_.pm_start(&object), "start");
    if (word == "stop") return CuptiStatus(table_, table_.pm_stop(&object), "stop");
    if (word == "disable") return CuptiStatus(table_, table_.pm_disable(&object), "disable");
    return absl::InvalidArgumentError(word);
  }

 private:
  absl::Status Enable() {
    cupti::PmEnableParams enable;
    const int result = table_.pm_enable(&enable);
    object_ = enable.object;
    return CuptiStatus(table_, result, "enable");
  }

  absl::Status Configure(const ProfilerHost& host, size_t metrics) {
    cupti::PmSetConfigParams config;
    config.object = object_;
    config.config = host.config_image().data();
    config.config_size = host.config_image().size();
    config.hardware_buffer_size = kHardwareBufferBytes;
    config.sampling_interval = kUsualIntervalNs;
    absl::Status status = CuptiStatus(table_, table_.pm_set_config(&config), "configure");
    return status.ok() ? MakeImage(metrics) : status;
  }

  absl::Status MakeImage(size_t metrics) {
    std::vector<const char*> names;
    for (size_t i = 0; i < metrics; ++i) names.push_back(metrics_[i].c_str());
    cupti::PmGetCounterDataSizeParams size;
    size.object = object_;
    size.metric_names = names.data();
    size.metric_count = names.size();
    size.max_samples = kImageSamples;
    const int result = table_.pm_get_counter_data_size(&size);
    if (result == cupti::kSuccess) image_.resize(size.counter_data_size);
    return CuptiStatus(table_, result, "size of the image");
  }

  absl::Status Decode() {
    cupti::PmCounterDataInitializeParams initialize;
    initialize.object = object_;
    initialize.counter_data_size = image_.size();
    initialize.counter_data = image_.data();
    const int result = table_.pm_counter_data_initialize(&initialize);
    if (result != cupti::kSuccess) return CuptiStatus(table_, result, "image");
    cupti::PmDecodeDataParams decode;
    decode.object = object_;
    decode.counter_data_image = image_.data();
    decode.counter_data_image_size = image_.size();
    return CuptiStatus(table_, table_.pm_decode_data(&decode), "decode");
  }

  const CuptiTable table_;
  const std::vector<std::string> metrics_;
  std::unique_ptr<ProfilerHost> all_;
  std::unique_ptr<ProfilerHost> one_;
  cupti::PmSamplingObject* object_ = nullptr;
  std::vector<uint8_t> image_;
};

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

int Run(std::vector<std::string> metrics) {
  if (metrics.empty()) {
    return Fail(absl::InvalidArgumentError("name the metrics, with their rollup"));
  }
  absl::StatusOr<CuptiTable> table = LoadCupti(FindCupti({.own_folder = OwnFolder()}).paths);
  if (!table.ok()) return Fail(table.status());
  const absl::StatusOr<CudaDriver> driver = LoadCudaDriver();
  if (!driver.ok()) return Fail(driver.status());
  const absl::StatusOr<std::vector<CudaDevice>> devices = ListCudaDevices(*driver);
  if (!devices.ok()) return Fail(devices.status());
  Counters counters(*std::move(table), std::move(metrics));
  if (absl::Status status = counters.Prepare(); !status.ok()) return Fail(status);
  std::string word;
  while (std::getline(std::cin, word)) {
    const uint64_t begin_ns = MonotonicNs();
    const uint64_t cpu_before_ns = ProcessCpuNs();
    const absl::Status status = counters.Obey(word);
    if (!status.ok()) return Fail(status);
    std::printf("{\"did\": \"%s\", \"ms\": %.3f, \"cpu_ms\": %.3f}\n", word.c_str(),
                static_cast<double>(MonotonicNs() - begin_ns) * 1e-6,
                static_cast<double>(ProcessCpuNs() - cpu_before_ns) * 1e-6);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace utlz

int main(int argc, char** argv) {
  return utlz::Run(std::vector<std::string>(argv + 1, argv + argc));
}
