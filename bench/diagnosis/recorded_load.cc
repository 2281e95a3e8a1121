#include "bench/diagnosis/recorded_load.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "collector/decode/launch_decoder.h"
#include "collector/kernel_names/kernel_family.h"
#include "collector/profile/profile_reader.h"
#include "proto/summary.pb.h"

namespace utlz {
namespace {

// Pipes of a GPU of compute capability 9.0, by cycle and multiprocessor.
constexpr double kPipesPerMultiprocessor = 4;
// 32 lanes, a multiplication and an addition each.
constexpr double kFlopsPerInstruction = 64;
// A kernel that ends a token of a decoder, once each.
constexpr std::string_view kTokenKernel = "ArgMaxOps";
constexpr size_t kFewestTokens = 8;

struct RecordedLaunch {
  uint64_t start_ns = 0;
  uint64_t duration_ns = 0;
  uint32_t variant = 0;
};

struct RecordedVariant {
  uint32_t name = 0;
  std::array<uint32_t, 3> grid{};
};

// Of one process.
struct Recording {
  std::map<uint32_t, std::string> strings;
  std::map<uint32_t, RecordedVariant> variants;
  std::vector<RecordedLaunch> launches;

  const RecordedVariant* VariantOf(const RecordedLaunch& launch) const {
    const auto found = variants.find(launch.variant);
    return found == variants.end() ? nullptr : &found->second;
  }
  std::string NameOf(const RecordedVariant& variant) const {
    const auto found = strings.find(variant.name);
    return found == strings.end() ? "" : found->second;
  }
};

class Collection {
 public:
  absl::Status Read(ProfileReader* reader);
  RecordedLoad load;
  Summary summary;
  uint64_t start_ns = 0;

  const Recording& Main() const {
    const auto most = std::max_element(
        recordings_.begin(), recordings_.end(), [](const auto& left, const auto& right) {
          return left.second.launches.size() < right.second.launches.size();
        });
    return most->second;
  }

 private:
  void Take(const FrameView& frame);
  void TakeLaunches(const FrameView& frame);
  LaunchDecoder decoder_;
  std::map<uint32_t, Recording> recordings_;
};

template <typename Message>
Message Parsed(const FrameView& frame) {
  Message message;
  message.ParseFromArray(frame.payload.data(), static_cast<int>(frame.payload.size()));
  return message;
}

void TakeStrings(const Strings& strings, Recording* recording) {
  for (int i = 0; i < strings.values_size(); ++i) {
    recording->strings[strings.first() + i] = strings.values(i);
  }
}

void TakeVariants(const Variants& variants, Recording* recording) {
  for (int i = 0; i < std::min(variants.name_size(), variants.grid_z_size()); ++i) {
    recording->variants[variants.first() + i] = {
        variants.name(i), {variants.grid_x(i), variants.grid_y(i), variants.grid_z(i)}};
  }
}

void Collection::TakeLaunches(const FrameView& frame) {
  const DecodedLaunches* decoded = decoder_.Decode(frame.payload);
  if (decoded == nullptr) return;
  for (const Launch& launch : decoded->launches) {
    recordings_[frame.source].launches.push_back(
        {launch.start_ns, launch.end_ns - launch.start_ns, launch.variant});
  }
}

void Collection::Take(const FrameView& frame) {
  switch (frame.type) {
    case FRAME_RUN_START:
      start_ns = Parsed<RunStart>(frame).time_ns();
      return;
    case FRAME_DEVICE:
      load.device = Parsed<Device>(frame);
      return;
    case FRAME_DEVICE_PEAKS:
      load.peaks = Parsed<DevicePeaks>(frame);
      return;
    case FRAME_SUMMARY:
      summary = Parsed<Summary>(frame);
      return;
    case FRAME_LAUNCHES:
      return TakeLaunches(frame);
    case FRAME_STRINGS:
      return TakeStrings(Parsed<Strings>(frame), &recordings_[frame.source]);
    case FRAME_VARIANTS:
      return TakeVariants(Parsed<Variants>(frame), &recordings_[frame.source]);
    default:
      return;
  }
}

absl::Status Collection::Read(ProfileReader* reader) {
  FrameView frame;
  while (reader->Next(&frame)) Take(frame);
  if (summary.kernels_size() == 0 || summary.devices_size() == 0 || recordings_.empty()) {
    return absl::InvalidArgumentError(load.path + " holds no summary with kernels in it");
  }
  for (auto& [source, recording] : recordings_) {
    std::stable_sort(
        recording.launches.begin(), recording.launches.end(),
        [](const auto& left, const auto& right) { return left.start_ns < right.start_ns; });
  }
  return absl::OkStatus();
}

double FlopsOfFmaPipe(const KernelSummary& kernel) {
  double flops = 0;
  for (const DataTypeFlops& type : kernel.flops_by_type()) {
    if (type.data_type() == "fp32") flops += type.flops();
  }
  return flops;
}

LaunchWork WorkOf(const KernelSummary& kernel, const DeviceSummary& device) {
  const auto launches = static_cast<double>(kernel.launches());
  const double cycles =
      kernel.time_mean_ns() * 1e-9 * device.sm_clock_hz() * device.multiprocessors();
  return {.dram_read_bytes = kernel.dram_read_bytes() / launches,
          .dram_write_bytes = kernel.dram_write_bytes() / launches,
          .tensor_cycles = kernel.tensor_active_share() * kPipesPerMultiprocessor * cycles,
          .sm_active_cycles = kernel.sm_active_share() * cycles,
          .fma_instructions = FlopsOfFmaPipe(kernel) / launches / kFlopsPerInstruction};
}

// Nothing where its counters are not known, or cannot be true.
std::optional<RecordedKernel> KernelOf(const KernelSummary& summary, const DeviceSummary& device) {
  if (summary.has_withheld_reason() || !summary.has_dram_bytes() || summary.dram_peak_share() > 1 ||
      summary.launches() == 0 || summary.time_mean_ns() <= 0) {
    return std::nullopt;
  }
  RecordedKernel kernel;
  kernel.name = summary.mangled_name();
  kernel.short_name = summary.short_name();
  for (int i = 0; i < 3; ++i) {
    kernel.grid[i] = i < summary.grid_size() ? summary.grid(i) : 1;
    kernel.block[i] = i < summary.block_size() ? summary.block(i) : 1;
  }
  kernel.registers = summary.registers_per_thread();
  kernel.shared_bytes = summary.shared_bytes();
  kernel.time_ns = summary.time_mean_ns();
  kernel.compute_time_ns = summary.flops_peak_share() * summary.time_mean_ns() *
                           device.sm_clock_hz() / device.sm_clock_maximum_hz();
  kernel.memory_time_ns = summary.dram_bytes() / static_cast<double>(summary.launches()) /
                          device.peak_dram_bytes_per_second() * 1e9;
  kernel.sm_active_share = summary.sm_active_share();
  kernel.work = WorkOf(summary, device);
  return kernel;
}

// A third of what the GPU can do at most.
KernelSummary WithAssumedWork(KernelSummary kernel, const DeviceSummary& device) {
  constexpr double kShare = 1.0 / 3;
  const double time_ns = kernel.time_mean_ns() * static_cast<double>(kernel.launches());
  const double bytes = kShare * time_ns * 1e-9 * device.peak_dram_bytes_per_second();
  const bool multiplies = IsMatrixFamily(FamilyOf(kernel.mangled_name()));
  kernel.clear_withheld_reason();
  kernel.clear_flops_by_type();
  kernel.set_dram_bytes(bytes);
  kernel.set_dram_read_bytes(bytes / 2);
  kernel.set_dram_write_bytes(bytes / 2);
  kernel.set_dram_peak_share(kShare);
  kernel.set_sm_active_share(2 * kShare);
  kernel.set_tensor_active_share(multiplies ? kShare : 0);
  kernel.set_flops_peak_share(multiplies ? kShare : 0);
  return kernel;
}

// The same function and grid may be several kinds, apart by duration.
std::optional<uint32_t> Find(const std::vector<RecordedKernel>& kernels, const Recording& recording,
                             const RecordedLaunch& launch) {
  const RecordedVariant* variant = recording.VariantOf(launch);
  if (variant == nullptr) return std::nullopt;
  const std::string name = recording.NameOf(*variant);
  std::optional<uint32_t> found;
  double least = 0;
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    const RecordedKernel& kernel = kernels[i];
    if (kernel.name != name || kernel.grid != variant->grid) continue;
    const double apart =
        std::abs(std::log(kernel.time_ns / static_cast<double>(launch.duration_ns)));
    if (found.has_value() && apart >= least) continue;
    found = i;
    least = apart;
  }
  return found;
}

using Stretch = std::pair<uint64_t, uint64_t>;

// Between one token and the next, where there are tokens, else the summary's steps.
std::vector<Stretch> Steps(const Collection& collection) {
  std::vector<uint64_t> tokens;
  const Recording& recording = collection.Main();
  for (const RecordedLaunch& launch : recording.launches) {
    const RecordedVariant* variant = recording.VariantOf(launch);
    if (variant == nullptr) continue;
    const bool ends_token = recording.NameOf(*variant).find(kTokenKernel) != std::string::npos;
    if (ends_token) tokens.push_back(launch.start_ns);
  }
  std::vector<Stretch> steps;
  if (tokens.size() > kFewestTokens) {
    for (size_t i = 1; i < tokens.size(); ++i) steps.emplace_back(tokens[i - 1], tokens[i]);
    return steps;
  }
  const StepsSummary& found = collection.summary.steps();
  for (int i = 0; i < found.time_ns_size() && i < found.start_ns_size(); ++i) {
    const uint64_t start_ns = collection.start_ns + static_cast<uint64_t>(found.start_ns(i));
    steps.emplace_back(start_ns, start_ns + static_cast<uint64_t>(found.time_ns(i)));
  }
  return steps;
}

std::vector<RecordedLaunch> LaunchesIn(const Recording& recording, const Stretch& stretch) {
  const auto before = [](const RecordedLaunch& launch, uint64_t time_ns) {
    return launch.start_ns < time_ns;
  };
  const auto& all = recording.launches;
  return {std::lower_bound(all.begin(), all.end(), stretch.first, before),
          std::lower_bound(all.begin(), all.end(), stretch.second, before)};
}

// The first step of as many launches as most have.
std::vector<RecordedLaunch> TypicalStep(const Collection& collection) {
  std::map<size_t, std::pair<size_t, Stretch>> by_launches;
  const std::vector<Stretch> steps = Steps(collection);
  for (const Stretch& step : steps) {
    const size_t launches = LaunchesIn(collection.Main(), step).size();
    auto [place, is_new] = by_launches.try_emplace(launches, 0, step);
    ++place->second.first;
  }
  const auto usual = std::max_element(
      by_launches.begin(), by_launches.end(),
      [](const auto& left, const auto& right) { return left.second.first < right.second.first; });
  if (usual == by_launches.end()) return {};
  return LaunchesIn(collection.Main(), usual->second.second);
}

}  // namespace

LaunchWork LaunchWork::Scaled(double factor) const {
  return {factor * dram_read_bytes, factor * dram_write_bytes, factor * tensor_cycles,
          factor * sm_active_cycles, factor * fma_instructions};
}

bool RecordedLoad::Has(std::string_view fragment) const {
  return std::any_of(step.begin(), step.end(),
                     [&](uint32_t kernel) { return kernels[kernel].Is(fragment); });
}

absl::StatusOr<RecordedLoad> ReadRecordedLoad(const std::string& path, UncountedKernels uncounted) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path);
  if (!reader.ok()) return reader.status();
  Collection collection;
  collection.load.path = path;
  if (const absl::Status status = collection.Read(&*reader); !status.ok()) return status;
  for (const KernelSummary& kernel : collection.summary.kernels()) {
    auto known = KernelOf(kernel, collection.summary.devices(0));
    if (!known.has_value() && uncounted == UncountedKernels::kAssumed) {
      known = KernelOf(WithAssumedWork(kernel, collection.summary.devices(0)),
                       collection.summary.devices(0));
    }
    if (known.has_value()) collection.load.kernels.push_back(*known);
  }
  for (const RecordedLaunch& launch : TypicalStep(collection)) {
    const auto kernel = Find(collection.load.kernels, collection.Main(), launch);
    if (kernel.has_value()) collection.load.step.push_back(*kernel);
  }
  if (collection.load.step.empty()) {
    return absl::InvalidArgumentError(path +
                                      " holds neither steps nor tokens to take kernels from");
  }
  return std::move(collection.load);
}

}  // namespace utlz
