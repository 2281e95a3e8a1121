#include "bench/sampling/report_precision.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "collector/normal_interval.h"
#include "collector/summarize/summary_builder.h"

namespace utlz {
namespace {

constexpr double kMattersShare = 0.01;
constexpr double kMovesBytes = 0.02;
constexpr double kUsesTensorCores = 0.1;
constexpr double kGoodBytes = 0.1;
constexpr double kGoodFlops = 0.05;

// A function and a grid; recordings may hold several kinds of it.
using Key = std::pair<std::string, std::array<uint32_t, 3>>;

struct Truth {
  double launches = 0, time_ns = 0, bytes = 0, tensor_cycles = 0;  // of a step
};

struct Found {
  double launches = 0, bytes = 0, bytes_error = 0, flops = 0, flops_error = 0, measured_error = 0;
  bool bytes_known = true;
  int kinds = 0;
  std::string withheld = {};  // why bytes are not known, where the report says so
};

// Of the kernels that matter, and of those of them that are known well.
struct Times {
  double bytes_ns = 0, good_bytes_ns = 0, flops_ns = 0, good_flops_ns = 0;
};

std::map<Key, Truth> TruthOf(const StartUpLoad& load) {
  std::map<Key, Truth> truth;
  for (uint32_t i = 0; i < load.step_kernels(); ++i) {
    const RecordedKernel& kernel = load.kernels()[i];
    const double launches = load.LaunchesPerStep(i);
    Truth* const one = &truth[{kernel.name, kernel.grid}];
    one->launches += launches;
    one->time_ns += launches * kernel.time_ns;
    one->bytes += launches * (kernel.work.dram_read_bytes + kernel.work.dram_write_bytes);
    one->tensor_cycles += launches * kernel.work.tensor_cycles;
  }
  return truth;
}

void Add(const KernelSummary& kernel, Found* found) {
  ++found->kinds;
  if (kernel.has_withheld_reason()) found->withheld = kernel.withheld_reason();
  found->launches += static_cast<double>(kernel.launches());
  found->bytes_known =
      found->bytes_known && kernel.has_dram_bytes() && !kernel.has_withheld_reason();
  found->bytes += kernel.dram_bytes();
  found->bytes_error += kernel.dram_bytes_error();
  for (const DataTypeFlops& type : kernel.flops_by_type()) {
    if (type.data_type() == "fp32" || !type.has_flops_error()) continue;
    found->flops += type.flops();
    found->flops_error += type.flops_error();
    found->measured_error += std::sqrt(
        std::max(0.0, std::pow(type.flops_error(), 2) - std::pow(type.flops_error_assumed(), 2)));
  }
}

std::map<Key, Found> FoundIn(const Summary& summary) {
  std::map<Key, Found> found;
  for (const KernelSummary& kernel : summary.kernels()) {
    if (kernel.grid_size() != 3) continue;
    Add(kernel, &found[{kernel.mangled_name(), {kernel.grid(0), kernel.grid(1), kernel.grid(2)}}]);
  }
  return found;
}

double HalfWidth(double error, double value) {
  return value > 0 ? std::min(1.0, kNormal95 * error / value) : 1;
}

void Judge(const Truth& truth, const Found& found, double most_bytes, double most_cycles,
           ReportPrecision* precision, Times* times) {
  const bool known = found.bytes_known && found.bytes > 0;
  precision->any_bytes = precision->any_bytes || known;
  if (truth.bytes > kMovesBytes * most_bytes * truth.time_ns) {
    const double wide = known ? HalfWidth(found.bytes_error, found.bytes) : 1;
    precision->bytes = std::max(precision->bytes, wide);
    const double ratio = found.bytes / found.launches * truth.launches / truth.bytes;
    if (known) precision->bytes_error = std::max(precision->bytes_error, std::abs(ratio - 1));
    times->bytes_ns += truth.time_ns;
    if (wide <= kGoodBytes) times->good_bytes_ns += truth.time_ns;
  }
  if (truth.tensor_cycles > kUsesTensorCores * most_cycles * truth.time_ns) {
    precision->tensor_flops =
        std::max(precision->tensor_flops, HalfWidth(found.flops_error, found.flops));
    const double wide = HalfWidth(found.measured_error, found.flops);
    precision->measured_flops = std::max(precision->measured_flops, wide);
    times->flops_ns += truth.time_ns;
    if (wide <= kGoodFlops) times->good_flops_ns += truth.time_ns;
  }
}

// A line for a person who asks why a report is not good yet.
void List(const Key& key, const Truth& truth, const Found& found, double share, double most_bytes) {
  const std::string unknown = found.bytes_known ? "" : ", not shown: " + found.withheld;
  std::fprintf(stderr,
               "%.3f %9.0f ns, bytes %.2f of the peak ± %.3f%s, %.2f times the truth, "
               "FLOPs ± %.3f (%.3f) %s, %d kinds\n",
               share, truth.time_ns / truth.launches, truth.bytes / truth.time_ns / most_bytes,
               HalfWidth(found.bytes_error, found.bytes), unknown.c_str(),
               found.bytes / found.launches * truth.launches / truth.bytes,
               HalfWidth(found.flops_error, found.flops),
               HalfWidth(found.measured_error, found.flops), key.first.substr(0, 60).c_str(),
               found.kinds);
}

ReportPrecision PrecisionOf(const Summary& summary, const StartUpLoad& load) {
  const std::map<Key, Truth> truth = TruthOf(load);
  const std::map<Key, Found> found = FoundIn(summary);
  double step_ns = 0;
  for (const auto& [key, one] : truth) step_ns += one.time_ns;
  const bool lists = std::getenv("UTLZ_SIMULATION_KERNELS") != nullptr;
  ReportPrecision precision;
  Times times;
  for (const auto& [key, one] : truth) {
    const auto place = found.find(key);
    Found none;
    none.bytes_known = false;
    const Found& known = place == found.end() ? none : place->second;
    if (known.bytes_known) precision.known_share += one.time_ns / step_ns;
    if (one.time_ns < kMattersShare * step_ns) continue;
    Judge(one, known, load.most_bytes_per_ns(), load.most_cycles_per_ns(), &precision, &times);
    if (lists) List(key, one, known, one.time_ns / step_ns, load.most_bytes_per_ns());
  }
  if (times.bytes_ns > 0) precision.bytes_share = times.good_bytes_ns / times.bytes_ns;
  if (times.flops_ns > 0) precision.flops_share = times.good_flops_ns / times.flops_ns;
  return precision;
}

}  // namespace

bool IsGood(const ReportPrecision& precision) {
  return precision.bytes <= kGoodBytes && precision.measured_flops <= kGoodFlops;
}

bool IsBetter(const ReportPrecision& precision) {
  return precision.bytes <= 0.05 && precision.measured_flops <= 0.04;
}

std::optional<ReportPrecision> PrecisionIfItEndedNow(RunIntake* intake, const StartUpLoad& load) {
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    intake->EndOfInput();
    const ReportPrecision precision = PrecisionOf(Summarize(intake->Advance()), load);
    const bool written = write(ends[1], &precision, sizeof precision) == sizeof precision;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  ReportPrecision precision;
  const bool whole = child > 0 && read(ends[0], &precision, sizeof precision) == sizeof precision;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return whole ? std::optional(precision) : std::nullopt;
}

}  // namespace utlz
